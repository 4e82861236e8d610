import type { Frame, Row } from "./types";

/** The top of a row; pinned rows do not scroll. */
export const topOf = (frame: Pick<Frame, "scroll">, row: Row): number =>
  row.pinned ? row.y : row.y - frame.scroll;

/** The row under a height; pinned rows lie over the others. */
export function rowUnder(frame: Frame, y: number): Row | null {
  const pinned = y < frame.pinnedHeight;
  for (const row of frame.rows) {
    const top = topOf(frame, row);
    if (row.pinned === pinned && y >= top && y < top + row.height) return row;
  }
  return null;
}

/** Rows that draw a lane, from the top; a lane that is also pinned has two. */
export function rowsOfLane(frame: Frame, source: number, lane: number): Row[] {
  return frame.rows.filter((row) => row.source === source && row.lane === lane && lane >= 0);
}
