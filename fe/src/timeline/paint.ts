/** Slices of one row as pixels: wide ones as runs, narrow ones by how much of each px they fill. */

import { colourColumn, DIMMED, SHADES, SUMMARY, type Colours, type ColourTable } from "./colours";
import type { Columns } from "./clock";
import type { LaneHighlight } from "./highlight";
import { BEGAN_BEFORE } from "./tiles";
import type { ColourBy, Tile } from "./types";

export interface LabelSpot {
  row: number;
  x0: number;
  x1: number;
  name: number;
  event: number;
  count: number;
  colour: number;
}

export interface RowLook {
  row: number;
  /** Own time at the left edge. */
  t0: number;
  /** Strip px per ns. */
  scale: number;
  /** Where the source's times stand, instead of `t0` and `scale`, when it has a line. */
  columns: Columns | null;
  by: ColourBy;
  table: ColourTable;
  /** By name number: 1 where it stays bright; `null`: no search. */
  hits: Uint8Array | null;
  /** What stays bright of the lane; `null`: everything. */
  highlight: LaneHighlight | null;
}

/** From this width on, px, two slices that touch are drawn apart. */
const APART = 4;
const SHORT = 24;
const UNSET = 0xff;
/** How much of a px a narrow slice counts at least. */
const LEAST = 1e-3;
/** What has no length is never busy, but is to be found. (Where times are shortened, short and without length look alike.) */
const INSTANT = 0.6;

export class RowPainter {
  slices = 0;
  readonly labels: LabelSpot[] = [];
  #pixels = new Uint32Array(0);
  #width = 0;
  readonly #colours: Colours;
  readonly #labelWidth: number;
  #look: RowLook | null = null;
  #offset = 0;
  /** Per px of the row: how much is busy, the largest part of it, and whose colour that is. */
  #busy = new Float32Array(0);
  #largest = new Float32Array(0);
  #tint = new Uint16Array(0);
  #touchedFrom = 0;
  #touchedTo = 0;
  /** Of the last run: where it ended, its width and its event. */
  #lastEnd = -1;
  #lastWidth = 0;
  #lastEvent = -1;

  /** `labelWidth`: strip px from which on a run is told in `labels`. */
  constructor(colours: Colours, labelWidth: number) {
    this.#colours = colours;
    this.#labelWidth = labelWidth;
  }

  begin(pixels: Uint32Array<ArrayBuffer> | Uint32Array, width: number): void {
    this.#pixels = pixels as Uint32Array<ArrayBuffer>;
    this.slices = 0;
    this.labels.length = 0;
    if (width === this.#width) return;
    this.#width = width;
    this.#busy = new Float32Array(width);
    this.#largest = new Float32Array(width);
    this.#tint = new Uint16Array(width);
  }

  row(look: RowLook): void {
    this.#look = look;
    this.#offset = look.row * this.#width;
    this.#touchedFrom = this.#width;
    this.#touchedTo = 0;
    this.#lastEnd = -1;
    this.#lastWidth = 0;
    this.#lastEvent = -1;
  }

  /** Slices `from` to `to` of a tile, as far as they lie in `t0` to `t1` of own time: a visitor of the store. */
  readonly slicesOf = (tile: Tile, from: number, to: number, t0: number, t1: number): void => {
    const look = this.#look;
    if (!look) return;
    this.slices += to - from;
    const { scale } = look;
    const unit = 2 ** tile.shift;
    const step = unit * scale;
    const base = (tile.t0 - look.t0) * scale;
    const { columns } = look;
    const left = Math.max(0, columns ? columns.begin(t0) : (t0 - look.t0) * scale);
    const right = Math.min(this.#width, columns ? columns.end(t1) : (t1 - look.t0) * scale);
    const { start, dur, fill, count, name, event } = tile;
    const { hits, highlight, table } = look;
    const { neutral, count: colours } = this.#colours;
    const column = colourColumn(tile, look.by);
    for (let i = from; i < to; i++) {
      let begin = base + (start[i] ?? 0) * step;
      let end = begin + (dur[i] ?? 0) * step;
      if (columns) {
        const own = tile.t0 + (start[i] ?? 0) * unit;
        begin = columns.begin(own);
        end = Math.max(begin, columns.end(own + (dur[i] ?? 0) * unit));
      }
      const x0 = begin < left ? left : begin;
      const x1 = end > right ? right : end;
      const single = count[i] === 1;
      let tint = neutral;
      if (column) {
        const value = column[i] ?? 0;
        // The table may have grown since the slice before.
        tint = table.values[value] ?? UNSET;
        if (tint === UNSET) tint = table.find(value, neutral);
      }
      // Variant and colour in one number, as `Colours.packed` counts them.
      const begun = tile.t0 + (start[i] ?? 0) * unit;
      if (
        (hits !== null && hits[name[i] ?? 0] !== 1) ||
        (highlight !== null &&
          !highlight.has(single ? (event[i] ?? -1) : -1, begun, begun + (dur[i] ?? 0) * unit))
      )
        tint += DIMMED * colours;
      else if (!single) tint += SUMMARY * colours;
      const share = single ? 1 : (fill[i] ?? 255) / 255;
      if (x1 - x0 >= 1) this.#run(tile, i, x0, x1, tint, share);
      else if (x1 > x0) this.#part(x0, x1, tint, share);
      else if (x1 === x0 && x0 < this.#width)
        this.#add(Math.floor(x0), dur[i] === 0 && tile.shift === 0 ? INSTANT : LEAST, tint);
    }
  };

  /** Writes what the narrow slices of the row came to. */
  endRow(): void {
    const busy = this.#busy;
    const offset = this.#offset;
    const { packed } = this.#colours;
    for (let x = this.#touchedFrom; x < this.#touchedTo; x++) {
      const part = busy[x] ?? 0;
      if (part === 0) continue;
      // A run that begins or ends within the px hides it; it is wider.
      if (this.#pixels[offset + x] === 0)
        this.#pixels[offset + x] = packed[(this.#tint[x] ?? 0) * SHADES + shadeOf(part)] ?? 0;
      busy[x] = 0;
      this.#largest[x] = 0;
    }
    this.#touchedFrom = this.#width;
    this.#touchedTo = 0;
  }

  #run(tile: Tile, i: number, from: number, to: number, tint: number, share: number): void {
    const x0 = Math.round(from);
    const x1 = Math.round(to);
    const event = tile.event[i] ?? 0;
    const width = x1 - x0;
    const goesOn = event === this.#lastEvent && ((tile.flags[i] ?? 0) & BEGAN_BEFORE) !== 0;
    const gap =
      !goesOn && x0 === this.#lastEnd && width >= APART && this.#lastWidth >= APART ? 1 : 0;
    const pixel = this.#colours.packed[tint * SHADES + shadeOf(share)] ?? 0;
    const end = this.#offset + x1;
    // For a few px the loop is faster than the call.
    if (width > SHORT) this.#pixels.fill(pixel, this.#offset + x0 + gap, end);
    else for (let at = this.#offset + x0 + gap; at < end; at++) this.#pixels[at] = pixel;
    this.#lastWidth = goesOn ? this.#lastWidth + width : width;
    this.#lastEnd = x1;
    this.#lastEvent = event;
    if (width >= this.#labelWidth || goesOn) this.#spot(tile, i, x0, x1, tint, goesOn);
  }

  /** A slice that goes on from the tile before has one label over both. */
  #spot(tile: Tile, i: number, x0: number, x1: number, tint: number, goesOn: boolean): void {
    const row = this.#look?.row ?? 0;
    const event = tile.event[i] ?? 0;
    const last = this.labels[this.labels.length - 1];
    if (goesOn && last?.row === row && last.event === event) {
      last.x1 = x1;
      return;
    }
    const begin = x1 - this.#lastWidth;
    if (this.#lastWidth < this.#labelWidth || tint >= DIMMED * this.#colours.count) return;
    const colour = tint % this.#colours.count;
    this.labels.push({
      row,
      x0: goesOn ? begin : x0,
      x1,
      name: tile.name[i] ?? 0,
      event,
      count: tile.count[i] ?? 1,
      colour,
    });
  }

  /** A slice narrower than a px: it lies on one px or two. */
  #part(x0: number, x1: number, tint: number, share: number): void {
    const first = Math.min(Math.floor(x0), this.#width - 1);
    const border = first + 1;
    if (x1 <= border) this.#add(first, Math.max(LEAST, (x1 - x0) * share), tint);
    else {
      this.#add(first, (border - x0) * share, tint);
      if (border < this.#width) this.#add(border, (x1 - border) * share, tint);
    }
  }

  #add(x: number, part: number, tint: number): void {
    this.#busy[x] = (this.#busy[x] ?? 0) + part;
    if (part > (this.#largest[x] ?? 0)) {
      this.#largest[x] = part;
      this.#tint[x] = tint;
    }
    if (x < this.#touchedFrom) this.#touchedFrom = x;
    if (x >= this.#touchedTo) this.#touchedTo = x + 1;
  }
}

/** From a share of a px that is busy to a shade; only what is whole gets the last one. */
function shadeOf(share: number): number {
  return share >= 0.999 ? SHADES - 1 : Math.max(0, Math.floor(share * (SHADES - 1)));
}
