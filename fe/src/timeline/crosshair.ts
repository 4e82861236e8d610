/** What curves say in numbers: at the pointer, one line through all of them, and over the chosen area. */

import { yOfCurve } from "./curves";
import type { Context, Curve, CurveValue, Frame, Row } from "./types";
import { columnsOf, timeAt, topOf } from "./viewport";

/** Css px that the card at the pointer takes at most: values stand on its other side. */
const CARD = 440;
const AWAY = 8;

/** The curve at a time: all that it was within the part of the window that holds the time. `null`: not known. */
export function valueAt(curve: Curve, time: number): CurveValue | null {
  const { t0, t1 } = curve.range;
  const count = curve.highest.length;
  const i = Math.min(count - 1, Math.floor(((time - t0) / (t1 - t0)) * count));
  const lowest = curve.lowest[i] ?? NaN;
  const highest = curve.highest[i] ?? NaN;
  if (time < t0 || time > t1 || Number.isNaN(highest)) return null;
  return { lowest, highest, mean: curve.mean?.[i] ?? null };
}

/** `43 % (0 % to 100 %)` where it changed within the px, else the one value. */
export function valueText({ lowest, highest, mean }: CurveValue, { format }: Curve): string {
  const [low, high] = [format(lowest), format(highest)];
  if (low === high) return high;
  const ends = `${low} to ${high}`;
  return mean === null ? ends : `${format(mean)} (${ends})`;
}

export function drawCrosshair(ctx: Context, frame: Frame, rows: readonly Row[]): void {
  const { pointer, palette } = frame;
  if (!pointer) return;
  const time = timeAt(frame, pointer.x);
  ctx.fillStyle = palette.text;
  ctx.globalAlpha = 0.4;
  ctx.fillRect(Math.round(pointer.x), 0, 1, frame.height);
  ctx.globalAlpha = 1;
  for (const row of rows) {
    const curve = row.counter >= 0 ? frame.curves.get(row.key) : undefined;
    const value = curve && valueAt(curve, time);
    if (!curve || !value) continue;
    const top = topOf(frame, row);
    const y = yOfCurve(curve, top, row.height, value.mean ?? value.highest);
    ctx.fillStyle = palette.text;
    ctx.fillRect(Math.round(pointer.x) - 2, Math.round(y) - 2, 5, 5);
    const text = valueText(value, curve);
    const room = ctx.measureText(text).width + AWAY + 4;
    const free = frame.width - pointer.x;
    const right = pointer.x < room || (free < CARD && free > room);
    const left = right ? pointer.x + AWAY : pointer.x - room + 4;
    plate(ctx, frame, text, left, Math.min(Math.max(y, top + 9), top + row.height - 9));
  }
}

/** Lowest, mean and highest over the chosen area, at its begin. */
export function drawFigures(ctx: Context, frame: Frame, rows: readonly Row[]): void {
  if (!frame.area) return;
  const columns = columnsOf(frame, frame.area.t0, frame.area.t1);
  if (!columns) return;
  for (const row of rows) {
    const curve = frame.curves.get(row.key);
    const value = frame.figures.get(row.key);
    if (row.counter < 0 || !curve || !value) continue;
    const text = figuresText(value, curve);
    const left = Math.min(columns[0] + 5, frame.width - ctx.measureText(text).width - 8);
    plate(ctx, frame, text, Math.max(4, left), topOf(frame, row) + row.height - 10);
  }
}

export function figuresText({ lowest, highest, mean }: CurveValue, { format }: Curve): string {
  const middle = mean === null ? "" : ` · mean ${format(mean)}`;
  return `min ${format(lowest)}${middle} · max ${format(highest)}`;
}

function plate(ctx: Context, frame: Frame, text: string, left: number, middle: number): void {
  ctx.globalAlpha = 0.9;
  ctx.fillStyle = frame.palette.ground;
  ctx.fillRect(left - 3, middle - 7, ctx.measureText(text).width + 6, 14);
  ctx.globalAlpha = 1;
  ctx.fillStyle = frame.palette.text;
  ctx.fillText(text, left, middle);
}
