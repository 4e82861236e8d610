/** The fragmentation map's cells: their colours on a canvas, and the blocks behind them. */

import { clamp } from "../../base/clamp";
import type { MemoryMapPayload } from "../../api/types.gen";

export const COLUMNS = 192;
export const CELL_HEIGHT = 6;
/** How much of the map a click leaves. */
const CLOSER = 8;

/** Names of the style sheet's colours, and what they stand for. */
export const FILLS = [
  ["--compute", "allocated"],
  ["--copies", "released, still in use"],
  ["--data", "rounding"],
  ["--hover", "free"],
] as const;

type Context = Pick<CanvasRenderingContext2D, "clearRect" | "fillRect" | "fillStyle">;

/** Each cell is filled from its foot in proportion to its bytes; a line marks where a segment begins. */
export function drawMap(
  context: Context,
  { cells, starts }: MemoryMapPayload,
  width: number,
  colour: (name: string) => string,
): void {
  const wide = width / COLUMNS;
  context.clearRect(0, 0, width, CELL_HEIGHT * Math.ceil(cells.reserved.length / COLUMNS));
  const colours = FILLS.map(([name]) => colour(name));
  cells.reserved.forEach((reserved, i) => {
    const [used, pending, rounding] = [
      cells.allocated[i] ?? 0,
      cells.pending[i] ?? 0,
      cells.rounding[i] ?? 0,
    ];
    const left = (i % COLUMNS) * wide;
    let foot = (Math.floor(i / COLUMNS) + 1) * CELL_HEIGHT - 1;
    [used - pending - rounding, pending, rounding, reserved - used].forEach((bytes, part) => {
      const high = (bytes / reserved) * (CELL_HEIGHT - 1);
      if (high <= 0) return;
      context.fillStyle = colours[part] ?? "";
      context.fillRect(left, foot - high, wide + 0.5, high);
      foot -= high;
    });
  });
  context.fillStyle = colour("--ink");
  for (const i of starts)
    context.fillRect(
      (i % COLUMNS) * wide,
      Math.floor(i / COLUMNS) * CELL_HEIGHT,
      1,
      CELL_HEIGHT - 1,
    );
}

/** The listed block that has most of a cell; −1 none. */
export function blockAt(
  { blocks, begin_bytes, cell_bytes }: MemoryMapPayload,
  cell: number,
): number {
  const from = begin_bytes + cell * cell_bytes;
  let [found, most] = [-1, 0];
  blocks.offset_bytes.forEach((offset, i) => {
    const end = offset + (blocks.bytes[i] ?? 0);
    const within = Math.min(end, from + cell_bytes) - Math.max(offset, from);
    if (within > most) [found, most] = [i, within];
  });
  return found;
}

/** The part of the map around a cell after a click on it. */
export function closer(map: MemoryMapPayload, cell: number): { b0: number; b1: number } {
  const length = Math.max(COLUMNS, Math.ceil((map.end_bytes - map.begin_bytes) / CLOSER));
  const middle = map.begin_bytes + (cell + 0.5) * map.cell_bytes;
  const last = Math.max(map.begin_bytes, map.end_bytes - length);
  const b0 = Math.round(clamp(middle - length / 2, map.begin_bytes, last));
  return { b0, b1: Math.min(map.end_bytes, b0 + length) };
}
