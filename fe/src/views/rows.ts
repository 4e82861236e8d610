/** Some rows of a payload's columns. */

/** The values of the rows, in their order. */
export function pick<T>(values: readonly T[], rows: readonly number[]): T[] {
  return rows.map((row) => values[row] as T);
}
