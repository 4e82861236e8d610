/** What the API Calls page computes: names of buckets, and curves of several streams on one axis. */

import type { LaunchHistogram, QueueCurve } from "../../api/types.gen";
import { formatTime } from "../../base/units";

/** What may be called a short kernel, ns. */
export const LIMITS = [2_000, 5_000, 10_000, 20_000, 50_000, 100_000] as const;
export const LIMIT_NS = "10000";

interface Buckets {
  labels: string[];
  /** The buckets from the first to the last that hold anything; `last < first` where none does. */
  first: number;
  last: number;
}

/** Each bucket by where it begins. */
export function bucketLabels({ edges_ns, delays, durations }: LaunchHistogram): Buckets {
  const used = edges_ns.map((_, i) => (delays[i] ?? 0) + (durations[i] ?? 0) > 0);
  return {
    labels: edges_ns.map((edge) => (edge ? `≥ ${formatTime(edge)}` : "less")),
    first: Math.max(0, used.indexOf(true)),
    last: used.lastIndexOf(true),
  };
}

export interface CommonCurves {
  time: number[];
  /** Of each curve what holds at each time. */
  values: number[][];
  peak: { time: number; value: number };
}

/** Curves that change at different times, on the times at which any of them does. */
export function onOneAxis(curves: readonly QueueCurve[]): CommonCurves {
  const time = [...new Set(curves.flatMap((curve) => curve.time_ns))].sort((a, b) => a - b);
  const peak = { time: time[0] ?? 0, value: 0 };
  const values = curves.map((curve) => {
    let at = -1;
    return time.map((now) => {
      while ((curve.time_ns[at + 1] ?? Infinity) <= now) at++;
      const value = curve.length[at] ?? 0;
      if (value > peak.value) Object.assign(peak, { time: now, value });
      return value;
    });
  });
  return { time, values, peak };
}
