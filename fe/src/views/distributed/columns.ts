/** Columns of the Distributed page's tables: a step each, or several consecutive ones where there are many. */

import type { DistributedPayload } from "../../api/types.gen";
import { formatCount } from "../../base/units";
import { stepName } from "../../base/words";
import { isChosen, type StepRange } from "../../state/view";

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
  const names = columnNames(payload);
  if (!columns) return `average of ${formatCount(payload.steps.length)} steps`;
  const [first, last] = [names[columns[0] ?? 0] ?? "", names[columns.at(-1) ?? 0] ?? ""];
  if (first === last && stepsPerColumn(payload) === 1) return `step ${first}`;
  const [from, to] = [first.split("–")[0] ?? "", last.split("–").at(-1) ?? ""];
  return `average of steps ${from}–${to}`;
}

/** The column of a step from the address bar, which is there by its name: places move when workers join. */
export function readColumn(text: string | undefined, columns: Columns): number | null {
  const step = text ? columns.steps.indexOf(text) : -1;
  return step < 0 ? null : columnOf(columns, step);
}
