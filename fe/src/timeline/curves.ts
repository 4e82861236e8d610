/** A counter over time: a filled area of steps, with the span of its values behind where a px holds several. */

import { topOf, xAt } from "./viewport";
import type { Context, Curve, Frame, Row } from "./types";

/** Css px left free above and below the curve. */
const MARGIN = 3;

interface Axis {
  y: (value: number) => number;
  base: number;
}

function axisOf(curve: Curve, top: number, height: number): Axis {
  const length = curve.to - curve.from || 1;
  const bottom = top + height - MARGIN;
  const room = height - 2 * MARGIN;
  const y = (value: number): number =>
    bottom - ((Math.min(Math.max(value, curve.from), curve.to) - curve.from) / length) * room;
  return { y, base: y(curve.from <= 0 && curve.to >= 0 ? 0 : curve.from) };
}

/** Where a value of the curve is drawn. */
export const yOfCurve = (curve: Curve, top: number, height: number, value: number): number =>
  axisOf(curve, top, height).y(value);

export function drawCurve(ctx: Context, frame: Frame, row: Row, top: number, curve: Curve): void {
  const colour = frame.palette.curve;
  const axis = axisOf(curve, top, row.height);
  // Full up to the mean, or to what holds all the time; pale from there to the highest value of each px. Nothing twice, which would show as stripes.
  const solid = curve.mean ?? curve.lowest;
  ctx.fillStyle = colour;
  ctx.globalAlpha = 0.14;
  area(ctx, frame, curve, curve.highest, (i) => axis.y(solid[i] ?? NaN), axis);
  ctx.globalAlpha = 0.32;
  area(ctx, frame, curve, solid, () => axis.base, axis);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1;
  line(ctx, frame, curve, curve.mean ?? curve.highest, axis);
}

/** Calls `fn` for stretches of known values that do not change, with their edges in css px. */
function stretches(
  frame: Frame,
  curve: Curve,
  values: Float64Array,
  fn: (x0: number, x1: number, i: number) => void,
): void {
  const { t0, t1 } = curve.range;
  const count = curve.highest.length;
  const length = (t1 - t0) / Math.max(1, count);
  const first = Math.max(0, Math.floor((frame.view.t0 - t0) / length));
  const last = Math.min(count, Math.ceil((frame.view.t1 - t0) / length));
  const x = (i: number): number => xAt(frame, t0 + i * length);
  const same = (a: number, b: number): boolean =>
    curve.highest[a] === curve.highest[b] &&
    curve.lowest[a] === curve.lowest[b] &&
    values[a] === values[b];
  for (let i = first; i < last;) {
    let next = i + 1;
    while (next < last && same(next, i)) next++;
    if (!Number.isNaN(values[i])) fn(x(i), x(next), i);
    i = next;
  }
}

/**
 * Rectangle by rectangle: one path of thousands of them takes a browser without a GPU longer than a frame, because it smooths their edges. They begin
 * and end on whole device px, because smoothed edges side by side show as seams.
 */
function area(
  ctx: Context,
  frame: Frame,
  curve: Curve,
  values: Float64Array,
  bottom: (i: number) => number,
  axis: Axis,
): void {
  const snapped = (x: number): number => Math.round(x * frame.ratio) / frame.ratio;
  stretches(frame, curve, values, (x0, x1, i) => {
    const y = axis.y(values[i] ?? NaN);
    const base = bottom(i);
    const left = snapped(x0);
    const right = snapped(x1);
    if (base !== y && right > left)
      ctx.fillRect(left, Math.min(y, base), right - left, Math.abs(base - y));
  });
}

function line(ctx: Context, frame: Frame, curve: Curve, values: Float64Array, axis: Axis): void {
  let end = NaN;
  ctx.beginPath();
  stretches(frame, curve, values, (x0, x1, i) => {
    const y = axis.y(values[i] ?? NaN);
    if (x0 === end) ctx.lineTo(x0, y);
    else ctx.moveTo(x0, y);
    ctx.lineTo(x1, y);
    end = x1;
  });
  ctx.stroke();
}

/** The ends of the axes, over all that is drawn on the rows. */
export function drawCurveScales(ctx: Context, frame: Frame): void {
  for (const row of frame.rows) {
    const curve = row.counter >= 0 ? frame.curves.get(row.key) : undefined;
    const top = topOf(frame, row);
    if (curve && (row.pinned || top >= frame.pinnedHeight)) scale(ctx, frame, row, top, curve);
  }
}

function scale(ctx: Context, frame: Frame, row: Row, top: number, curve: Curve): void {
  const bounds: [number, number][] = [[curve.to, top + 8]];
  if (row.height >= 36) bounds.push([curve.from, top + row.height - 8]);
  for (const [value, middle] of bounds) {
    const text = curve.format(value);
    const left = frame.width - ctx.measureText(text).width - 4;
    ctx.globalAlpha = 0.9;
    ctx.fillStyle = frame.palette.ground;
    ctx.fillRect(left - 3, middle - 7, frame.width - left + 3, 13);
    ctx.globalAlpha = 1;
    ctx.fillStyle = frame.palette.muted;
    ctx.fillText(text, left, middle);
  }
}
