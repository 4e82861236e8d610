import { clamp } from "../../base/clamp";
import { firstWhere } from "../../base/bisect";

/** Height of a row, px, and of one of two lines. */
export const ROW_HEIGHT = 28;
export const TALL_ROW = 38;
/** Rows drawn beyond both edges, so that fast scrolling shows no gaps. */
const MARGIN_ROWS = 8;

/** An open row: its position among the shown rows and the height of what is below it. */
export interface OpenAt {
  position: number;
  height: number;
}

/** Distance of a row's upper edge from the start, px. `open` is sorted by position. */
export function offsetOf(
  position: number,
  open: readonly OpenAt[],
  rowHeight = ROW_HEIGHT,
): number {
  let offset = position * rowHeight;
  for (const row of open) {
    if (row.position >= position) break;
    offset += row.height;
  }
  return offset;
}

export function totalHeight(
  count: number,
  open: readonly OpenAt[],
  rowHeight = ROW_HEIGHT,
): number {
  return open.reduce((sum, row) => sum + row.height, count * rowHeight);
}

/** The row at a distance from the start: the one whose own or detail's area holds it. */
export function positionAt(
  offset: number,
  count: number,
  open: readonly OpenAt[],
  rowHeight = ROW_HEIGHT,
): number {
  return firstWhere(1, count, (position) => offsetOf(position, open, rowHeight) > offset) - 1;
}

/** The rows to draw for a scroll place: first included, last not. */
export function windowOf(
  top: number,
  height: number,
  count: number,
  open: readonly OpenAt[],
  rowHeight = ROW_HEIGHT,
): { first: number; last: number } {
  const first = Math.max(0, positionAt(top, count, open, rowHeight) - MARGIN_ROWS);
  const last = Math.min(count, positionAt(top + height, count, open, rowHeight) + 1 + MARGIN_ROWS);
  return { first, last };
}

/**
 * More rows than a window of this height ever draws. Rows are keyed by their position modulo this,
 * so that scrolling changes texts instead of making elements.
 */
export function mostRows(height: number): number {
  return Math.ceil(height / ROW_HEIGHT) + 2 + 2 * MARGIN_ROWS;
}

export interface Cell {
  row: number;
  column: number;
}

/** Where a key takes the active cell; null when the key does not move. */
export function moveCell(
  cell: Cell,
  key: string,
  control: boolean,
  { rows, columns, page }: { rows: number; columns: number; page: number },
): Cell | null {
  if (rows === 0 || columns === 0) return null;
  const step = control ? Infinity : 1;
  const [down, right] =
    {
      ArrowDown: [step, 0],
      ArrowUp: [-step, 0],
      ArrowRight: [0, step],
      ArrowLeft: [0, -step],
      PageDown: [page, 0],
      PageUp: [-page, 0],
      Home: [control ? -step : 0, -Infinity],
      End: [control ? step : 0, Infinity],
    }[key] ?? [];
  if (down === undefined || right === undefined) return null;
  return {
    row: clamp(cell.row + down, 0, rows - 1),
    column: clamp(cell.column + right, 0, columns - 1),
  };
}
