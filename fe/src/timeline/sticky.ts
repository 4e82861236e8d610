/**
 * The name that stays at the top of the names while its row, or a track below it without a name, is the first in sight:
 *
 *     scrolled ↑     main thread     ◀ stays         main thread     ◀ is pushed away by
 *                    (track)                         Python frames     the next name
 */

import type { RowLayout } from "./rows";
import type { Row } from "./types";
import { topOf } from "./viewport";

/** Of a curve only the name stays, css px. */
const NAME_HEIGHT = 24;

export const stickyHeight = ({ kind, height }: Row): number =>
  kind === "counter" ? Math.min(NAME_HEIGHT, height) : height;

/** The row whose name stays; `null` where nothing scrolls. */
export function stickyRow(layout: RowLayout, rows: readonly Row[]): Row | null {
  const first = rows.find((row) => !row.pinned);
  if (!first) return null;
  let at = layout.rows.indexOf(first);
  while (at > layout.pinnedCount && !layout.notes.get(layout.rows[at]?.key ?? "")?.node) at--;
  return layout.rows[at] ?? null;
}

/** How far the next name has pushed it up, css px, ≤ 0. */
export function stickyShift(layout: RowLayout, rows: readonly Row[], scroll: number): number {
  const sticky = stickyRow(layout, rows);
  if (!sticky) return 0;
  const next = rows.find(
    (row) => !row.pinned && row.y > sticky.y && layout.notes.get(row.key)?.node,
  );
  return next
    ? Math.min(0, topOf({ scroll }, next) - layout.pinnedHeight - stickyHeight(sticky))
    : 0;
}

/** What the row is part of. */
export const stickyNote = (layout: RowLayout, { key }: Row): string =>
  layout.notes.get(layout.notes.get(key)?.parent ?? "")?.name ?? "";
