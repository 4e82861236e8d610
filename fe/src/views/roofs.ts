/** Roofs of the Roofline chart out of the columns that payloads have. */

import type { Roof } from "../widgets";

/** More points would hide each other; the table has every row. */
export const MOST_POINTS = 400;

interface Peaks {
  unit: readonly (string | null)[];
  precision: readonly (string | null)[];
  peak: readonly (number | null)[];
}

/** What a peak is of: `bf16 matrix`. */
export const unitText = ({ unit, precision }: Peaks, row: number): string =>
  [precision[row], unit[row]].filter(Boolean).join(" ");

/** The peaks by which rows are measured, each once. */
export function roofsOf(columns: Peaks, rows: readonly number[]): Roof[] {
  const roofs = new Map<string, Roof>();
  for (const row of rows) {
    const rate = columns.peak[row];
    const label = unitText(columns, row);
    if (rate) roofs.set(`${label} ${rate}`, { label, rate });
  }
  return [...roofs.values()];
}
