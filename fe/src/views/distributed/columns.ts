/** Columns of the Distributed page's tables: a step each, or several consecutive ones where there are many. */

import type { DistributedPayload } from "../../api/types.gen";
import { formatCount } from "../../base/units";
import { stepName } from "../../base/words";
import { isChosen, type StepRange } from "../../state/view";

type Columns = Pick<DistributedPayload, "steps" | "column_begin">;

/** The first and the last step of a column. */
const endsOf = ({ steps, column_begin }: Columns, column: number): [string, string] => [
  stepName(steps[column_begin[column] ?? 0] ?? ""),
  stepName(steps[(column_begin[column + 1] ?? steps.length) - 1] ?? ""),
];

/** `7`, or `7–10` of a column of several steps. */
export const columnNames = (columns: Columns): string[] =>
  columns.column_begin.map((_, column) => [...new Set(endsOf(columns, column))].join("–"));

/** How many steps the columns hold; the last one may hold fewer. */
export const stepsPerColumn = ({ column_begin }: Columns): number =>
  Math.max(1, column_begin[1] ?? 1);

/** The column of a step. */
export const columnOf = ({ column_begin }: Pick<Columns, "column_begin">, step: number): number =>
  column_begin.findLastIndex((first) => first <= step);

/** The columns that hold any of the chosen steps, which are those of the selected worker; null for all of them. */
export function chosenColumns(
  steps: StepRange,
  payload: Pick<DistributedPayload, "own_steps" | "column_begin">,
): number[] | null {
  if (steps.first === null) return null;
  const columns = payload.own_steps.flatMap((own, step) =>
    own >= 0 && isChosen(steps, own) ? columnOf(payload, step) : [],
  );
  return columns.length ? [...new Set(columns)] : null;
}

/** `average of 12 steps`, `step 7`, `average of steps 7–10`. */
export function columnsText(columns: readonly number[] | null, payload: Columns): string {
  if (!columns) return `average of ${formatCount(payload.steps.length)} steps`;
  const [[from], [, to]] = [endsOf(payload, columns[0] ?? 0), endsOf(payload, columns.at(-1) ?? 0)];
  return columns.length === 1 && stepsPerColumn(payload) === 1
    ? `step ${from}`
    : `average of steps ${from}–${to}`;
}

/** The column of a step from the address bar, which is there by its name: places move when workers join. */
export function readColumn(text: string | undefined, columns: Columns): number | null {
  const step = text ? columns.steps.indexOf(text) : -1;
  return step < 0 ? null : columnOf(columns, step);
}
