/** What the path through all ranks of a run computes from its payload. */

import type { Parameters } from "../../api/client";
import type { RanksPathPayload, RanksStrip, RanksWorker } from "../../api/types.gen";
import { stepName } from "../../base/words";
import type { Params, Selection } from "../../state/view";
import { workerName } from "../distributed/model";
import type { Range } from "./model";

export type RanksGroup = NonNullable<Parameters["critical_path/ranks/rows"]["by"]>;

/** What a row can be one of, and what its first column is then called. */
export const RANKS_GROUPS: readonly { value: RanksGroup; label: string; term: string }[] = [
  { value: "rank", label: "Rank", term: "rank" },
  { value: "event", label: "Event", term: "path_event" },
  { value: "operator", label: "Operator", term: "path_operator" },
  { value: "module", label: "Module", term: "path_module" },
  { value: "line", label: "Source line", term: "path_line" },
];

export const readRanksGroup = (text: string | undefined): RanksGroup =>
  RANKS_GROUPS.find(({ value }) => value === text)?.value ?? "rank";

/** The trace of a rank. */
export const traceOfRank = ({ run }: Selection, { worker, span }: RanksWorker): Selection => ({
  run,
  worker,
  span,
});

export const rankOf = (workers: readonly RanksWorker[], place: number | undefined): string => {
  const found = place === undefined ? undefined : workers[place];
  return found ? workerName(found) : "";
};

/** Names the rank of each stretch of a strip. */
export function ranksOf({ strips, workers }: Pick<RanksPathPayload, "strips" | "workers">) {
  const stretches = new Map(strips.map((strip) => [strip.step, strip.stretches]));
  return ({ step }: { step: number }, row: number): string =>
    rankOf(workers, stretches.get(step)?.worker[row]);
}

export interface OnRank {
  worker: RanksWorker;
  /** The part of the path, in the times of that rank's own trace. */
  params: Params;
}

/** Where the timeline shows a part of the path, or the first drawn step: on the rank that has most of it. */
export function onTimeline(
  { strips, workers }: Pick<RanksPathPayload, "strips" | "workers">,
  range: Range | null,
): OnRank | null {
  const [first] = strips;
  const whole = first && { t0: first.start_ns, t1: first.end_ns };
  const part = range ?? whole;
  if (!part) return null;
  const times = new Map<number, { time: number; t0: number; t1: number }>();
  for (const strip of strips)
    for (const { place, t0, t1 } of within(strip, part)) {
      const known = times.get(place);
      times.set(place, {
        time: (known?.time ?? 0) + t1 - t0,
        t0: Math.min(known?.t0 ?? t0, t0),
        t1: Math.max(known?.t1 ?? t1, t1),
      });
    }
  const [most] = [...times].sort(([, a], [, b]) => b.time - a.time);
  const worker = most && workers[most[0]];
  if (!worker) return null;
  const { t0, t1 } = most[1];
  return { worker, params: { path: "1", t: `${t0 + worker.shift_ns},${t1 - t0}` } };
}

/** The stretches of a strip that lie in a part, cut to it. */
function within({ stretches }: RanksStrip, { t0, t1 }: Range) {
  return stretches.worker.flatMap((place, row) => {
    const from = Math.max(t0, stretches.start_ns[row] ?? 0);
    const to = Math.min(t1, stretches.end_ns[row] ?? 0);
    return to > from ? [{ place, t0: from, t1: to }] : [];
  });
}

/** Which steps are drawn, where that is not all. */
export function drawnText({ strips, steps }: RanksPathPayload): string {
  const [first] = strips;
  const name = first ? stepName(first.name) || "the whole span" : "";
  if (steps > strips.length) return `drawn: step ${name}, the longest; sums: all steps chosen`;
  return strips.length === 1 ? `step ${name}` : "";
}
