/** The step that speaks for the others of its recording. */

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
