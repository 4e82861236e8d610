import type { ColourBy, Palette, Source, Tile } from "./types";

export type Rgb = readonly [number, number, number];

/** Shades from hardly anything to all of a colour. */
export const SHADES = 16;
/** How much of a colour is left where next to nothing of a px is busy: enough to be seen. */
const FAINTEST = 0.3;
/** How far summaries and dimmed slices move towards the ground. */
const SOFT = 0.26;
const DIM = 0.8;
export const SINGLE = 0;
export const SUMMARY = 1;
export const DIMMED = 2;
const VARIANTS = 3;

/** Grey for what has no module. */
const NEUTRAL: Rgb = [150, 157, 168];

/** `#abc` and `#aabbcc`, as the style sheets have them; anything else is grey. */
export function parseColour(text: string): Rgb {
  const long = text.trim().replace(/^#([0-9a-f])([0-9a-f])([0-9a-f])$/i, "#$1$1$2$2$3$3");
  const pairs = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})/i.exec(long);
  if (!pairs) return NEUTRAL;
  const [r = 0, g = 0, b = 0] = pairs.slice(1).map((pair) => parseInt(pair, 16));
  return [r, g, b];
}

export function mixed(a: Rgb, b: Rgb, share: number): Rgb {
  return [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share, a[2] + (b[2] - a[2]) * share];
}

function luminance(rgb: Rgb): number {
  const [r = 0, g = 0, b = 0] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Contrast of two colours by WCAG: 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [la, lb] = [luminance(a), luminance(b)];
  return (Math.max(la, lb) + 0.05) / (Math.min(la, lb) + 0.05);
}

/** The palette's text colour where it can be read (4.5:1), otherwise the better one of black and white. */
export function textOn(ground: Rgb, onSlice: string): string {
  if (contrast(ground, parseColour(onSlice)) >= 4.5) return onSlice;
  return contrast(ground, [0, 0, 0]) >= contrast(ground, [255, 255, 255]) ? "#000000" : "#ffffff";
}

/** A number from a text that is the same on every machine, so that a name has one colour over all workers. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  // Similar names differ in their last letters only; without this, their low bits would hardly differ.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Which of the palette's hues a name has. */
export const hueOf = (name: string, hues: number): number => (hues > 0 ? hashOf(name) % hues : 0);

const UNSET = 0xff;

/** From a value of a tile's column to the number of a colour; filled as values come. */
export class ColourTable {
  values: Uint8Array<ArrayBuffer>;
  readonly #resolve: (value: number) => number;

  /** `resolve` answers `UNSET` (255) while it does not know. */
  constructor(resolve: (value: number) => number, size = 1024) {
    this.#resolve = resolve;
    this.values = new Uint8Array(size).fill(UNSET);
  }

  /** For values that the table does not have: `fallback` stands in until it is known. */
  find(value: number, fallback: number): number {
    if (value >= this.values.length) {
      const larger = new Uint8Array(Math.max(this.values.length * 2, value + 1)).fill(UNSET);
      larger.set(this.values);
      this.values = larger;
    }
    const colour = this.#resolve(value);
    this.values[value] = colour;
    return colour === UNSET ? fallback : colour;
  }
}

/** All colours of a palette, packed as they lie in an `ImageData` (R, G, B, A from the lowest byte). */
export class Colours {
  readonly palette: Palette;
  /** `(variant · colours + colour) · SHADES + shade`. */
  readonly packed: Uint32Array;
  readonly count: number;
  readonly neutral: number;
  readonly #texts: readonly string[];
  readonly #tables = new WeakMap<Source, Map<ColourBy, ColourTable>>();

  constructor(palette: Palette) {
    this.palette = palette;
    const ground = parseColour(palette.ground);
    const colours = [...palette.looks, ...palette.hues].map(parseColour).concat([NEUTRAL]);
    this.count = colours.length;
    this.neutral = this.count - 1;
    this.#texts = colours.map((rgb) => textOn(rgb, palette.onSlice));
    this.packed = new Uint32Array(VARIANTS * this.count * SHADES);
    [0, SOFT, DIM].forEach((share, variant) =>
      colours.forEach((rgb, colour) => this.#fill(variant, colour, mixed(rgb, ground, share))),
    );
  }

  #fill(variant: number, colour: number, [r, g, b]: Rgb): void {
    const rgb = ((Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r)) >>> 0;
    for (let shade = 0; shade < SHADES; shade++) {
      const alpha = Math.round(255 * (FAINTEST + ((1 - FAINTEST) * shade) / (SHADES - 1)));
      this.packed[(variant * this.count + colour) * SHADES + shade] = ((alpha << 24) | rgb) >>> 0;
    }
  }

  text(colour: number): string {
    return this.#texts[colour] ?? this.palette.onSlice;
  }

  /** Where the colours of a source's slices are found, by the column that decides. */
  table(source: Source, by: ColourBy): ColourTable {
    const tables = this.#tables.get(source) ?? new Map<ColourBy, ColourTable>();
    this.#tables.set(source, tables);
    const table = tables.get(by) ?? new ColourTable(this.#resolver(source, by));
    tables.set(by, table);
    return table;
  }

  #resolver(source: Source, by: ColourBy): (value: number) => number {
    const { looks, hues } = this.palette;
    const named = (number: number): number => {
      const name = source.name(number);
      return name === undefined ? UNSET : looks.length + hueOf(name, hues.length);
    };
    if (by === "category") return (look) => (look < looks.length ? look : 0);
    if (by === "name") return named;
    return (module) => (module === 0 ? this.neutral : named(module - 1));
  }
}

/** The column that decides the colour; `null`: all slices are neutral. */
export function colourColumn(tile: Tile, by: ColourBy): Uint32Array | Uint8Array | null {
  return by === "category" ? tile.look : by === "name" ? tile.name : tile.module;
}
