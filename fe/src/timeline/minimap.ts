/** The minimap: what was busy over the whole span, and the window that is in view. Geometry is pure; drawing is below it. */

import { prepare } from "./draw_ruler";
import type { Activity, Heat } from "./props";
import type { Boundary, Mark, Palette, TimeRange } from "./types";
import { lengthOf, timeAt, whole, xAt } from "./viewport";

export const MINIMAP_HEIGHT = 40;
/** The window is at least this wide to the hand, px. */
const LEAST_GRIP = 14;
const EDGE = 5;

export type Grip = "left" | "right" | "inside" | "outside";

/** The window as px; where it is too narrow to be held, a wider stretch about it. */
export function windowOf(view: TimeRange, span: TimeRange, width: number): { x0: number; x1: number } {
  const all = whole(span);
  return { x0: xAt(all, width, view.t0), x1: xAt(all, width, view.t1) };
}

/** What a pointer takes hold of. A narrow window can only be moved: its edges would be hit by chance. */
export function gripAt(x: number, view: TimeRange, span: TimeRange, width: number): Grip {
  const { x0, x1 } = windowOf(view, span, width);
  if (x1 - x0 < LEAST_GRIP) return Math.abs(x - (x0 + x1) / 2) <= LEAST_GRIP / 2 ? "inside" : "outside";
  if (Math.abs(x - x0) <= EDGE) return "left";
  if (Math.abs(x - x1) <= EDGE) return "right";
  return x > x0 && x < x1 ? "inside" : "outside";
}

/** The view after a drag from one column to another. Outside the window a drag draws a new one; the whole span has nothing to move, so it draws too. */
export function draggedTo(grip: Grip, view: TimeRange, span: TimeRange, width: number, from: number, to: number): TimeRange {
  const all = whole(span);
  const by = ((to - from) / width) * lengthOf(all);
  if (grip === "left") return ordered(view.t0 + by, view.t1);
  if (grip === "right") return ordered(view.t0, view.t1 + by);
  if (grip === "inside" && lengthOf(view) < lengthOf(all) * 0.999) return { t0: view.t0 + by, t1: view.t1 + by };
  return ordered(timeAt(all, width, from), timeAt(all, width, to));
}

function ordered(a: number, b: number): TimeRange {
  return a <= b ? { t0: a, t1: b } : { t0: b, t1: a };
}

/** The view of the same length about a column, for a click. */
export function centredAt(x: number, view: TimeRange, span: TimeRange, width: number): TimeRange {
  const time = timeAt(whole(span), width, x);
  const half = lengthOf(view) / 2;
  return { t0: time - half, t1: time + half };
}

/** Highest value of each of `columns` equal columns; parts narrower than a column must not get lost. */
export function highest(values: readonly number[], columns: number): Float64Array {
  const found = new Float64Array(columns);
  for (let x = 0; x < columns; x++) {
    const from = Math.floor((x / columns) * values.length);
    const to = Math.max(from + 1, Math.ceil(((x + 1) / columns) * values.length));
    for (let i = from; i < to; i++) found[x] = Math.max(found[x] ?? 0, values[i] ?? 0);
  }
  return found;
}

export interface MinimapFrame {
  width: number;
  ratio: number;
  span: TimeRange;
  view: TimeRange;
  activity: Activity;
  boundaries: readonly Boundary[];
  marks: readonly Mark[];
  heat: Heat | null;
  palette: Palette;
  /** Colours of the two densities. */
  device: string;
  host: string;
}

export function drawMinimap(canvas: HTMLCanvasElement, frame: MinimapFrame): void {
  const ctx = prepare(canvas, frame.width, MINIMAP_HEIGHT, frame.ratio);
  if (!ctx) return;
  const { device, host } = frame.activity;
  const half = device && host ? MINIMAP_HEIGHT / 2 : MINIMAP_HEIGHT - 4;
  if (device) drawDensity(ctx, frame, device, frame.device, half, half - 3);
  if (host) drawDensity(ctx, frame, host, frame.host, MINIMAP_HEIGHT - 2, half - 3);
  drawTimes(ctx, frame);
  drawWindow(ctx, frame);
}

/** Bars that stand on `bottom`: 255 is `height` px. */
function drawDensity(ctx: CanvasRenderingContext2D, { width, span }: MinimapFrame, values: readonly number[], colour: string, bottom: number, height: number): void {
  const all = whole(span);
  const x0 = xAt(all, width, span.t0);
  const columns = Math.max(1, Math.round(xAt(all, width, span.t1) - x0));
  const heights = highest(values, columns);
  ctx.fillStyle = colour;
  for (let x = 0; x < columns; x++) {
    const value = heights[x] ?? 0;
    if (value > 0) ctx.fillRect(x0 + x, bottom - Math.max(1, (value / 255) * height), 1, Math.max(1, (value / 255) * height));
  }
}

function drawTimes(ctx: CanvasRenderingContext2D, { width, span, boundaries, marks, heat, palette, ratio }: MinimapFrame): void {
  const all = whole(span);
  ctx.fillStyle = palette.muted;
  ctx.globalAlpha = 0.45;
  // Steps closer than this would be a grey block.
  if (boundaries.length <= width / 6) for (const step of boundaries) ctx.fillRect(xAt(all, width, step.start), 0, 1 / ratio, MINIMAP_HEIGHT);
  ctx.globalAlpha = 1;
  for (const mark of marks) {
    ctx.fillStyle = mark.kind === "defect" ? palette.warn : palette.accent;
    const x = xAt(all, width, mark.start);
    ctx.fillRect(x - 0.5, 0, Math.max(1.5, xAt(all, width, mark.end) - x), 4);
  }
  if (heat) drawHeat(ctx, heat, all, width, palette.accent);
}

function drawHeat(ctx: CanvasRenderingContext2D, heat: Heat, all: TimeRange, width: number, colour: string): void {
  const { counts, range } = heat;
  const most = counts.reduce((a, b) => Math.max(a, b), 0);
  if (most === 0) return;
  ctx.fillStyle = colour;
  const step = lengthOf(range) / counts.length;
  counts.forEach((count, i) => {
    if (count === 0) return;
    const x = xAt(all, width, range.t0 + i * step);
    // Even a single hit among thousands must be found.
    ctx.globalAlpha = 0.45 + 0.55 * (count / most);
    ctx.fillRect(x, MINIMAP_HEIGHT - 5, Math.max(1.5, xAt(all, width, range.t0 + (i + 1) * step) - x), 5);
  });
  ctx.globalAlpha = 1;
}

/** What is out of view recedes; the window's edges can be seen and held. */
function drawWindow(ctx: CanvasRenderingContext2D, { width, span, view, palette, ratio }: MinimapFrame): void {
  const { x0, x1 } = windowOf(view, span, width);
  const from = Math.max(0, x0);
  const to = Math.min(width, Math.max(x1, from + 1.5));
  ctx.fillStyle = palette.ground;
  ctx.globalAlpha = 0.62;
  ctx.fillRect(0, 0, from, MINIMAP_HEIGHT);
  ctx.fillRect(to, 0, width - to, MINIMAP_HEIGHT);
  ctx.globalAlpha = 1;
  ctx.fillStyle = palette.accent;
  const line = Math.max(1, 1 / ratio);
  ctx.fillRect(from, 0, to - from, line);
  ctx.fillRect(from, MINIMAP_HEIGHT - line, to - from, line);
  ctx.fillRect(from, 0, 1.5, MINIMAP_HEIGHT);
  ctx.fillRect(to - 1.5, 0, 1.5, MINIMAP_HEIGHT);
  if (to - from < LEAST_GRIP) return;
  for (const x of [from, to]) {
    ctx.beginPath();
    ctx.roundRect(Math.max(0, Math.min(width - 5, x - 2.5)), MINIMAP_HEIGHT / 2 - 7, 5, 14, 2.5);
    ctx.fill();
  }
}
