/** Which rows are shown and in which order: index arrays over columns. Pure. */

import { matchAll, type Matcher } from "../../base/search";
import type { CellKind, CellValue, Column, Sort } from "./types";

/** Strings of a column without repetition, and each row's place among them. */
export interface Dictionary {
  unique: string[];
  codes: Uint32Array;
}

const dictionaries = new WeakMap<object, Dictionary>();
const keys = new WeakMap<object, Float64Array>();
/** Beyond so many different strings the plain order is used, because a collator takes ten times as long. */
const COLLATED = 5000;
const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

export function isText(kind: CellKind): boolean {
  return kind === "text" || kind === "code";
}

/** A value as a number, `NaN` where it is unknown. */
export function numberOf(value: CellValue | undefined, kind: CellKind): number {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "number" || !Number.isFinite(value)) return NaN;
  if (kind === "time" && value < 0) return NaN;
  if (kind === "knowledge" && (value < 0 || value > 1)) return NaN;
  return value;
}

/** By what a figure is sorted and its bar is long: of a delta how much it is, whichever way it goes. */
export function sizeOf(value: number, kind: CellKind): number {
  return kind === "delta" ? Math.abs(value) : value;
}

/** The dictionary of a text column; made once per array. */
export function dictionaryOf(values: ArrayLike<CellValue>, rowCount: number): Dictionary {
  const cached = dictionaries.get(values);
  if (cached?.codes.length === rowCount) return cached;
  const places = new Map<string, number>();
  const codes = new Uint32Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const value = values[row];
    const text = String(value ?? "");
    const place = places.get(text) ?? places.size;
    places.set(text, place);
    codes[row] = place;
  }
  const dictionary = { unique: [...places.keys()], codes };
  dictionaries.set(values, dictionary);
  return dictionary;
}

/** One sortable number per row: the value, or for texts the rank among the column's texts. `NaN` is unknown. */
export function sortKeys(column: Pick<Column, "values" | "kind">, rowCount: number): Float64Array {
  const cached = keys.get(column.values);
  if (cached?.length === rowCount) return cached;
  const { kind, values } = column;
  let keyOf = (row: number): number => sizeOf(numberOf(values[row], kind), kind);
  if (isText(kind)) {
    const { unique, codes } = dictionaryOf(values, rowCount);
    const ranks = rank(unique);
    keyOf = (row) => ranks[codes[row] ?? 0] ?? NaN;
  }
  const result = new Float64Array(rowCount);
  for (let row = 0; row < rowCount; row++) result[row] = keyOf(row);
  keys.set(column.values, result);
  return result;
}

function rank(texts: readonly string[]): Float64Array {
  const compare =
    texts.length > COLLATED
      ? (a: string, b: string) => (a < b ? -1 : 1)
      : (a: string, b: string) => collator.compare(a, b);
  const order = [...texts.keys()].sort((a, b) => compare(texts[a] ?? "", texts[b] ?? ""));
  const ranks = new Float64Array(texts.length);
  order.forEach((text, place) => (ranks[text] = texts[text] === "" ? NaN : place));
  return ranks;
}

/** Sorts row numbers in place by their keys: stable, unknown last in both directions. */
export function sortRows(rows: Uint32Array, by: Float64Array, descending: boolean): Uint32Array {
  const sign = descending ? -1 : 1;
  return rows.sort((a, b) => {
    const x = by[a] ?? NaN;
    const y = by[b] ?? NaN;
    const unknownX = Number.isNaN(x);
    const unknownY = Number.isNaN(y);
    if (unknownX || unknownY) return unknownX && unknownY ? a - b : unknownX ? 1 : -1;
    return x === y ? a - b : (x - y) * sign;
  });
}

export interface Shown {
  rows: Uint32Array;
  /** Rows that the search found, pinned ones not counted. */
  found: number;
  /** Why the search could not be done; then every row is shown. */
  error: string | null;
}

export interface Wanted {
  columns: readonly Column[];
  rowCount: number;
  matcher: Matcher;
  searchIn: readonly string[] | undefined;
  sort: Sort | null;
  pinned: readonly number[];
}

/** The rows to draw: found by the search, sorted, pinned rows at the end. */
export function shownRows({ columns, rowCount, matcher, searchIn, sort, pinned }: Wanted): Shown {
  const fixed = new Set(pinned);
  const { flags, error } = foundFlags(columns, rowCount, matcher, searchIn);
  const rows = new Uint32Array(rowCount);
  let found = 0;
  for (let row = 0; row < rowCount; row++) if (flags[row] && !fixed.has(row)) rows[found++] = row;
  const body = rows.subarray(0, found);
  const column = sort ? columns.find((candidate) => candidate.key === sort.key) : undefined;
  if (sort && column) sortRows(body, sortKeys(column, rowCount), sort.descending);
  let end = found;
  for (const row of pinned) if (row >= 0 && row < rowCount) rows[end++] = row;
  return { rows: rows.subarray(0, end), found, error };
}

/** One flag per row: whether the search found it. */
export function foundFlags(
  columns: readonly Column[],
  rowCount: number,
  matcher: Matcher,
  searchIn: readonly string[] | undefined,
): { flags: Uint8Array; error: string | null } {
  const flags = new Uint8Array(rowCount);
  if (!matcher.test) return { flags: flags.fill(1), error: matcher.error };
  const searched = columns.filter((column) =>
    searchIn ? searchIn.includes(column.key) : isText(column.kind) && !column.action,
  );
  if (matcher.test("") || searched.length === 0) return { flags: flags.fill(1), error: null };
  for (const column of searched) {
    const { unique, codes } = dictionaryOf(column.values, rowCount);
    const matches = matchAll(unique, matcher);
    if (matches.error) return { flags: flags.fill(1), error: matches.error };
    for (let row = 0; row < rowCount; row++) if (matches.flags[codes[row] ?? 0]) flags[row] = 1;
  }
  return { flags, error: null };
}

const largests = new WeakMap<object, number>();

/** The largest known figure of a column; 0 when there is none. */
export function largestOf(column: Pick<Column, "values" | "kind">, rowCount: number): number {
  const sizes = sortKeys(column, rowCount);
  const largest =
    largests.get(sizes) ?? sizes.reduce((most, size) => (size > most ? size : most), 0);
  largests.set(sizes, largest);
  return largest;
}

/** What a click on a header does: texts start ascending, figures descending; the second click turns, the third gives the first order back. */
export function nextSort(
  sort: Sort | null,
  column: Pick<Column, "key" | "kind">,
  given?: Sort,
): Sort | null {
  const first = !isText(column.kind);
  const now = sort ?? given;
  if (now?.key !== column.key) return { key: column.key, descending: first };
  return now.descending === first ? { key: column.key, descending: !first } : null;
}
