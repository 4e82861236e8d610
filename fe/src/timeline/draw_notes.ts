/** Notes at the top of the canvas, beside their marks. Css px. */

import type { Context, Frame } from "./types";
import { columnsOf } from "./viewport";

const WIDEST = 240;
const HEIGHT = 18;
const PADDING = 5;
const GAP = 2;
/** More notes over each other would hide the rows. */
const MOST_LINES = 4;

export function drawNotes(ctx: Context, frame: Frame): void {
  const ends: number[] = [];
  ctx.textBaseline = "middle";
  for (const { note, start, end } of frame.marks) {
    const columns = columnsOf(frame, start, end);
    if (!note || !columns) continue;
    const [left] = columns;
    const text = cut(ctx, note, WIDEST - 2 * PADDING);
    const width = ctx.measureText(text).width + 2 * PADDING;
    const free = ends.findIndex((right) => right < left);
    const line = free < 0 ? ends.length : free;
    if (line >= MOST_LINES) continue;
    ends[line] = left + width + GAP;
    const top = frame.pinnedHeight + GAP + line * (HEIGHT + GAP);
    ctx.fillStyle = frame.palette.accent;
    ctx.fillRect(left, top, width, HEIGHT);
    ctx.fillStyle = frame.palette.ground;
    ctx.fillText(text, left + PADDING, top + HEIGHT / 2 + 0.5);
  }
}

/** The text, or its beginning with `…`. */
function cut(ctx: Context, text: string, room: number): string {
  if (ctx.measureText(text).width <= room) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (ctx.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}
