import { formatCount } from "../base/units";
import { LEAST_WIDTH, type Letters, lettersOf, MOST_LABELS, PADDING } from "../widgets/labels";
import { drawArrows } from "./arrows";
import { Columns } from "./clock";
import { Colours } from "./colours";
import { drawCrosshair, drawFigures } from "./crosshair";
import { drawCurve, drawCurveScales } from "./curves";
import { drawGaps } from "./gaps";
import { levelFor } from "./levels";
import { LaneHighlight, drawHighlight } from "./highlight";
import {
  drawArea,
  drawBands,
  drawBoundaries,
  drawMarks,
  drawOutlines,
  drawRowGrounds,
  drawRowLines,
} from "./overlays";
import { type LabelSpot, RowPainter } from "./paint";
import type { TileStore } from "./tile_store";
import type { Context, Frame, Row } from "./types";
import { columnsOf, nsPerPx, topOf } from "./viewport";

export interface DrawStats {
  /** Time on the main thread. */
  ms: number;
  rows: number;
  slices: number;
  labels: number;
  arrows: number;
  /** Rows in which another level stands in for a missing tile. */
  stoodIn: number;
  missing: number;
}

/** Rows lower than this have no room for a text. */
const LEAST_HEIGHT = 12;

export class Painter {
  readonly #canvas: HTMLCanvasElement;
  readonly #ctx: CanvasRenderingContext2D;
  readonly #strip: Strip;
  readonly #font: string;
  readonly #letters: Letters;
  readonly #hitTables = new WeakMap<ReadonlySet<number>, Uint8Array>();
  #colours: Colours | null = null;
  #painter: RowPainter | null = null;
  #labelPx = 0;

  constructor(canvas: HTMLCanvasElement, font: string, surface = canvasSurface) {
    const ctx = canvas.getContext("2d", { alpha: false });
    if (!ctx) throw new Error("This browser gives no 2D context for a canvas.");
    this.#canvas = canvas;
    this.#ctx = ctx;
    this.#strip = new Strip(surface);
    this.#font = font;
    this.#letters = lettersOf((text) => {
      ctx.font = this.#font;
      return ctx.measureText(text).width;
    });
  }

  draw(frame: Frame, store: TileStore): DrawStats {
    const begun = performance.now();
    const counts = { slices: 0, labels: 0, arrows: 0, stoodIn: 0, missing: 0 };
    const stats: DrawStats = { ms: 0, rows: frame.rows.length, ...counts };
    this.#fit(frame);
    const painted = frame.rows.filter((row) => row.lane >= 0);
    const painter = this.#painterFor(frame);
    this.#paint(frame, store, painted, painter, stats);
    const image = this.#strip.finish();
    this.#ctx.font = this.#font;
    this.#ctx.textBaseline = "middle";
    stats.labels += this.#section(frame, painted, painter.labels, image, false);
    if (frame.pinnedHeight > 0)
      stats.labels += this.#section(frame, painted, painter.labels, image, true);
    drawBoundaries(this.#ctx, frame);
    drawMarks(this.#ctx, frame);
    drawArea(this.#ctx, frame);
    stats.arrows = drawArrows(this.#ctx, frame);
    drawCurveScales(this.#ctx, frame);
    drawNotes(this.#ctx, frame);
    stats.ms = performance.now() - begun;
    return stats;
  }

  /** The canvas has as many px as the screen shows. Setting its size empties it, so only when it changed. */
  #fit(frame: Frame): void {
    const width = Math.max(1, Math.round(frame.width * frame.ratio));
    const height = Math.max(1, Math.round(frame.height * frame.ratio));
    if (this.#canvas.width !== width) this.#canvas.width = width;
    if (this.#canvas.height !== height) this.#canvas.height = height;
    this.#ctx.setTransform(frame.ratio, 0, 0, frame.ratio, 0, 0);
  }

  #painterFor(frame: Frame): RowPainter {
    const labelPx = Math.round(LEAST_WIDTH * frame.ratio);
    if (this.#colours?.palette === frame.palette && this.#painter && this.#labelPx === labelPx)
      return this.#painter;
    if (this.#colours?.palette !== frame.palette) this.#colours = new Colours(frame.palette);
    this.#labelPx = labelPx;
    this.#painter = new RowPainter(this.#colours, labelPx);
    return this.#painter;
  }

  #paint(
    frame: Frame,
    store: TileStore,
    rows: readonly Row[],
    painter: RowPainter,
    stats: DrawStats,
  ): void {
    const width = this.#canvas.width;
    const perPx = nsPerPx(frame);
    const scale = width / (frame.view.t1 - frame.view.t0);
    painter.begin(this.#strip.begin(width, rows.length), width);
    rows.forEach((row, index) => {
      const source = frame.sources[row.source];
      const table = source && this.#colours?.table(source, frame.colourBy);
      if (!table) return;
      const hits = frame.hits[row.source];
      const highlight = frame.highlight[row.source];
      painter.row({
        row: index,
        t0: frame.view.t0 - source.offset,
        scale,
        columns: source.line ? new Columns(source.line, frame.view.t0, scale) : null,
        by: frame.colourBy,
        table,
        hits: hits ? this.#hitTable(hits) : null,
        highlight: highlight ? new LaneHighlight(highlight, row.lane) : null,
      });
      const level = levelFor(perPx, source.levelMax);
      const coverage = store.visit(row.source, row.lane, level, frame.view, painter.slicesOf);
      painter.endRow();
      if (coverage === "coarser") stats.stoodIn++;
      if (coverage === "missing") stats.missing++;
    });
    stats.slices = painter.slices;
  }

  #hitTable(hits: ReadonlySet<number>): Uint8Array {
    const known = this.#hitTables.get(hits);
    if (known) return known;
    let largest = -1;
    for (const name of hits) largest = Math.max(largest, name);
    const table = new Uint8Array(largest + 1);
    for (const name of hits) table[name] = 1;
    this.#hitTables.set(hits, table);
    return table;
  }

  /** The rows that scroll, or the pinned ones over them; returns how many labels there are. */
  #section(
    frame: Frame,
    painted: readonly Row[],
    labels: readonly LabelSpot[],
    image: CanvasImageSource | null,
    pinned: boolean,
  ): number {
    const ctx = this.#ctx;
    const [top, bottom] = pinned ? [0, frame.pinnedHeight] : [frame.pinnedHeight, frame.height];
    const rows = frame.rows.filter((row) => row.pinned === pinned);
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, top, frame.width, bottom - top);
    ctx.clip();
    ctx.fillStyle = frame.palette.ground;
    ctx.fillRect(0, top, frame.width, bottom - top);
    drawBands(ctx, frame, top, bottom);
    drawRowGrounds(ctx, frame, rows);
    if (image) this.#stretch(frame, painted, image, pinned);
    drawRowLines(ctx, frame, rows);
    this.#curves(frame, rows);
    drawHighlight(ctx, frame, rows);
    const count = this.#texts(frame, painted, labels, pinned);
    // What goes on across a gap is parted by it.
    drawGaps(ctx, frame, rows, bottom);
    drawOutlines(ctx, frame);
    drawFigures(ctx, frame, rows);
    drawCrosshair(ctx, frame, rows);
    if (pinned) {
      ctx.fillStyle = frame.palette.muted;
      ctx.fillRect(0, bottom - 1, frame.width, 1);
    }
    ctx.restore();
    return count;
  }

  /** Stretches rows of the strip over the canvas, in px of the screen, so that no edge falls between two of them. */
  #stretch(frame: Frame, painted: readonly Row[], image: CanvasImageSource, pinned: boolean): void {
    const ctx = this.#ctx;
    const width = this.#canvas.width;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.imageSmoothingEnabled = false;
    painted.forEach((row, index) => {
      if (row.pinned !== pinned) return;
      const top = Math.round(topOf(frame, row) * frame.ratio);
      const bottom = Math.round((topOf(frame, row) + row.height) * frame.ratio);
      // What is left free at the bottom separates the rows.
      const height = bottom - Math.max(1, Math.round(frame.ratio)) - top;
      if (height > 0) ctx.drawImage(image, 0, index, width, 1, 0, top, width, height);
    });
    ctx.setTransform(frame.ratio, 0, 0, frame.ratio, 0, 0);
  }

  #curves(frame: Frame, rows: readonly Row[]): void {
    for (const row of rows) {
      const curve = row.counter >= 0 ? frame.curves.get(row.key) : undefined;
      if (curve) drawCurve(this.#ctx, frame, row, topOf(frame, row), curve);
    }
  }

  #texts(
    frame: Frame,
    painted: readonly Row[],
    labels: readonly LabelSpot[],
    pinned: boolean,
  ): number {
    let count = 0;
    let ink = "";
    for (const label of labels) {
      const row = painted[label.row];
      if (row?.pinned !== pinned || row.height < LEAST_HEIGHT) continue;
      if (count >= MOST_LABELS) break;
      const middle = topOf(frame, row) + (row.height - 1) / 2 + 0.5;
      const left = label.x0 / frame.ratio + PADDING;
      const room = label.x1 / frame.ratio - left - PADDING;
      const text = this.#letters.fit(textOf(frame, row, label), room);
      if (!text) continue;
      count++;
      const wanted =
        label.count > 1
          ? frame.palette.text
          : (this.#colours?.text(label.colour) ?? frame.palette.onSlice);
      if (label.count > 1) {
        this.#plate(frame, text, left, middle);
        ink = "";
      }
      if (wanted !== ink) this.#ctx.fillStyle = wanted;
      ink = wanted;
      this.#ctx.fillText(text, left, middle);
    }
    return count;
  }

  /** A summary's shade may be anything, so its text brings its ground along. */
  #plate(frame: Frame, text: string, left: number, middle: number): void {
    this.#ctx.globalAlpha = 0.85;
    this.#ctx.fillStyle = frame.palette.ground;
    this.#ctx.fillRect(left - 2, middle - 7, this.#letters.width(text) + 4, 14);
    this.#ctx.globalAlpha = 1;
  }
}

/** What a slice is called; nothing while its name is on its way. */
function textOf(frame: Frame, row: Row, label: LabelSpot): string {
  if (label.count > 1) return `${formatCount(label.count)} events`;
  return frame.sources[row.source]?.name(label.name) ?? "";
}

const WIDEST = 240;
const HEIGHT = 18;
const NOTE_PADDING = 5;
const GAP = 2;
/** More notes over each other would hide the rows. */
const MOST_LINES = 4;

/** Notes at the top of the canvas, beside their marks. Css px. */
function drawNotes(ctx: Context, frame: Frame): void {
  const ends: number[] = [];
  ctx.textBaseline = "middle";
  for (const { note, start, end } of frame.marks) {
    const columns = columnsOf(frame, start, end);
    if (!note || !columns) continue;
    const [left] = columns;
    const text = cut(ctx, note, WIDEST - 2 * NOTE_PADDING);
    const width = ctx.measureText(text).width + 2 * NOTE_PADDING;
    const free = ends.findIndex((right) => right < left);
    const line = free < 0 ? ends.length : free;
    if (line >= MOST_LINES) continue;
    ends[line] = left + width + GAP;
    const top = frame.pinnedHeight + GAP + line * (HEIGHT + GAP);
    ctx.fillStyle = frame.palette.accent;
    ctx.fillRect(left, top, width, HEIGHT);
    ctx.fillStyle = frame.palette.ground;
    ctx.fillText(text, left + NOTE_PADDING, top + HEIGHT / 2 + 0.5);
  }
}

/** The text, or its beginning with `…`. */
function cut(ctx: Context, text: string, room: number): string {
  if (ctx.measureText(text).width <= room) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (ctx.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}

/** Where the pixels go, so that tests can do without a canvas. */
export interface Surface {
  pixels: Uint32Array;
  /** Takes the first `rows` rows over into `image`. */
  put: (rows: number) => void;
  image: CanvasImageSource;
}

export type MakeSurface = (width: number, rows: number) => Surface;

/**
 * The picture of all lanes, one px high each, as wide as the canvas. Stretching it over the rows costs the same however many slices there are, which is
 * why it stands in for a rectangle per slice.
 */
function canvasSurface(width: number, rows: number): Surface {
  const canvas = new OffscreenCanvas(width, rows);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) throw new Error("This browser gives no 2D context for an OffscreenCanvas.");
  const data = new ImageData(width, rows);
  return {
    pixels: new Uint32Array(data.data.buffer),
    put: (used) => context.putImageData(data, 0, 0, 0, 0, width, used),
    image: canvas,
  };
}

const SPARE_ROWS = 16;

class Strip {
  #width = 0;
  #rows = 0;
  #made = 0;
  #surface: Surface | null = null;
  readonly #make: MakeSurface;

  constructor(make: MakeSurface) {
    this.#make = make;
  }

  begin(width: number, rows: number): Uint32Array {
    if (!this.#surface || width !== this.#width || rows > this.#made) {
      this.#made = Math.max(1, rows + SPARE_ROWS);
      this.#width = width;
      this.#surface = this.#make(width, this.#made);
    } else {
      // `put` takes over what was written last time otherwise.
      this.#surface.pixels.fill(0, 0, width * Math.max(rows, this.#rows));
    }
    this.#rows = rows;
    return this.#surface.pixels;
  }

  /** The picture, `width` px wide, row i at y = i. */
  finish(): CanvasImageSource | null {
    if (!this.#surface || this.#rows === 0) return null;
    this.#surface.put(this.#rows);
    return this.#surface.image;
  }
}
