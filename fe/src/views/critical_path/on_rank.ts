/** Which rank a part of a path is on. */

import type { PathStrip, RanksWorker } from "../../api/types.gen";
import type { Params } from "../../state/view";
import { type Range, rangeOf, timelineParams } from "./model";

export interface Paths {
  strips: readonly PathStrip[];
  /** Those that a path through all ranks leads through. */
  workers?: readonly RanksWorker[];
}

interface OnRank {
  /** None: the chosen one. */
  worker?: RanksWorker;
  /** The part of the path, in the times of that rank's own trace. */
  params: Params;
}

/** Where the timeline shows a part of the path, or the first drawn step: on the rank that has most of it. */
export function onTimeline({ strips, workers }: Paths, range: Range | null): OnRank | null {
  if (!workers) return { params: timelineParams(range, strips) };
  const part = range ?? strips.map(rangeOf)[0];
  if (!part) return null;
  const times = new Map<number, Range & { time: number }>();
  for (const { glyph } of strips)
    for (const { worker: place, start_ns, end_ns } of glyph.ranks) {
      const t0 = Math.max(part.t0, start_ns);
      const t1 = Math.min(part.t1, end_ns);
      if (t1 <= t0) continue;
      const known = times.get(place) ?? { time: 0, t0, t1 };
      times.set(place, {
        time: known.time + t1 - t0,
        t0: Math.min(known.t0, t0),
        t1: Math.max(known.t1, t1),
      });
    }
  const [most] = [...times].sort(([, a], [, b]) => b.time - a.time);
  const worker = most && workers[most[0]];
  if (!worker) return null;
  const { t0, t1 } = most[1];
  return { worker, params: { path: "1", t: `${t0 + worker.shift_ns},${t1 - t0}` } };
}
