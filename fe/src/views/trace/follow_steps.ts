/** The timeline follows the step selector. */

import { useEffect, useRef } from "preact/hooks";
import type { StepRange } from "../../state/view";
import { type Stage, viewOfSteps } from "./stage";
import type { Recording } from "./recordings";

/** Zooms to the steps when others are chosen; to everything when all are chosen again. */
export function useFollowedSteps(
  { handle }: Stage,
  steps: StepRange,
  recording: Recording | undefined,
  whole: { t0: number; t1: number },
): void {
  const before = useRef(steps);
  useEffect(() => {
    const last = before.current;
    before.current = steps;
    if (last.first === steps.first && last.last === steps.last) return;
    const range = steps.first === null ? whole : viewOfSteps(steps, recording);
    if (range) handle.current?.zoomTo(range);
  }, [steps]); // eslint-disable-line react-hooks/exhaustive-deps
}
