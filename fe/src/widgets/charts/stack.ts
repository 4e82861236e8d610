import type { ComponentChildren } from "preact";

export interface Series {
  key: string;
  label: string;
  color: string;
  /** Lines on a tile of 8 × 8 px, as a path; empty: none. Where not given, the colour stands alone. */
  pattern?: string;
  term?: string;
}

export interface StackedBar {
  key: number;
  /** On the axis, e.g. the step's number. */
  label: string;
  /** In the hover box and for screen readers, e.g. "ProfilerStep#5". */
  title: string;
  values: readonly number[];
  /** Why the bar is marked, e.g. the odd step's reason; empty: not marked. */
  mark?: string;
  /** More lines in the hover box, e.g. "cold", "cut off by the end of the recording". */
  note?: ComponentChildren;
  /** Drawn paler: not part of the selection. */
  faded?: boolean;
  /** Drawn beside each other in place of `values`, where there is room: each on a ground as high as the bar. */
  lanes?: readonly (readonly LanePiece[])[];
}

/** A part of a lane: `look` is its place among the looks. */
export interface LanePiece {
  look: number;
  pale: boolean;
  value: number;
}

export interface Piece {
  series: number;
  /** From and to, in px from the top of the plot. */
  y: number;
  height: number;
}

/** The pieces of one bar, the first series at the bottom; pieces without height are left out. */
export function piecesOf(values: readonly number[], max: number, height: number): Piece[] {
  const pieces: Piece[] = [];
  let sum = 0;
  for (let series = 0; series < values.length; series++) {
    const value = values[series] ?? 0;
    if (!(value > 0)) continue;
    const bottom = height - (sum / max) * height;
    sum += value;
    const top = height - (sum / max) * height;
    pieces.push({ series, y: top, height: bottom - top });
  }
  return pieces;
}

export interface Slots {
  /** Width of a bar with its gap, and of the bar alone, px. */
  slot: number;
  bar: number;
  /** Width of the whole plot: more than the room when bars would get too thin, then it scrolls. */
  width: number;
  /** Every n-th bar has a label on the axis. */
  every: number;
}

const NARROWEST = 1.5;
/** Few bars share all the room, but none becomes a wall. */
const WIDEST = 120;
const LABEL_GAP = 10;

/** How `count` bars share `room` px, with labels of `labelWidth` px. */
export function slotsOf(count: number, room: number, labelWidth: number): Slots {
  const slot = Math.max(room / Math.max(1, count), NARROWEST);
  const bar = Math.min(WIDEST, Math.max(slot - 8, slot * 0.72));
  return {
    slot,
    bar,
    width: Math.max(room, slot * count),
    every: Math.max(1, Math.ceil((labelWidth + LABEL_GAP) / slot)),
  };
}
