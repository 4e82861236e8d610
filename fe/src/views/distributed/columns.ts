/** Columns of the Distributed page's tables: a step each, or several consecutive ones where there are many. */

import type { DistributedPayload } from "../../api/types.gen";
import { stepName } from "../../base/words";

type Columns = Pick<DistributedPayload, "steps" | "column_begin">;

/** `7`, or `7–10` of a column of several steps. */
export function columnNames({ steps, column_begin }: Columns): string[] {
  return column_begin.map((first, column) => {
    const last = (column_begin[column + 1] ?? steps.length) - 1;
    const [from, to] = [stepName(steps[first] ?? ""), stepName(steps[last] ?? "")];
    return last > first ? `${from}–${to}` : from;
  });
}

/** How many steps the columns hold; the last one may hold fewer. */
export const stepsPerColumn = ({ column_begin }: Columns): number =>
  Math.max(1, column_begin[1] ?? 1);

/** The column of a step from the address bar, which is there by its name: places move when workers join. */
export function readColumn(
  text: string | undefined,
  { steps, column_begin }: Columns,
): number | null {
  const step = text ? steps.indexOf(text) : -1;
  if (step < 0) return null;
  const next = column_begin.findIndex((first) => first > step);
  return next < 0 ? column_begin.length - 1 : next - 1;
}
