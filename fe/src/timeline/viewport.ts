/** The visible stretch of time and its moves. Pure: every function takes a view and gives a new one inside the bounds. */

import { clamp } from "../base/clamp";
import type { Frame, Row, TimeRange } from "./types";

/** The narrowest view, ns: wide enough that 1 ns is some 100 px and narrow enough that two events 1 ns apart stand apart. */
export const NARROWEST = 10;
/** Share of the view's length that may lie outside the span, so that its ends can be seen as ends. */
const PAD = 0.01;

export function lengthOf(view: TimeRange): number {
  return view.t1 - view.t0;
}

/** From the begin of a slice, step or mark to its end. */
export const rangeOf = ({ start, end }: { start: number; end: number }): TimeRange => ({
  t0: start,
  t1: end,
});

export const middleOf = ({ start, end }: { start: number; end: number }): number =>
  (start + end) / 2;

/** A stretch of time over the columns of a canvas. */
export interface Scale {
  view: TimeRange;
  width: number;
}

export function timeAt({ view, width }: Scale, x: number): number {
  return view.t0 + (x / width) * (view.t1 - view.t0);
}

/** The column of a time; outside the canvas for times outside the view. */
export function xAt({ view, width }: Scale, time: number): number {
  return ((time - view.t0) / (view.t1 - view.t0)) * width;
}

/** The columns of a stretch, cut `beyond` px outside the canvas; `null`: nothing of it is in sight. */
export function columnsOf(
  scale: Scale,
  t0: number,
  t1: number,
  beyond = 0,
): readonly [number, number] | null {
  const x0 = xAt(scale, t0);
  const x1 = xAt(scale, t1);
  if (x1 < 0 || x0 > scale.width) return null;
  return [Math.max(-beyond, x0), Math.min(scale.width + beyond, x1)];
}

/** The top of a row; pinned rows do not scroll. */
export const topOf = ({ scroll }: Pick<Frame, "scroll">, row: Row): number =>
  row.pinned ? row.y : row.y - scroll;

export function nsPerPx({ view, width }: Scale): number {
  return (view.t1 - view.t0) / Math.max(1, width);
}

/** The widest view: the whole span with the pad on both sides. */
export function whole(span: TimeRange): TimeRange {
  const length = Math.max(NARROWEST, lengthOf(span));
  const pad = (length * PAD) / (1 - 2 * PAD);
  return { t0: span.t0 - pad, t1: span.t0 + length + pad };
}

/** A range with the pad on both sides, as far as the whole goes. */
export const around = (range: TimeRange, span: TimeRange): TimeRange => confine(whole(range), span);

/** The nearest view that is inside the bounds: not longer than the whole, not shorter than `NARROWEST`, and over the span. */
export function confine(view: TimeRange, span: TimeRange): TimeRange {
  const widest = whole(span);
  const { t0, t1 } = view;
  if (!Number.isFinite(t0) || !Number.isFinite(t1) || t1 - t0 >= lengthOf(widest)) return widest;
  const length = Math.max(NARROWEST, t1 - t0);
  const start = t1 - t0 < NARROWEST ? (t0 + t1 - length) / 2 : t0;
  const pad = length * PAD;
  const first = Math.max(widest.t0, span.t0 - pad);
  const last = Math.min(widest.t1, Math.max(span.t1, span.t0 + NARROWEST) + pad) - length;
  const from = clamp(start, first, last);
  return { t0: from, t1: from + length };
}

/** Longer by `factor` (below 1: closer), with the time at share `at` of the width staying where it is. */
export function zoomAt(view: TimeRange, at: number, factor: number, span: TimeRange): TimeRange {
  const limit = lengthOf(whole(span));
  const length = Math.min(limit, Math.max(NARROWEST, lengthOf(view) * factor));
  const time = view.t0 + at * lengthOf(view);
  const t0 = time - at * length;
  return confine({ t0, t1: t0 + length }, span);
}

export function panBy(view: TimeRange, share: number, span: TimeRange): TimeRange {
  const by = share * lengthOf(view);
  return confine({ t0: view.t0 + by, t1: view.t1 + by }, span);
}

/** The range with `margin` (share of its length) on both sides. */
export function fit(range: TimeRange, margin: number, span: TimeRange): TimeRange {
  const pad = Math.max(0, lengthOf(range)) * margin;
  return confine({ t0: range.t0 - pad, t1: range.t1 + pad }, span);
}

/** The view of the same length that shows the range: unchanged when it does already, centred otherwise; a longer range is shown from its begin. */
export function bring(view: TimeRange, range: TimeRange, span: TimeRange): TimeRange {
  const length = lengthOf(view);
  const inside = range.t0 >= view.t0 && range.t1 <= view.t1;
  const covered = lengthOf(range) >= length && range.t0 < view.t1 && range.t1 > view.t0;
  if (inside || covered) return view;
  const t0 =
    lengthOf(range) >= length ? range.t0 - length * PAD : (range.t0 + range.t1 - length) / 2;
  return confine({ t0, t1: t0 + length }, span);
}

export function ease(p: number): number {
  return p <= 0 ? 0 : p >= 1 ? 1 : p < 0.5 ? 4 * p ** 3 : 1 - (2 - 2 * p) ** 3 / 2;
}

/**
 * The view on the way from one to another. The length changes by equal factors; the centre moves so that the one time that is at the same place in both
 * stays there, as it does under a wheel.
 */
export function between(from: TimeRange, to: TimeRange, p: number): TimeRange {
  if (p <= 0) return from;
  if (p >= 1) return to;
  const a = lengthOf(from);
  const b = lengthOf(to);
  const length = a * (b / a) ** p;
  const share = Math.abs(a - b) < 1e-6 * a ? p : (a - length) / (a - b);
  const centre = (from.t0 + from.t1) / 2 + share * ((to.t0 + to.t1) / 2 - (from.t0 + from.t1) / 2);
  return { t0: centre - length / 2, t1: centre + length / 2 };
}
