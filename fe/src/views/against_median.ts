/** The comparison of a step with the usual one of its recording. */

import { onlyRow, type Selection, type StepRange, type ViewProps } from "../state/view";
import type { Step } from "./rows";

export const MEDIAN_RULE =
  "The median step: of the other steps that are neither cold, odd nor cut off, the one whose time is in the middle.";

type Candidate = Pick<Step, "step" | "steps" | "wall_ns" | "cold" | "odd" | "cut">;

/** The step of median length beside one; of an even number the shorter of the two. Null where there is none. */
export function medianStep(rows: readonly Candidate[], beside: number): number | null {
  const others = rows.filter(({ step, steps }) => step !== beside && steps === 1);
  const usual = others.filter(({ cold, odd, cut }) => !cold && !odd && !cut);
  const sorted = (usual.length ? usual : others).sort((a, b) => a.wall_ns - b.wall_ns);
  return sorted[(sorted.length - 1) >> 1]?.step ?? null;
}

/** A recording and its steps as the Diff page's keys of side B. */
export function otherParams(selection: Selection, steps: string, skipCold = false) {
  return {
    run2: selection.run,
    worker2: selection.worker,
    span2: selection.span,
    steps2: steps,
    skip_cold2: skipCold ? ("1" as const) : ("" as const),
  };
}

/** The link to Diff with the median step as A and the chosen one as B; null unless a single step is chosen. */
export function againstMedian(
  hrefOf: ViewProps["hrefOf"],
  selection: Selection,
  rows: readonly Candidate[],
  steps: StepRange,
): string | null {
  const step = onlyRow(rows, steps);
  const median = step === null ? null : medianStep(rows, step);
  return median === null
    ? null
    : hrefOf("diff", otherParams(selection, `${step}`), selection, {
        first: median,
        last: median,
        skipCold: false,
      });
}
