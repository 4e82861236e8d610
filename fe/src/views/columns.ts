/** Columns of a page's tables from a payload's columns. */

import type { CellKind, CellValue, Column } from "../widgets";

/** The values of the rows, in their order. */
export function pick<T>(values: readonly T[], rows: readonly number[]): T[] {
  return rows.map((row) => values[row] as T);
}

type Make = (
  key: string,
  label: string,
  kind: CellKind,
  width: number,
  values: ArrayLike<CellValue>,
  more?: Partial<Column>,
) => Column;

/** Makes the columns of a page, whose definitions are called `<page>_<key>` where `more` does not say otherwise. */
export function columnsOf(page: string): Make {
  return (key, label, kind, width, values, more) => ({
    key,
    label,
    kind,
    width,
    values,
    term: `${page}_${key}`,
    ...more,
  });
}

/** Only columns of which at least one row knows something. */
export const told = (columns: readonly Column[]): Column[] =>
  columns.filter(
    ({ values }) => !values.length || Array.from(values).some((value) => value !== null),
  );
