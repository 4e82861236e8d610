/** What the Overview page computes: shares of the categories, which steps are marked. */

import type { Average, OverviewPayload } from "../../api/types.gen";
import { stepName } from "../../base/words";
import { CATEGORIES, type Category } from "../../base/theme";
import type { Step } from "../rows";

export const CATEGORY_LABELS: Readonly<Record<Category, string>> = {
  kernel: "Kernel",
  memcpy: "Memcpy",
  memset: "Memset",
  communication: "Communication",
  runtime: "Runtime",
  dataloader: "DataLoader",
  cpu_exec: "CPU Exec",
  other: "Other",
};

export interface CategoryShare {
  category: Category;
  /** `null`: not recorded. */
  ns: number | null;
  /** Fraction of the wall time; `null` where that is 0, or nothing was recorded. */
  share: number | null;
}

export function categoryShares(average: Average): CategoryShare[] {
  return CATEGORIES.map((category) => {
    const ns = average.categories_ns[category];
    return {
      category,
      ns,
      share: ns !== null && average.wall_ns > 0 ? ns / average.wall_ns : null,
    };
  });
}

/** Nothing marks a step, so the recording stands as one. */
export function isWholeSpan({ steps, step_source }: OverviewPayload): boolean {
  return steps.step.length <= 1 && step_source === "whole span";
}

/** How many steps a bar is of. */
export const several = ({ steps }: OverviewPayload): number => steps.steps[0] ?? 1;

/** The number that a person knows a step by. */
export const stepLabel = (step: Step): string => stepName(step.name, step.step);

/** Categories that occur in any of the steps: the legend needs no entry for the others. */
export function occurring(steps: readonly Step[]): Category[] {
  return CATEGORIES.filter((category) => steps.some((step) => (step[`${category}_ns`] ?? 0) > 0));
}
