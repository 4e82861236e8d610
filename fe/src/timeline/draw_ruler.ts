import { clamp } from "../base/clamp";
import { ticksOf, timeOnScreen, type Ticks } from "./ruler";
import type { Context, Frame, TimeRange } from "./types";
import { columnsOf, nsPerPx, xAt } from "./viewport";

export const STEP_BAND = 18;
export const TICK_BAND = 22;

/** What the scales draw of what the canvas does. */
export type Scaled = Pick<Frame, "width" | "ratio" | "view" | "boundaries" | "marks" | "palette">;

export interface RulerFrame extends Scaled {
  height: number;
  origin: number;
  /** Stretch that is chosen: an area, else the selected slice. */
  chosen: TimeRange | null;
  /** Time under the pointer; `null`: it is not on the canvas. */
  pointer: number | null;
  font: string;
}

/** A context for css px, cleared. `null` where the browser has none. */
export function prepare(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  ratio: number,
): Context | null {
  const w = Math.round(width * ratio);
  const h = Math.round(height * ratio);
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  const ctx = canvas.getContext("2d");
  if (!ctx) return null;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  return ctx;
}

export function drawRuler(canvas: HTMLCanvasElement, frame: RulerFrame): void {
  const ctx = prepare(canvas, frame.width, frame.height, frame.ratio);
  if (!ctx) return;
  const ticks = ticksOf(frame.view, frame.width, frame.origin);
  ctx.textBaseline = "middle";
  ctx.font = `11px ${frame.font}`;
  if (frame.boundaries.length > 0) drawSteps(ctx, frame);
  drawChosen(ctx, frame);
  drawTicks(ctx, frame, ticks);
  drawMarks(ctx, frame);
  if (ticks.offset) drawOffset(ctx, frame, ticks.offset);
  drawPointer(ctx, frame);
}

/** Lines of one device px stand between px. */
function crisp(x: number, ratio: number): number {
  return (Math.round(x * ratio) + 0.5) / ratio;
}

function drawSteps(ctx: Context, frame: RulerFrame): void {
  const { boundaries, palette, ratio } = frame;
  let last = -Infinity;
  boundaries.forEach((step, i) => {
    const columns = columnsOf(frame, step.start, step.end, 1);
    if (!columns || columns[1] - last < 1) return;
    const [x0, x1] = columns;
    last = x1;
    ctx.fillStyle = palette.muted;
    ctx.globalAlpha = i % 2 === 0 ? 0.16 : 0.08;
    ctx.fillRect(x0, 2, Math.max(1, x1 - x0 - 1 / ratio), STEP_BAND - 4);
    ctx.globalAlpha = 1;
    const room = x1 - Math.max(x0, 0) - 12;
    const full = `${step.name} · ${step.of}`;
    const text = ctx.measureText(full).width <= room ? full : fitted(ctx, step.name, room);
    if (!text) return;
    ctx.fillStyle = palette.text;
    ctx.fillText(text, Math.max(x0, 0) + 6, STEP_BAND / 2 + 0.5);
  });
}

/** The text, its last part when there is no room for all (steps differ in their number), or nothing. */
function fitted(ctx: Context, text: string, room: number): string {
  if (room < 8) return "";
  if (ctx.measureText(text).width <= room) return text;
  const end = /[^\w]?\w+$/.exec(text)?.[0] ?? "";
  return end && ctx.measureText(end).width <= room ? end : "";
}

function drawTicks(ctx: Context, frame: RulerFrame, { ticks, step, parts }: Ticks): void {
  const { view, width, height, palette, ratio } = frame;
  ctx.lineWidth = 1 / ratio;
  ctx.strokeStyle = palette.grid;
  const top = height - TICK_BAND;
  ctx.beginPath();
  const first = ticks[0] ? ticks[0].time - step : view.t0;
  for (let time = first; parts > 1 && time <= view.t1; time += step / parts)
    tickLine(ctx, crisp(xAt(frame, time), ratio), height - 4, height);
  ctx.stroke();
  ctx.strokeStyle = palette.muted;
  ctx.fillStyle = palette.muted;
  ctx.beginPath();
  for (const tick of ticks) {
    const x = crisp(xAt(frame, tick.time), ratio);
    tickLine(ctx, x, height - 8, height);
    // Half a label would be a wrong one.
    if (x + 4 + ctx.measureText(tick.label).width <= width)
      ctx.fillText(tick.label, x + 4, top + TICK_BAND / 2 - 1);
  }
  ctx.stroke();
}

function tickLine(ctx: Context, x: number, y0: number, y1: number): void {
  ctx.moveTo(x, y0);
  ctx.lineTo(x, y1);
}

/** What all labels are to be added to, at the left, over the ticks. */
function drawOffset(ctx: Context, { height, palette }: RulerFrame, offset: string): void {
  const text = `${offset} +`;
  const room = ctx.measureText(text).width + 14;
  ctx.fillStyle = palette.ground;
  ctx.fillRect(0, height - TICK_BAND, room + 4, TICK_BAND);
  ctx.fillStyle = palette.band;
  ctx.strokeStyle = palette.grid;
  ctx.beginPath();
  ctx.roundRect(2.5, height - TICK_BAND + 1.5, room - 4, TICK_BAND - 5, 4);
  ctx.fill();
  ctx.stroke();
  ctx.fillStyle = palette.text;
  ctx.fillText(text, 7, height - TICK_BAND / 2 - 1);
}

function drawChosen(ctx: Context, frame: RulerFrame): void {
  const { chosen, height, palette } = frame;
  if (!chosen) return;
  const x0 = xAt(frame, chosen.t0);
  const x1 = Math.max(x0 + 2, xAt(frame, chosen.t1));
  ctx.fillStyle = palette.accent;
  ctx.globalAlpha = 0.18;
  ctx.fillRect(x0, height - TICK_BAND, x1 - x0, TICK_BAND);
  ctx.globalAlpha = 1;
  ctx.fillRect(x0, height - 2, x1 - x0, 2);
}

function drawMarks(ctx: Context, frame: RulerFrame): void {
  const { marks, width, height, palette } = frame;
  for (const mark of marks) {
    const x0 = xAt(frame, mark.start);
    const x1 = xAt(frame, mark.end);
    if (x1 < -6 || x0 > width + 6) continue;
    ctx.fillStyle = mark.kind === "defect" ? palette.warn : palette.accent;
    if (x1 - x0 > 2) {
      ctx.globalAlpha = 0.25;
      ctx.fillRect(x0, height - 5, x1 - x0, 5);
      ctx.globalAlpha = 1;
    }
    flag(ctx, x0, height);
  }
}

function flag(ctx: Context, x: number, height: number): void {
  ctx.beginPath();
  ctx.moveTo(x, height);
  ctx.lineTo(x, height - 12);
  ctx.lineTo(x + 8, height - 9);
  ctx.lineTo(x + 1, height - 6);
  ctx.lineTo(x + 1, height);
  ctx.fill();
}

function drawPointer(ctx: Context, frame: RulerFrame): void {
  const { pointer, width, height, palette, origin } = frame;
  if (pointer === null) return;
  const x = xAt(frame, pointer);
  const text = timeOnScreen(pointer - origin, nsPerPx(frame));
  const room = ctx.measureText(text).width + 10;
  const left = clamp(x - room / 2, 0, width - room);
  ctx.fillStyle = palette.text;
  ctx.beginPath();
  ctx.roundRect(left, height - TICK_BAND + 1, room, TICK_BAND - 5, 4);
  ctx.fill();
  ctx.fillStyle = palette.ground;
  ctx.fillText(text, left + 5, height - TICK_BAND / 2 - 1);
}
