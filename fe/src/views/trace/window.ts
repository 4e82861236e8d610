/** For which stretch curves and arrows are fetched: more than is seen, so that a small move needs no question. */

import { ownAt, type Placed } from "../../timeline/clock";
import { clamp } from "../../base/clamp";
import * as LIMITS from "../../base/limits.gen";
import type { VisibleRange } from "../../timeline/props";
import type { TimeRange } from "../../timeline/types";

export interface Window extends TimeRange {
  /** Equal parts of it, about one per css px. */
  parts: number;
}

const MOST_PARTS = Math.min(LIMITS.trace_counters.n, LIMITS.trace_search_heat.n);
/** Of the view's length, on both sides. */
const MARGIN = 0.5;

/** The window for what is seen: the one before as long as it covers the view finely enough and is not much finer than needed. */
export function windowFor(
  before: Window | null,
  { view, width }: Pick<VisibleRange, "view" | "width">,
): Window {
  const length = view.t1 - view.t0;
  if (before && before.t0 <= view.t0 && before.t1 >= view.t1) {
    const finer = length / Math.max(1, width) / ((before.t1 - before.t0) / before.parts);
    if (finer >= 0.7 && finer <= 4) return before;
  }
  const t0 = Math.floor(view.t0 - length * MARGIN);
  const t1 = Math.max(t0 + 1, Math.ceil(view.t1 + length * MARGIN));
  return { t0, t1, parts: clamp(Math.ceil(width * (1 + 2 * MARGIN)), 1, MOST_PARTS) };
}

/** The window in a recording's own time, cut to it; `null` where they do not touch. */
export function ownWindow({ t0, t1, parts }: Window, at: Placed, span: number): Window | null {
  const begin = Math.max(0, ownAt(at, t0));
  const end = Math.min(span, ownAt(at, t1));
  if (end <= begin) return null;
  return {
    t0: begin,
    t1: end,
    parts: Math.max(1, Math.round((parts * (end - begin)) / (t1 - t0))),
  };
}

/** As a route takes it: whole ns, and never nothing. */
export function timesOf({ t0, t1 }: TimeRange): { t0: string; t1: string } {
  const begin = Math.floor(t0);
  return { t0: `${begin}`, t1: `${Math.max(begin + 1, Math.ceil(t1))}` };
}
