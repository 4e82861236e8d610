import { clamp } from "../base/clamp";
import { prepare, type Scaled } from "./draw_ruler";
import { highest, LEAST_GRIP, MINIMAP_HEIGHT, windowOf } from "./minimap";
import type { Activity, Heat } from "./props";
import type { Context, TimeRange } from "./types";
import { lengthOf, whole, xAt, type Scale } from "./viewport";

export interface MinimapFrame extends Scaled {
  span: TimeRange;
  activity: Activity;
  heat: Heat | null;
}

export class MinimapPainter {
  readonly #canvas: HTMLCanvasElement;
  readonly #densities: HTMLCanvasElement;
  #drawn: readonly unknown[] = [];

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
    this.#densities = document.createElement("canvas");
  }

  draw(frame: MinimapFrame): void {
    const { width, ratio } = frame;
    this.#drawDensities(frame);
    const ctx = prepare(this.#canvas, width, MINIMAP_HEIGHT, ratio);
    if (!ctx) return;
    if (this.#densities.width > 0) ctx.drawImage(this.#densities, 0, 0, width, MINIMAP_HEIGHT);
    drawTimes(ctx, frame);
    drawWindow(ctx, frame);
  }

  #drawDensities(frame: MinimapFrame): void {
    const { width, ratio, span, activity, palette } = frame;
    const now = [width, ratio, span.t0, span.t1, activity, palette];
    if (now.every((part, i) => part === this.#drawn[i])) return;
    this.#drawn = now;
    const ctx = prepare(this.#densities, width, MINIMAP_HEIGHT, ratio);
    if (!ctx) return;
    const { device, host } = activity;
    const half = device && host ? MINIMAP_HEIGHT / 2 : MINIMAP_HEIGHT - 4;
    if (device) drawDensity(ctx, frame, device, palette.device, half, half - 3);
    if (host) drawDensity(ctx, frame, host, palette.host, MINIMAP_HEIGHT - 2, half - 3);
  }
}

function drawDensity(
  ctx: Context,
  { width, span }: MinimapFrame,
  values: readonly number[],
  colour: string,
  bottom: number,
  height: number,
): void {
  const scale = { view: whole(span), width };
  const x0 = xAt(scale, span.t0);
  const columns = Math.max(1, Math.round(xAt(scale, span.t1) - x0));
  const heights = highest(values, columns);
  ctx.fillStyle = colour;
  for (let x = 0; x < columns; x++) {
    const high = Math.max(1, ((heights[x] ?? 0) / 255) * height);
    if (heights[x]) ctx.fillRect(x0 + x, bottom - high, 1, high);
  }
}

function drawTimes(ctx: Context, frame: MinimapFrame): void {
  const { width, span, boundaries, marks, heat, palette, ratio } = frame;
  const scale = { view: whole(span), width };
  ctx.fillStyle = palette.muted;
  ctx.globalAlpha = 0.45;
  // Steps closer than this would be a grey block.
  if (boundaries.length <= width / 6)
    for (const step of boundaries)
      ctx.fillRect(xAt(scale, step.start), 0, 1 / ratio, MINIMAP_HEIGHT);
  ctx.globalAlpha = 1;
  for (const mark of marks) {
    ctx.fillStyle = mark.kind === "defect" ? palette.warn : palette.accent;
    const x = xAt(scale, mark.start);
    ctx.fillRect(x - 0.5, 0, Math.max(1.5, xAt(scale, mark.end) - x), 4);
  }
  if (heat) drawHeat(ctx, heat, scale, palette.accent);
}

function drawHeat(ctx: Context, heat: Heat, scale: Scale, colour: string): void {
  const { counts, range } = heat;
  const most = counts.reduce((a, b) => Math.max(a, b), 0);
  if (most === 0) return;
  ctx.fillStyle = colour;
  const step = lengthOf(range) / counts.length;
  counts.forEach((count, i) => {
    if (count === 0) return;
    const x = xAt(scale, range.t0 + i * step);
    // Even a single hit among thousands must be found.
    ctx.globalAlpha = 0.45 + 0.55 * (count / most);
    const wide = xAt(scale, range.t0 + (i + 1) * step) - x;
    ctx.fillRect(x, MINIMAP_HEIGHT - 5, Math.max(1.5, wide), 5);
  });
  ctx.globalAlpha = 1;
}

/** What is out of view recedes; the window's edges can be seen and held. */
function drawWindow(ctx: Context, { width, span, view, palette, ratio }: MinimapFrame): void {
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
    ctx.roundRect(clamp(x - 2.5, 0, width - 5), MINIMAP_HEIGHT / 2 - 7, 5, 14, 2.5);
    ctx.fill();
  }
}
