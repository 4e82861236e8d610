/** Colours of slices as packed numbers for the strip, and text colours that can be read on them. */

import type { Theme } from "../base/theme";
import type { ColourBy, Palette, Source, Tile } from "./types";

/** Red, green, blue, 0 to 255. */
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

/** By `look` (store/timeline_schema.py); hues of the step-time categories, light enough for dark text in both themes. */
const LOOKS: Readonly<Record<Theme, readonly string[]>> = {
  light: [
    "#a3aab5", "#7cc4ee", "#e3a3c8", "#4d9fdb", "#eda92a", "#f0d442", "#4fc3a1", "#8fd9c2", "#a9acdf", "#b7a58e", "#c3c8d0", "#c9b458", "#8f98a6", "#ee8140", "#b58ad6",
  ],
  dark: [
    "#7c8594", "#8fd0f7", "#dc94bd", "#3e9bdc", "#f0ae2b", "#f2e05e", "#27bd92", "#7ad4ba", "#9a9ee0", "#ab9a84", "#98a1af", "#c2ae54", "#7f8a9b", "#ee7a33", "#b48bdb",
  ],
};

/** For names and modules: Okabe and Ito's hues in two lightnesses, so that neighbours differ in more than hue. */
const HUES: Readonly<Record<Theme, readonly string[]>> = {
  light: [
    "#4d9fdb", "#eda92a", "#33b58e", "#dd8fbb", "#7cc4ee", "#ee8140", "#ecd24a", "#9094d8", "#a9cfee", "#f5cf8b", "#8fd9c2", "#efc4dc", "#f6b48d", "#c3c5ee", "#b9c26a", "#c7a58c",
  ],
  dark: [
    "#3e9bdc", "#f0ae2b", "#27bd92", "#dc94bd", "#8fd0f7", "#ee7a33", "#f2e05e", "#9195d6", "#6fb4e6", "#d9a457", "#7ad4ba", "#eab7d4", "#f0a476", "#b9bcf0", "#a9b455", "#b9937a",
  ],
};

const REST: Readonly<Record<Theme, Omit<Palette, "looks" | "hues">>> = {
  light: {
    ground: "#ffffff", band: "#f5f6f8", grid: "#e1e5ea", text: "#1b2130", muted: "#586172", accent: "#0b5cad", warn: "#7d4a00", onSlice: "#10151f",
  },
  dark: {
    ground: "#1b1f27", band: "#20252e", grid: "#2d343f", text: "#e4e8ef", muted: "#9ba5b5", accent: "#77b6f5", warn: "#f0b95a", onSlice: "#0b0f16",
  },
};

const TOKENS: readonly (readonly ["ground" | "grid" | "text" | "muted" | "accent" | "warn", string])[] = [
  ["ground", "--surface"], ["grid", "--border"], ["text", "--text"], ["muted", "--muted"], ["accent", "--accent"], ["warn", "--warn"],
];

/** The palette of a theme; `token` reads a CSS variable of the page where it has one, otherwise "". */
export function paletteFor(theme: Theme, token: (name: string) => string = () => ""): Palette {
  const palette = { ...REST[theme], looks: LOOKS[theme], hues: HUES[theme] };
  for (const [key, name] of TOKENS) palette[key] = token(name).trim() || palette[key];
  return { ...palette, looks: palette.looks.map((colour, look) => token(`--look-${look}`).trim() || colour) };
}

/** Grey for what has no module. */
const NEUTRAL: Rgb = [150, 157, 168];

/** `#abc`, `#aabbcc`, `rgb(1 2 3)` and `rgb(1, 2, 3)`; anything else is grey. */
export function parseColour(text: string): Rgb {
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(text.trim());
  if (short) return [short[1], short[2], short[3]].map((digit = "") => parseInt(digit + digit, 16)) as unknown as Rgb;
  const long = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})/i.exec(text.trim());
  if (long) return [long[1], long[2], long[3]].map((pair = "") => parseInt(pair, 16)) as unknown as Rgb;
  const parts = /^rgba?\(\s*([\d.]+)[\s,]+([\d.]+)[\s,]+([\d.]+)/i.exec(text.trim());
  return parts ? ([parts[1], parts[2], parts[3]].map((part) => Math.round(Number(part))) as unknown as Rgb) : NEUTRAL;
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
  private readonly resolve: (value: number) => number;

  /** `resolve` answers `UNSET` (255) while it does not know. */
  constructor(resolve: (value: number) => number, size = 1024) {
    this.resolve = resolve;
    this.values = new Uint8Array(size).fill(UNSET);
  }

  /** For values that the table does not have; −1 never comes out: `fallback` stands in until it is known. */
  find(value: number, fallback: number): number {
    if (value >= this.values.length) this.grow(value);
    const known = this.values[value] ?? UNSET;
    if (known !== UNSET) return known;
    const found = this.resolve(value);
    if (found !== UNSET) this.values[value] = found;
    return found === UNSET ? fallback : found;
  }

  private grow(value: number): void {
    const larger = new Uint8Array(Math.max(this.values.length * 2, value + 1)).fill(UNSET);
    larger.set(this.values);
    this.values = larger;
  }
}

/** All colours of a palette, packed as they lie in an `ImageData` (R, G, B, A from the lowest byte). */
export class Colours {
  readonly palette: Palette;
  /** `(variant · colours + colour) · SHADES + shade`. */
  readonly packed: Uint32Array;
  readonly count: number;
  readonly neutral: number;
  private readonly rgb: readonly Rgb[];
  private readonly texts: readonly string[];
  private readonly tables = new WeakMap<Source, Map<ColourBy, ColourTable>>();

  constructor(palette: Palette) {
    this.palette = palette;
    const ground = parseColour(palette.ground);
    this.rgb = [...palette.looks, ...palette.hues].map(parseColour).concat([NEUTRAL]);
    this.count = this.rgb.length;
    this.neutral = this.count - 1;
    this.texts = this.rgb.map((rgb) => textOn(rgb, palette.onSlice));
    this.packed = new Uint32Array(VARIANTS * this.count * SHADES);
    [0, SOFT, DIM].forEach((share, variant) => this.rgb.forEach((rgb, colour) => this.fill(variant, colour, mixed(rgb, ground, share))));
  }

  private fill(variant: number, colour: number, [r, g, b]: Rgb): void {
    const rgb = ((Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r)) >>> 0;
    for (let shade = 0; shade < SHADES; shade++) {
      const alpha = Math.round(255 * (FAINTEST + ((1 - FAINTEST) * shade) / (SHADES - 1)));
      this.packed[(variant * this.count + colour) * SHADES + shade] = ((alpha << 24) | rgb) >>> 0;
    }
  }

  /** CSS text of the label on a colour. */
  text(colour: number): string {
    return this.texts[colour] ?? this.palette.onSlice;
  }

  css(colour: number): string {
    const [r, g, b] = this.rgb[colour] ?? NEUTRAL;
    return `rgb(${r} ${g} ${b})`;
  }

  /** Where the colours of a source's slices are found, by the column that decides. */
  table(source: Source, by: ColourBy): ColourTable {
    const tables = this.tables.get(source) ?? new Map<ColourBy, ColourTable>();
    this.tables.set(source, tables);
    const found = tables.get(by) ?? new ColourTable(this.resolver(source, by));
    tables.set(by, found);
    return found;
  }

  private resolver(source: Source, by: ColourBy): (value: number) => number {
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
