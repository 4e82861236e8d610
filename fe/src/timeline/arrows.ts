/** Arrows between slices: curved, with heads, those of the selected slice over the others. */

import type { Point } from "./gestures";
import type { Arrow, Context, Frame, Palette, Row } from "./types";
import { topOf, xAt } from "./viewport";

const HEAD = 6;
/** Css px that an end may lie outside the canvas before the arrow is left out or its line is cut there. */
const FAR = 4000;

/** Heights of lanes, for those that have no row in sight, too. */
class Heights {
  readonly #frame: Frame;
  readonly #lanes: { source: number; lane: number; y: number; pinned: boolean }[];

  constructor(frame: Frame) {
    this.#frame = frame;
    const middle = (row: Row): number => topOf(frame, row) + row.height / 2;
    this.#lanes = frame.rows
      .filter((row) => row.lane >= 0)
      .map((row) => ({ source: row.source, lane: row.lane, y: middle(row), pinned: row.pinned }))
      .sort((a, b) => a.source - b.source || a.lane - b.lane);
  }

  /** The middle of the lane's row. A lane without one is behind the edge of the canvas, or in the folded row of the lane before it. */
  of(source: number, lane: number): number {
    const ofLane = this.#lanes.filter((entry) => entry.source === source && entry.lane === lane);
    const shown = ofLane.find((entry) => !entry.pinned) ?? ofLane[0];
    if (shown) return Math.max(shown.y, shown.pinned ? 0 : this.#frame.pinnedHeight);
    const loose = this.#lanes.filter((entry) => !entry.pinned);
    const next = loose.findIndex(
      (entry) => entry.source > source || (entry.source === source && entry.lane > lane),
    );
    if (next === 0) return this.#frame.pinnedHeight - HEAD;
    return next < 0 ? this.#frame.height + HEAD : (loose[next - 1]?.y ?? this.#frame.height);
  }
}

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
  const heights = new Heights(frame);
  const ends = (arrow: Arrow): readonly [Point, Point] => [
    pointOf(frame, heights, arrow.source),
    pointOf(frame, heights, arrow.target),
  ];
  let drawn = 0;
  for (const style of STYLES) {
    const shown = frame.arrows
      .filter((arrow) => styleOf(arrow) === style)
      .map(ends)
      .filter(([from, to]) => inSight(frame, from, to));
    if (shown.length) drawAll(ctx, shown, frame.palette, style);
    drawn += shown.length;
  }
  return drawn;
}

function pointOf(frame: Frame, heights: Heights, end: Arrow["source"]): Point {
  const x = xAt(frame, end.time);
  return { x: Math.min(Math.max(x, -FAR), frame.width + FAR), y: heights.of(end.source, end.lane) };
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
  for (const [from, to] of arrows)
    if (style.straight) line(ctx, from, to);
    else curve(ctx, from, to);
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

function line(ctx: Context, from: Point, to: Point): void {
  ctx.moveTo(from.x, from.y);
  ctx.lineTo(to.x, to.y);
}

/** How far the control points stand off: enough for a bow when both ends are at one time. */
function bend(from: Point, to: Point): number {
  const across = Math.abs(to.x - from.x);
  return Math.min(120, Math.max(across / 2, Math.min(24, Math.abs(to.y - from.y) / 3)));
}

function curve(ctx: Context, from: Point, to: Point): void {
  const off = bend(from, to);
  ctx.moveTo(from.x, from.y);
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
