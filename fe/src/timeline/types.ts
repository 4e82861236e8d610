/**
 * The words of the timeline. It knows times, rows and typed arrays, and nothing of PyTorch or of the server.
 *
 * Times are ns on the axis that all sources share (`clock.ts`), plain numbers: exact up to 104 days.
 */

import type { Placed } from "./clock";

/** A stretch of time; `t1 > t0`. While zooming, both may have fractions. */
export interface TimeRange {
  t0: number;
  t1: number;
}

export type Context = CanvasRenderingContext2D;

/** Lanes by the index of their source. */
export type LanesBySource = ReadonlyMap<number, readonly number[]>;

/** Tiles that are wanted: lanes of one level. Tile `k` of level L covers `k · 2^(L+9)` to `(k+1) · 2^(L+9)` ns of the source's own time. */
export interface TileQuery {
  level: number;
  ks: readonly number[];
  lanes: readonly number[];
}

export interface Source extends Placed {
  span: number;
  /** The coarsest level that has tiles. */
  levelMax: number;
  /** How many lanes, numbered from 0. Where given, the coarsest level of all of them is fetched first, so that no row is ever blank. */
  lanes?: number;
  /** The binary reply of `/trace/tiles`. */
  load: (query: TileQuery, signal: AbortSignal) => Promise<ArrayBuffer>;
  /** A name by its number; `undefined` while it is on its way (the timeline is told to draw again when it came). */
  name: (number: number) => string | undefined;
}

/** One decoded tile: columns over slices; slices of `lanes[i]` are `ptr[i]` to `ptr[i + 1]`, in order of time, disjoint. */
export interface Tile {
  level: number;
  k: number;
  t0: number;
  /** `start` and `dur` are to be multiplied by 2^shift. */
  shift: number;
  lanes: Uint32Array;
  ptr: Uint32Array;
  /** After `t0`; 0 for a slice that began before the tile (flag 1). */
  start: Uint32Array;
  /** From `start` to the real end; 2^32 − 1 when longer. */
  dur: Uint32Array;
  name: Uint32Array;
  event: Uint32Array;
  count: Uint32Array;
  /** Busy share of the slice, 0 to 255. */
  fill: Uint8Array;
  look: Uint8Array;
  /** Bit 0: began before the tile. */
  flags: Uint8Array;
  /** Name number of the module + 1; 0 none. `null` where no module was recorded. */
  module: Uint32Array | null;
}

/** A slice as it is pointed at: an event, or a summary of several. Times on the common clock. */
export interface Slice {
  source: number;
  lane: number;
  event: number;
  start: number;
  end: number;
  name: number;
  count: number;
  busy: number;
  look: number;
}

export type RowKind = "source" | "process" | "group" | "lane" | "counter" | "path";

/** A row on the canvas. A header row (source, process, group) that is folded draws the lane that stands for it. */
export interface Row {
  key: string;
  kind: RowKind;
  source: number;
  label: string;
  note: string;
  indent: number;
  y: number;
  height: number;
  lane: number;
  counter: number;
  /** `null`: has nothing below it. */
  open: boolean | null;
  pinned: boolean;
  overlap: boolean;
  /** Lanes that are folded into the row: what stays bright of them is drawn here. Of a path's row: all. */
  below: readonly number[] | "all";
}

/** Points of a counter curve in equal buckets of `range`. NaN: unknown. */
export interface Curve {
  range: TimeRange;
  lowest: Float64Array;
  highest: Float64Array;
  /** `null`: draw the highest. */
  mean: Float64Array | null;
  from: number;
  to: number;
  format: (value: number) => string;
}

/** A curve over a stretch of time; the mean is weighted by time, `null` where none is known. */
export interface CurveValue {
  lowest: number;
  highest: number;
  mean: number | null;
}

/** An arrow between two slices; rows by source and lane, times on the common clock. */
export interface Arrow {
  source: { source: number; lane: number; time: number };
  target: { source: number; lane: number; time: number };
  strong: boolean;
  /** Drawn without a bow: one of many that lead from each to the next. */
  straight?: boolean;
}

/** What stays bright. Times are the source's own. */
export interface Highlight {
  /** By lane: begin, end, begin, end … of stretches in order of time. */
  lanes: ReadonlyMap<number, Float64Array>;
  /** By lane: the colour of each stretch, an index into the palette's `groups`. */
  groups: ReadonlyMap<number, Uint8Array>;
  events: ReadonlySet<number>;
}

export interface Boundary {
  name: string;
  /** Whose time it is; behind the name where there is room. */
  of: string;
  /** Sentences at the pointer. */
  about: readonly string[];
  start: number;
  end: number;
}

/** A mark that a person set, or a stretch that a defect touches. */
export interface Mark {
  key: string;
  label: string;
  start: number;
  end: number;
  kind: "person" | "defect";
  /** What a person wrote there. */
  note?: string;
}

export type ColourBy = "name" | "category" | "module";

/** Colours of the theme, as CSS texts; `looks[look]` of a category, `hues` for names and modules. */
export interface Palette {
  ground: string;
  band: string;
  grid: string;
  text: string;
  muted: string;
  accent: string;
  warn: string;
  looks: readonly string[];
  hues: readonly string[];
  /** Of groups of time, for what stays bright on a row that stands for several. */
  groups: readonly string[];
  /** Of counter curves, whatever they count. */
  curve: string;
  /** Of the minimap: what was busy. */
  device: string;
  host: string;
  onSlice: string;
  /** Of gaps, ground and strokes. */
  gained: readonly [string, string];
  lost: readonly [string, string];
}

/** Where a source waits for another one on the axis; `lost`: what makes it wait takes longer than before. */
export interface Gap {
  source: number;
  start: number;
  end: number;
  lost: boolean;
  /** What the other spends it on. */
  group: string;
  /** Sentences at the pointer, the first of which is its size. */
  about: readonly [string, ...string[]];
}

/** An area chosen on the canvas. `lanes` by source. */
export interface Area {
  t0: number;
  t1: number;
  lanes: LanesBySource;
}

/** Everything that one drawing needs. `rows` are those in sight; pinned ones come first and do not scroll. */
export interface Frame {
  width: number;
  height: number;
  ratio: number;
  view: TimeRange;
  /** Css px from the top of the content to the top of the canvas. */
  scroll: number;
  rows: readonly Row[];
  /** Css px at the top that pinned rows take; their `y` counts from the canvas' top. */
  pinnedHeight: number;
  sources: readonly Source[];
  palette: Palette;
  colourBy: ColourBy;
  boundaries: readonly Boundary[];
  marks: readonly Mark[];
  arrows: readonly Arrow[];
  selected: { source: number; event: number; lane: number; start: number; end: number } | null;
  hovered: Slice | null;
  area: TimeRange | null;
  /** Names whose slices are search hits stay bright, others are dimmed; `null`: no search. By source. */
  hits: readonly (ReadonlySet<number> | null)[];
  curves: ReadonlyMap<string, Curve>;
  /** Of the area, by the key of the counter's row. */
  figures: ReadonlyMap<string, CurveValue>;
  /** Css px from the canvas' begin; above it for a pointer on the ruler. `null`: elsewhere. */
  pointer: { x: number; y: number } | null;
  /** What stays bright, everything else of the source is dimmed; `null`: nothing is. By source. */
  highlight: readonly (Highlight | null)[];
  /** In order of time. */
  gaps: readonly Gap[];
  /** The group whose gaps stay bright; `null`: all do. */
  litGroup: string | null;
}
