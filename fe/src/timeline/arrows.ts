/** Arrows between slices: curved, with heads, those of the selected slice over the others. */

import type { Point } from "./gestures";
import type { Arrow, Context, Frame, Palette, Row } from "./types";
import { topOf, xAt } from "./viewport";

const HEAD = 6;
/** Css px that an end may lie outside the canvas before the arrow is left out or its line is cut there. */
const FAR = 4000;

/** Heights of lanes, for those that have no row in sight, too. */
class Heights {
  private readonly frame: Frame;
  private readonly lanes: { source: number; lane: number; y: number; pinned: boolean }[];

  constructor(frame: Frame) {
    this.frame = frame;
    const middle = (row: Row): number => topOf(frame, row) + row.height / 2;
    this.lanes = frame.rows
      .filter((row) => row.lane >= 0)
      .map((row) => ({ source: row.source, lane: row.lane, y: middle(row), pinned: row.pinned }))
      .sort((a, b) => a.source - b.source || a.lane - b.lane);
  }

  /** The middle of the lane's row. A lane without one is behind the edge of the canvas, or in the folded row of the lane before it. */
  of(source: number, lane: number): number {
    const ofLane = this.lanes.filter((entry) => entry.source === source && entry.lane === lane);
    const shown = ofLane.find((entry) => !entry.pinned) ?? ofLane[0];
    if (shown) return Math.max(shown.y, shown.pinned ? 0 : this.frame.pinnedHeight);
    const loose = this.lanes.filter((entry) => !entry.pinned);
    const next = loose.findIndex(
      (entry) => entry.source > source || (entry.source === source && entry.lane > lane),
    );
    if (next === 0) return this.frame.pinnedHeight - HEAD;
    return next < 0 ? this.frame.height + HEAD : (loose[next - 1]?.y ?? this.frame.height);
  }
}

/** Draws arrows that have something in sight; returns how many. */
export function drawArrows(ctx: Context, frame: Frame): number {
  if (frame.arrows.length === 0) return 0;
  const heights = new Heights(frame);
  const ends = (arrow: Arrow): readonly [Point, Point] => [
    pointOf(frame, heights, arrow.source),
    pointOf(frame, heights, arrow.target),
  ];
  let drawn = 0;
  for (const strong of [false, true]) {
    const shown = frame.arrows
      .filter((arrow) => arrow.strong === strong)
      .map(ends)
      .filter(([from, to]) => inSight(frame, from, to));
    if (shown.length) drawAll(ctx, shown, frame.palette, strong);
    drawn += shown.length;
  }
  return drawn;
}

function pointOf(frame: Frame, heights: Heights, end: Arrow["source"]): Point {
  const x = xAt(frame.view, frame.width, end.time);
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
  strong: boolean,
): void {
  const colour = strong ? accent : muted;
  ctx.beginPath();
  for (const [from, to] of arrows) curve(ctx, from, to);
  if (strong) {
    // A rim, because the line crosses slices of any colour.
    ctx.strokeStyle = ground;
    ctx.lineWidth = 4.5;
    ctx.globalAlpha = 0.75;
    ctx.stroke();
  }
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.lineWidth = strong ? 2 : 1;
  ctx.globalAlpha = strong ? 1 : 0.6;
  ctx.stroke();
  ctx.beginPath();
  for (const [, to] of arrows) head(ctx, to, strong ? HEAD + 2 : HEAD);
  ctx.fill();
  ctx.globalAlpha = 1;
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

/** The curve arrives from the left, whichever way it came, so every head points to the right. */
function head(ctx: Context, to: Point, size: number): void {
  ctx.moveTo(to.x, to.y);
  ctx.lineTo(to.x - size - 1, to.y - size / 2);
  ctx.lineTo(to.x - size - 1, to.y + size / 2);
  ctx.closePath();
}
