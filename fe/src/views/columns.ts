import { useMemo } from "preact/hooks";
import type { DeclaredColumn, DeclaredTable, TableName, Vocabulary } from "../api/types.gen";
import { NOT_KNOWN } from "../base/columns";
import { capitalised } from "../base/words";
import type { CellKind, CellValue, Column } from "../widgets";

let declared: ReadonlyMap<string, DeclaredTable> = new Map();

/** Takes in what the server says of the tables, like `define` what it says of labels. */
export function declareTables(tables: readonly DeclaredTable[]): void {
  declared = new Map(tables.map((table) => [table.name, table]));
}

/** The columns that Python declares for a table; none before the server has said them. */
export const columnsOfTable = (table: TableName): readonly DeclaredColumn[] =>
  declared.get(table)?.columns ?? [];

/**
 * The columns that Python declares for a table, with what a view adds to some of them. A column of which no row knows anything is left out.
 */
export function declaredColumns(
  table: TableName,
  rows: object,
  additions: Readonly<Record<string, Partial<Column>>> = {},
  words?: Vocabulary,
): Column[] {
  const values = rows as Readonly<Record<string, ArrayLike<CellValue> | undefined>>;
  return knownColumns(
    columnsOfTable(table).flatMap((column) => {
      const cells = additions[column.key]?.values ?? values[column.key];
      if (!cells) return [];
      const label = words ? inWords(column.label, words) : column.label;
      return [{ ...column, label, values: cells, ...additions[column.key] }];
    }),
  );
}

/** `{Device} self` → `GPU self`. */
function inWords(label: string, words: Vocabulary): string {
  return label.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const word = (words as unknown as Record<string, string>)[name.toLowerCase()] ?? whole;
    return name.toLowerCase() === name ? word : capitalised(word);
  });
}

export function pick<T>(values: readonly T[], rows: readonly number[]): T[] {
  return rows.map((row) => values[row] as T);
}

/** The columns of a table for some of its rows, in their order. */
export function pickRows<T extends object>(table: T, rows: readonly number[]): T {
  const columns = Object.entries(table as Readonly<Record<string, readonly unknown[]>>);
  return Object.fromEntries(columns.map(([key, values]) => [key, pick(values, rows)])) as T;
}

/** The columns with these first, in their order; all others are hidden until somebody wants them. */
export function arranged(columns: readonly Column[], first: readonly string[]): Column[] {
  const place = (key: string): number => (first.includes(key) ? first.indexOf(key) : first.length);
  return columns
    .map((column) => ({ ...column, hidden: !first.includes(column.key) }))
    .sort((a, b) => place(a.key) - place(b.key));
}

/** Columns that change with `data` alone: their links read the address bar when they are drawn or followed. */
export function useColumns(make: () => Column[], data: readonly unknown[]): Column[] {
  // eslint-disable-next-line react-hooks/exhaustive-deps
  return useMemo(make, data);
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
export const knownColumns = (columns: readonly Column[]): Column[] =>
  columns.filter(
    ({ kind, values }) =>
      !values.length ||
      // Without a copy: a table may have a hundred thousand rows.
      Array.prototype.some.call(
        values,
        (value: CellValue) => value !== null && !(kind === "knowledge" && value === NOT_KNOWN),
      ),
  );
