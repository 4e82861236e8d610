/** The timeline follows the step selector. */

import { useEffect, useRef } from "preact/hooks";
import { type Stage, viewOfSteps } from "./stage";

/** Zooms to the steps when others are chosen; to everything when all are chosen again. */
export function useFollowedSteps({ handle, view: { steps }, recording, span }: Stage): void {
  const before = useRef(steps);
  useEffect(() => {
    const last = before.current;
    before.current = steps;
    if (last.first === steps.first && last.last === steps.last) return;
    const range = steps.first === null ? span : viewOfSteps(steps, recording);
    if (range) handle.current?.zoomTo(range);
  }, [steps]); // eslint-disable-line react-hooks/exhaustive-deps
}
