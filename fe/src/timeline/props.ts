/** What the timeline takes and tells: the contract of `<Timeline>` with the view that holds it. Times are ns on the clock of `types.ts`. */

import type {
  Area,
  Arrow,
  Boundary,
  ColourBy,
  Curve,
  CurveValue,
  Frame,
  Mark,
  Row,
  Slice,
  Source,
  TimeRange,
} from "./types";

export interface TrackLane {
  lane: number;
  depth: number;
  /** Holds what overlaps the lane before. */
  overlap: boolean;
}

/**
 * A node of the tree of tracks: source → process → group (a thread or stream) → group (one kind of its events), and counters. Children are shown
 * in their order, a node's own lanes before them.
 */
export interface TrackNode {
  /** Unique over all sources and stable over reloads. */
  key: string;
  kind: "source" | "process" | "group" | "counter" | "path";
  label: string;
  note: string;
  source: number;
  lanes: readonly TrackLane[];
  overlapping: number;
  /** What a counter's row draws, the index of the counter; −1 none. */
  counter: number;
  /** The lane that a folded node draws; −1: the first lane below it. */
  standingLane: number;
  foldedByDefault: boolean;
  /** Has no row of its own: its lanes stand under the parent's row. For the group that people come for, e.g. the calls of a thread. */
  bare: boolean;
  children: readonly TrackNode[];
  /** What it shows, in a sentence. */
  about?: string;
}

/** What a person did to the rows. Keys that no node has are kept and do nothing. */
export interface RowState {
  /** Opened although folded by default. */
  open: ReadonlySet<string>;
  /** Folded although open by default. */
  shut: ReadonlySet<string>;
  /** Shown first, in this order, and never scrolled away. */
  pinned: readonly string[];
  /** Siblings that were moved come in this order, those not named here after them. */
  order: readonly string[];
  /** A lane that is shown although what holds it is folded: alone, without those beside it. */
  peek: { source: number; lane: number } | null;
  /** Only rows whose own or whose ancestors' text has all its words. */
  filter: string;
}

export const NO_ROW_STATE: RowState = {
  open: new Set(),
  shut: new Set(),
  pinned: [],
  order: [],
  peek: null,
  filter: "",
};

/** What can be seen now: told so that curves, arrows and heat can be fetched for it. */
export interface VisibleRange {
  view: TimeRange;
  width: number;
  nsPerPx: number;
  /** Rows in sight, pinned ones first. */
  rows: readonly Row[];
  lanes: ReadonlyMap<number, readonly number[]>;
}

/** What a key asks of the view around the timeline. The four directions are asked only when something is selected. */
export type Command =
  | "next_hit"
  | "previous_hit"
  | "arrows"
  | "path"
  | "help"
  | "clear"
  | "previous"
  | "next"
  | "parent"
  | "child";

export interface TimelineHandle {
  /** Shows the range, with `margin` (share of its length, 0.1 when left out) on both sides. */
  zoomTo: (range: TimeRange, options?: { animate?: boolean; margin?: number }) => void;
  /** Brings the range into sight without changing the scale, where it fits. */
  panTo: (range: TimeRange, animate?: boolean) => void;
  /** Opens what hides the lane and scrolls to its row. */
  reveal: (source: number, lane: number) => void;
  view: () => TimeRange;
  redraw: () => void;
}

/** Busy share, 0 to 255, of equal parts of the whole span. */
export interface Activity {
  device: readonly number[] | null;
  host: readonly number[] | null;
}

export interface Heat {
  range: TimeRange;
  /** Hits that begin in each equal part of the range. */
  counts: readonly number[];
}

export type Selected = NonNullable<Frame["selected"]>;

/**
 * The timeline brings its own controls for what is on the canvas: filter of rows, zoom, whole span, area tool, fold and unfold, pin, move. The colour
 * of `look` n is the CSS variable `--look-n` (timeline.css), for legends.
 */
export interface TimelineProps {
  /** A new array only when the traces change: tiles are kept as long as it stays the same. */
  sources: readonly Source[];
  tree: readonly TrackNode[];
  /** All sources, their offsets included. The ruler counts from its begin. */
  span: TimeRange;
  /** Shown first; `null`: the whole span. Later values are ignored: use the handle. */
  initialView: TimeRange | null;
  boundaries: readonly Boundary[];
  marks: readonly Mark[];
  arrows: readonly Arrow[];
  /** By the key of the counter's row. */
  curves: ReadonlyMap<string, Curve>;
  /** Of the area, by the key of the counter's row; empty while they are on their way. */
  figures: ReadonlyMap<string, CurveValue>;
  activity: Activity;
  colourBy: ColourBy;
  selected: Selected | null;
  area: Area | null;
  /** By source: names whose slices are hits; `null`: no search. */
  hits: Frame["hits"];
  hitHeat: Heat | null;
  highlight: Frame["highlight"];
  gaps: Frame["gaps"];
  litGroup: Frame["litGroup"];
  rows: RowState;
  onRows: (rows: RowState) => void;
  /** A slice was chosen; a summary (`count` > 1) too. `null`: the ground was clicked. */
  onSelect: (slice: Slice | null) => void;
  onArea: (area: Area | null) => void;
  /** A mark is wanted here: the area's or the selection's stretch, otherwise the time under the pointer (then `t0` = `t1`). */
  onMark: (range: { t0: number; t1: number }) => void;
  onCommand: (command: Command) => void;
  /** Told at once at first, then when the view or the rows in sight have rested for a moment. */
  onVisible: (visible: VisibleRange) => void;
  /** The view rested for 250 ms: for the URL. */
  onViewSettled: (view: TimeRange) => void;
  /** More lines for the text at the pointer, e.g. the category. Name, time and duration stand there already. */
  describe?: (slice: Slice) => readonly string[];
  /** Given the handle when the timeline stands, `null` when it ends. */
  handle?: (handle: TimelineHandle | null) => void;
}
