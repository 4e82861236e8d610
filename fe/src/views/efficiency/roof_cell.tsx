/** How far something is from its roof, in a cell of a table. */

import type { KernelsTogetherTable, Vocabulary } from "../../api/types.gen";
import { formatShare } from "../../base/units";
import type { Column } from "../../widgets";
import { besideRoof } from "./model";

interface RoofCellProps {
  /** Null: not known. */
  share: number | null;
  roof: string | null;
  /** Why it is not known. */
  reason: string;
  words: Vocabulary;
  /** Whether there is room for the bar and the share alone. */
  narrow?: boolean;
}

/** A bar, the share and the roof; hatched where the roof is unknown. */
export function RoofCell({ share, roof, reason, words, narrow }: RoofCellProps) {
  const known = share !== null && roof !== null;
  const beside = known ? besideRoof(share, roof, words) : reason;
  const color = roof === "memory" ? "var(--copies)" : "var(--compute)";
  const width = `${Math.min(1, share ?? 0) * 100}%`;
  return (
    <span
      class="roof-cell"
      title={known ? `${formatShare(share)} of ${beside}` : `The roof is unknown: ${reason}`}
    >
      <span class={`roof-track${known ? "" : " roof-unknown"}`}>
        {known ? <span class="roof-fill" style={{ width, background: color }} /> : null}
      </span>
      {known ? <strong class="number">{formatShare(share)}</strong> : null}
      {narrow ? null : <small>{beside}</small>}
    </span>
  );
}

/** Draws such cells for rows that are pooled, or their kernels; `judged`: how many rows have one. */
export const roofsOfRows = (
  rows: Pick<KernelsTogetherTable, "of_roof" | "roof" | "no_roof">,
  words: Vocabulary,
  more: { narrow?: boolean; judged?: number } = {},
): Partial<Column> => ({
  bar: false,
  draw: (row) =>
    row < (more.judged ?? Infinity) ? (
      <RoofCell
        share={rows.of_roof[row] ?? null}
        roof={rows.roof[row] ?? null}
        reason={rows.no_roof[row] ?? ""}
        words={words}
        narrow={more.narrow ?? false}
      />
    ) : null,
});
