/** The payload of all steps beside that of the chosen ones: charts keep all of them in sight, to be chosen. */

import type { Routes } from "../api/client";
import { useResource } from "../state/resource";
import { type Params, type ViewProps, viewQuery } from "../state/view";

/** The given payload until the whole one is there, and where all steps are chosen anyway. */
export function useAllSteps<R extends "efficiency" | "counters" | "iterations">(
  route: R,
  { selection, steps }: ViewProps,
  payload: Routes[R],
  more: Params = {},
): Routes[R] {
  const whole = useResource(
    steps.first === null ? null : route,
    viewQuery({ selection, steps: { ...steps, first: null, last: null } }, more),
  );
  return whole.data ?? payload;
}
