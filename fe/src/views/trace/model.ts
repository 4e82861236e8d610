/** What the Trace page computes: the time window that a person chose, in integer ns since the first event of the trace. */

import { ownAt, type Placed } from "../../timeline/clock";
import type { TimeRange } from "../../timeline/types";
import type { Step } from "../rows";

const NS: Readonly<Record<string, number>> = { ns: 1, us: 1e3, µs: 1e3, μs: 1e3, ms: 1e6, s: 1e9 };

/** `1.5 ms`, `20us`, `3` (ms where no unit is given) as ns; `null` when it is not a time. Decimal commas are read as points. */
export function parseTime(text: string): number | null {
  const match = /^\s*(\d+(?:[.,]\d*)?|[.,]\d+)\s*(ns|us|µs|μs|ms|s)?\s*$/i.exec(text);
  if (!match) return null;
  const [, digits = "", unit = "ms"] = match;
  const ns = Math.round(Number(digits.replace(",", ".")) * (NS[unit.toLowerCase()] ?? NaN));
  return Number.isSafeInteger(ns) ? ns : null;
}

export interface Checked {
  window: TimeRange | null;
  /** Why there is no window; empty when there is one. */
  problem: string;
}

/** The window between two texts, cut to the span of the trace. */
export function checkWindow(from: string, to: string, spanNs: number): Checked {
  const t0 = from.trim() === "" ? 0 : parseTime(from);
  const t1 = to.trim() === "" ? spanNs : parseTime(to);
  const refused = (problem: string): Checked => ({ window: null, problem });
  const noTime = (text: string): Checked =>
    refused(`“${text}” is not a time. Examples: 12.5 ms, 300 µs.`);
  if (t0 === null) return noTime(from);
  if (t1 === null) return noTime(to);
  if (t0 >= t1) return refused("The range ends before it begins.");
  if (t0 >= spanNs) return refused("The range begins after the end of the trace.");
  return { window: { t0, t1: Math.min(t1, spanNs) }, problem: "" };
}

/** The window of the steps `first` to `last` (both included, by index); `null` when none of them exists. */
export function windowOfSteps(
  steps: readonly Pick<Step, "step" | "steps" | "start_ns" | "wall_ns">[],
  first: number,
  last: number,
): TimeRange | null {
  const holds = (step: (typeof steps)[number]): boolean =>
    step.step + step.steps > first && step.step <= last;
  const chosen = steps.filter(holds);
  if (!chosen.length) return null;
  // Between the steps of a row of several there may be gaps: it ends where the next one begins, or later.
  const ends = steps.flatMap((step, row) =>
    holds(step)
      ? [
          Math.max(
            step.start_ns + step.wall_ns,
            step.steps > 1 ? (steps[row + 1]?.start_ns ?? 0) : 0,
          ),
        ]
      : [],
  );
  return { t0: Math.max(0, Math.min(...chosen.map((s) => s.start_ns))), t1: Math.max(...ends) };
}

/** What Perfetto is given for a choice: it reads no zstd and no databases, so a whole file that is neither plain JSON nor its own format is asked for as a window: gzip of JSON. */
export function windowForPerfetto(
  file: string,
  chosen: TimeRange | null,
  spanNs: number,
): TimeRange | null {
  return chosen === null && !/\.(json|pftrace|perfetto-trace|pb)(\.gz)?$/i.test(file)
    ? { t0: 0, t1: spanNs + 1 }
    : chosen;
}

/** The wall clock of the first event in UTC, or `null` where the trace's clock is not one that starts in 1970. */
export function wallClock(originNs: string): string | null {
  if (!/^\d{1,20}$/.test(originNs)) return null;
  const ms = Number(BigInt(originNs) / 1_000_000n);
  const earliest = Date.UTC(2015, 0, 1);
  const latest = Date.UTC(2100, 0, 1);
  if (ms < earliest || ms > latest) return null;
  return `${new Date(ms).toISOString().replace("T", " ").replace("Z", "")} UTC`;
}

export type PartMode = "seen" | "whole" | "steps" | "window";

/** How the part is chosen; the address bar decides, else whether steps are chosen on the other pages. */
export function readMode(text: string | undefined, stepsChosen: boolean): PartMode {
  if (text === "seen" || text === "whole" || text === "steps" || text === "window") return text;
  return stepsChosen ? "steps" : "seen";
}

/** What is seen of a recording, in whole ns of its own time; `null` where they do not touch. */
export function seenWindow(view: TimeRange, at: Placed, spanNs: number): TimeRange | null {
  const t0 = Math.max(0, Math.floor(ownAt(at, view.t0)));
  const t1 = Math.min(spanNs + 1, Math.ceil(ownAt(at, view.t1)));
  return t1 > t0 ? { t0, t1 } : null;
}
