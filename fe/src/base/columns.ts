/** Columns of tables as Python declares them (store/display.py). */

/**
 * How a column's values are sorted, aligned and written. `knowledge`: 0 no, 1 yes, 2 unknown. `code`: text in a fixed-width face, cut in the middle.
 * `delta`: a difference of times, with its sign; sorted by size.
 */
export type CellKind =
  | "text"
  | "code"
  | "time"
  | "delta"
  | "bytes"
  | "share"
  | "count"
  | "number"
  | "knowledge"
  | "FLOP"
  | "FLOP/s"
  | "B/s";

/** Values of `knowledge`, as Python's `Knowledge`. */
export const NO = 0;
export const YES = 1;
export const NOT_KNOWN = 2;

export interface DeclaredColumn {
  key: string;
  /** May hold the vendor's words: `{device}`, `{Matrix_cores}`. */
  label: string;
  kind: CellKind;
  /** Key of its definition, or empty. */
  term: string;
  /** CSS pixels; null: the usual width of its kind. */
  width: number | null;
  bar: boolean;
  hidden: boolean;
}
