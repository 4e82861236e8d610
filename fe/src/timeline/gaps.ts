/** Gaps in which a source waits for another one on the axis: hatched over all its rows, with their sizes where there is room. */

import { firstWhere } from "../base/bisect";
import type { Context, Frame, Gap, Row } from "./types";
import { topOf, xAt } from "./viewport";

/** Narrower ones, px, are drawn this wide: they are told. */
const LEAST = 1;
/** From this width on, px, the size is written. */
const LABELLED = 60;
const HATCH = 7;
const DIMMED = 0.2;
/** How much there is of a gap that is too narrow to be hatched: as much as strokes of a hatched one. */
const NARROW = 0.55;

/** Those in sight; they are in order of time. */
function inSight({ gaps, view }: Frame): Gap[] {
  const first = firstWhere(0, gaps.length, (i) => (gaps[i]?.end ?? 0) >= view.t0);
  const last = firstWhere(first, gaps.length, (i) => (gaps[i]?.start ?? 0) > view.t1);
  return gaps.slice(first, last);
}

export const gapAt = (frame: Frame, { source }: Row, time: number): Gap | undefined =>
  inSight(frame).find((gap) => gap.source === source && gap.start <= time && time < gap.end);

/** `bottom`: of what is drawn of these rows. */
export function drawGaps(ctx: Context, frame: Frame, rows: readonly Row[], bottom: number): void {
  const gaps = inSight(frame);
  if (!gaps.length) return;
  const extents = new Map<number, [number, number]>();
  for (const row of rows) {
    const top = topOf(frame, row);
    extents.set(row.source, [extents.get(row.source)?.[0] ?? top, top + row.height - 1]);
  }
  for (const [source, [top, end]] of extents) {
    const own = gaps.filter((gap) => gap.source === source);
    const lit = ({ group }: Gap): boolean => frame.litGroup === null || frame.litGroup === group;
    const height = Math.min(bottom, end) - top;
    ctx.globalAlpha = DIMMED;
    drawOf(
      ctx,
      frame,
      own.filter((gap) => !lit(gap)),
      top,
      height,
    );
    ctx.globalAlpha = 1;
    drawOf(ctx, frame, own.filter(lit), top, height);
  }
}

/** Gaps of a source: all grounds, then all strokes at once, however many there are. */
function drawOf(
  ctx: Context,
  frame: Frame,
  gaps: readonly Gap[],
  top: number,
  height: number,
): void {
  const [first] = gaps;
  if (!first) return;
  const [ground, stroke] = first.lost ? frame.palette.lost : frame.palette.gained;
  const drawn = gaps.map((gap) => {
    const from = Math.max(-1, xAt(frame, gap.start));
    const width = Math.max(LEAST, Math.min(frame.width + 1, xAt(frame, gap.end)) - from);
    return { gap, from, width };
  });
  const wide = drawn.filter(({ width }) => width >= HATCH);
  ctx.fillStyle = stroke;
  const alpha = ctx.globalAlpha;
  ctx.globalAlpha = alpha * NARROW;
  for (const { from, width } of drawn) if (width < HATCH) ctx.fillRect(from, top, width, height);
  ctx.globalAlpha = alpha;
  ctx.save();
  ctx.beginPath();
  for (const { from, width } of wide) ctx.rect(from, top, width, height);
  ctx.clip();
  ctx.fillStyle = ground;
  ctx.fillRect(0, top, frame.width, height);
  ctx.beginPath();
  ctx.strokeStyle = stroke;
  ctx.lineWidth = 1.5;
  if (wide.length)
    for (let at = -height; at < frame.width; at += HATCH) {
      ctx.moveTo(at, first.lost ? top + height : top);
      ctx.lineTo(at + height, first.lost ? top : top + height);
    }
  ctx.stroke();
  ctx.restore();
  ctx.textAlign = "center";
  const middle = Math.max(top, 0) + 11;
  for (const { gap, from, width } of wide) {
    if (width < LABELLED) continue;
    const [size] = gap.about;
    const room = ctx.measureText(size).width + 8;
    ctx.fillStyle = ground;
    ctx.fillRect(from + width / 2 - room / 2, middle - 8, room, 16);
    ctx.fillStyle = stroke;
    ctx.fillText(size, from + width / 2, middle);
  }
  ctx.textAlign = "start";
}
