/** Roofs of the Roofline chart out of the columns that payloads have. */

import type { Vocabulary } from "../api/types.gen";
import type { Roof } from "../widgets";

/** More points would hide each other; the table has every row. */
export const MOST_POINTS = 400;

interface Peaks {
  unit: readonly (string | null)[];
  precision: readonly (string | null)[];
  peak: readonly (number | null)[];
}

/** What a peak is of, in the vendor's words: `Tensor Cores bf16`, `vector fp32`. */
export const unitText = ({ unit, precision }: Peaks, row: number, words: Vocabulary): string =>
  [unit[row] === "matrix" ? words.matrix_cores : unit[row], precision[row]]
    .filter(Boolean)
    .join(" ");

/** The peaks by which rows are measured, each once. */
export function roofsOf(columns: Peaks, rows: readonly number[], words: Vocabulary): Roof[] {
  const roofs = new Map<string, Roof>();
  for (const row of rows) {
    const rate = columns.peak[row];
    const label = unitText(columns, row, words);
    if (rate) roofs.set(`${label} ${rate}`, { label, rate });
  }
  return [...roofs.values()];
}
