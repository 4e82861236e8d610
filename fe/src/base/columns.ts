/** Kinds of columns, as Python declares them (store/display.py). */

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
