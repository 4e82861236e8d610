/** What a ribbon computes: which stretch is where, and what keys make of a chosen part. */

import { clamp } from "../../base/clamp";
import { firstWhere } from "../../base/bisect";
import type { Window } from "./staircase";

export interface Stretch extends Window {
  /** Place of its series. */
  series: number;
  /** What stands on it, where that is not the name of its series. */
  label?: string;
}

/** Of the whole, per key. */
const STEP = 0.01;
const FAR = 0.1;

/** The stretch at a time; they follow each other without a hole. */
export function stretchAt(stretches: readonly Stretch[], time: number): number {
  const after = firstWhere(0, stretches.length, (i) => (stretches[i]?.t0 ?? 0) > time);
  return Math.max(0, after - 1);
}

const SHARES: Readonly<Record<string, number>> = {
  ArrowLeft: -STEP,
  ArrowRight: STEP,
  PageDown: FAR,
  PageUp: -FAR,
  Home: -1,
  End: 1,
};

/** A chosen part after a key: moved as it is, or with its end moved alone; `null`: the key does nothing. */
export function movedPart(
  { t0, t1 }: Window,
  key: string,
  endOnly: boolean,
  whole: Window,
): Window | null {
  const share = SHARES[key];
  if (share === undefined) return null;
  const by = Math.round(share * (whole.t1 - whole.t0));
  if (endOnly) {
    const least = t0 + Math.max(1, Math.round(STEP * (whole.t1 - whole.t0)));
    return { t0, t1: clamp(t1 + by, Math.min(least, whole.t1), whole.t1) };
  }
  const shift = clamp(by, whole.t0 - t0, whole.t1 - t1);
  return { t0: t0 + shift, t1: t1 + shift };
}
