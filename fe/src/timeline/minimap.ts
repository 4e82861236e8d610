/** The geometry of the minimap: the window in view, what a pointer takes hold of, and what a drag makes of it. Pure. */

import type { TimeRange } from "./types";
import { lengthOf, timeAt, whole, xAt } from "./viewport";

export const MINIMAP_HEIGHT = 40;
/** The window is at least this wide to the hand, px. */
export const LEAST_GRIP = 14;
const EDGE = 5;

export type Grip = "left" | "right" | "inside" | "outside";

/** The window as px. */
export function windowOf(view: TimeRange, span: TimeRange, width: number) {
  const scale = { view: whole(span), width };
  return { x0: xAt(scale, view.t0), x1: xAt(scale, view.t1) };
}

/** What a pointer takes hold of. A narrow window can only be moved: its edges would be hit by chance. */
export function gripAt(x: number, view: TimeRange, span: TimeRange, width: number): Grip {
  const { x0, x1 } = windowOf(view, span, width);
  if (x1 - x0 < LEAST_GRIP)
    return Math.abs(x - (x0 + x1) / 2) <= LEAST_GRIP / 2 ? "inside" : "outside";
  if (Math.abs(x - x0) <= EDGE) return "left";
  if (Math.abs(x - x1) <= EDGE) return "right";
  return x > x0 && x < x1 ? "inside" : "outside";
}

/** The view after a drag from one column to another. Outside the window a drag draws a new one; the whole span has nothing to move, so it draws too. */
export function draggedTo(
  grip: Grip,
  view: TimeRange,
  span: TimeRange,
  width: number,
  from: number,
  to: number,
): TimeRange {
  const all = whole(span);
  const by = ((to - from) / width) * lengthOf(all);
  if (grip === "left") return ordered(view.t0 + by, view.t1);
  if (grip === "right") return ordered(view.t0, view.t1 + by);
  if (grip === "inside" && lengthOf(view) < lengthOf(all) * 0.999)
    return { t0: view.t0 + by, t1: view.t1 + by };
  const scale = { view: all, width };
  return ordered(timeAt(scale, from), timeAt(scale, to));
}

function ordered(a: number, b: number): TimeRange {
  return a <= b ? { t0: a, t1: b } : { t0: b, t1: a };
}

export function centredAt(x: number, view: TimeRange, span: TimeRange, width: number): TimeRange {
  const time = timeAt({ view: whole(span), width }, x);
  const half = lengthOf(view) / 2;
  return { t0: time - half, t1: time + half };
}

/** Highest value of each of `columns` equal columns; parts narrower than a column must not get lost. */
export function highest(values: readonly number[], columns: number): Float64Array {
  const peaks = new Float64Array(columns);
  for (let x = 0; x < columns; x++) {
    const from = Math.floor((x / columns) * values.length);
    const to = Math.max(from + 1, Math.ceil(((x + 1) / columns) * values.length));
    for (let i = from; i < to; i++) peaks[x] = Math.max(peaks[x] ?? 0, values[i] ?? 0);
  }
  return peaks;
}
