/** Arrows between slices: curved, with heads, those of the selected slice over the others. */

import type { Point } from "./gestures";
import { sameLane, type LaneOfSource } from "./rows";
import type { Arrow, Context, Frame, Palette } from "./types";
import { topOf, xAt } from "./viewport";

const HEAD = 6;
/** Css px that an end may lie outside the canvas before the arrow is left out or its line is cut there. */
const FAR = 4000;

/** The middle of a lane's row. A lane without one is behind the edge of the canvas, or in the folded row of the lane before it. */
function heightsOf(frame: Frame): (end: LaneOfSource) => number {
  const lanes = frame.rows
    .filter((row) => row.lane >= 0)
    .map((row) => ({ ...row, y: topOf(frame, row) + row.height / 2 }))
    .sort(order);
  const loose = lanes.filter(({ pinned }) => !pinned);
  return (end) => {
    const ofLane = lanes.filter((lane) => sameLane(lane, end));
    const shown = ofLane.find(({ pinned }) => !pinned) ?? ofLane[0];
    if (shown) return Math.max(shown.y, shown.pinned ? 0 : frame.pinnedHeight);
    const next = loose.findIndex((lane) => order(lane, end) > 0);
    if (next === 0) return frame.pinnedHeight - HEAD;
    return next < 0 ? frame.height + HEAD : (loose[next - 1]?.y ?? frame.height);
  };
}

const order = (a: LaneOfSource, b: LaneOfSource): number => a.source - b.source || a.lane - b.lane;

interface Style {
  width: number;
  alpha: number;
  head: number;
  accent: boolean;
  straight: boolean;
}

const FAINT: Style = { width: 1, alpha: 0.6, head: HEAD, accent: false, straight: false };
const STRAIGHT: Style = { width: 1.5, alpha: 1, head: HEAD + 1, accent: true, straight: true };
const STRONG: Style = { width: 2, alpha: 1, head: HEAD + 2, accent: true, straight: false };
const STYLES = [FAINT, STRAIGHT, STRONG];

const styleOf = ({ strong, straight }: Arrow): Style =>
  straight ? STRAIGHT : strong ? STRONG : FAINT;

/** Draws arrows that have something in sight; returns how many. */
export function drawArrows(ctx: Context, frame: Frame): number {
  if (frame.arrows.length === 0) return 0;
  const heightOf = heightsOf(frame);
  const pointOf = (end: Arrow["source"]): Point => {
    const x = xAt(frame, end.time);
    return { x: Math.min(Math.max(x, -FAR), frame.width + FAR), y: heightOf(end) };
  };
  let drawn = 0;
  for (const style of STYLES) {
    const shown = frame.arrows
      .filter((arrow) => styleOf(arrow) === style)
      .map(({ source, target }) => [pointOf(source), pointOf(target)] as const)
      .filter(([from, to]) => inSight(frame, from, to));
    if (shown.length) drawAll(ctx, shown, frame.palette, style);
    drawn += shown.length;
  }
  return drawn;
}

function inSight(frame: Frame, from: Point, to: Point): boolean {
  if (Math.max(from.x, to.x) < 0 || Math.min(from.x, to.x) > frame.width) return false;
  return Math.max(from.y, to.y) >= 0 && Math.min(from.y, to.y) <= frame.height;
}

function drawAll(
  ctx: Context,
  arrows: readonly (readonly [Point, Point])[],
  { accent, muted, ground }: Palette,
  style: Style,
): void {
  const colour = style.accent ? accent : muted;
  ctx.beginPath();
  for (const [from, to] of arrows) line(ctx, from, to, style.straight);
  if (style.accent) {
    // A rim, because the line crosses slices of any colour.
    ctx.strokeStyle = ground;
    ctx.lineWidth = style.width + 2.5;
    ctx.globalAlpha = 0.75;
    ctx.stroke();
  }
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.lineWidth = style.width;
  ctx.globalAlpha = style.alpha;
  ctx.stroke();
  ctx.beginPath();
  for (const [from, to] of arrows)
    head(ctx, to, style.head, style.straight ? Math.atan2(to.y - from.y, to.x - from.x) : 0);
  ctx.fill();
  ctx.globalAlpha = 1;
}

function line(ctx: Context, from: Point, to: Point, straight: boolean): void {
  ctx.moveTo(from.x, from.y);
  if (straight) {
    ctx.lineTo(to.x, to.y);
    return;
  }
  // The control points stand off enough for a bow when both ends are at one time.
  const least = Math.min(24, Math.abs(to.y - from.y) / 3);
  const off = Math.min(120, Math.max(Math.abs(to.x - from.x) / 2, least));
  ctx.bezierCurveTo(from.x + off, from.y, to.x - off - HEAD, to.y, to.x - HEAD, to.y);
}

/** Points where the line arrives from: a curve from the left, whichever way it came. */
function head(ctx: Context, to: Point, size: number, angle: number): void {
  const [along, across] = [size + 1, size / 2];
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  ctx.moveTo(to.x, to.y);
  ctx.lineTo(to.x - along * cos + across * sin, to.y - along * sin - across * cos);
  ctx.lineTo(to.x - along * cos - across * sin, to.y - along * sin + across * cos);
  ctx.closePath();
}
