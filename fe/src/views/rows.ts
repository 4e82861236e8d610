/** Rows of a table that comes as columns, for what is drawn row by row. */

import type { StepsTable } from "../api/types.gen";

export type RowOf<T> = { [K in keyof T]: T[K] extends readonly (infer V)[] ? V : never };

/** A step with what the table of steps says of it. */
export type Step = RowOf<StepsTable>;

const known = new WeakMap<object, unknown[]>();

/** One object per row; of the same table always the same objects. */
export function rowsOf<T extends object>(table: T): RowOf<T>[] {
  const columns = Object.entries(table as Readonly<Record<string, readonly unknown[]>>);
  const rows =
    known.get(table) ??
    (columns[0]?.[1] ?? []).map((_, row) =>
      Object.fromEntries(columns.map(([name, values]) => [name, values[row]])),
    );
  known.set(table, rows);
  return rows as RowOf<T>[];
}

/** How many steps a table of steps is of; a row of it may be several. */
export function countOfSteps({ step, steps }: Pick<StepsTable, "step" | "steps">): number {
  return (step.at(-1) ?? 0) + (steps.at(-1) ?? 0);
}

/** Rows by what they have in common, in the order of the first of each. */
export function grouped<K, T = number>(rows: Iterable<T>, keyOf: (row: T) => K) {
  const groups = new Map<K, [T, ...T[]]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group) group.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return groups;
}
