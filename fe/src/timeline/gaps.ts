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
  const extents = new Map<number, [number, number]>();
  for (const row of rows) {
    const top = topOf(frame, row);
    const known = extents.get(row.source)?.[0] ?? top;
    extents.set(row.source, [known, Math.min(bottom, top + row.height - 1)]);
  }
  ctx.textAlign = "center";
  for (const gap of inSight(frame)) {
    const extent = extents.get(gap.source);
    if (!extent) continue;
    const [top, end] = extent;
    const from = Math.max(-1, xAt(frame, gap.start));
    const width = Math.max(LEAST, Math.min(frame.width + 1, xAt(frame, gap.end)) - from);
    const [ground, stroke] = gap.lost ? frame.palette.lost : frame.palette.gained;
    const dim = frame.litGroup !== null && frame.litGroup !== gap.group;
    ctx.globalAlpha = dim ? DIMMED : 1;
    ctx.fillStyle = width < HATCH ? stroke : ground;
    ctx.fillRect(from, top, width, end - top);
    if (width < HATCH) continue;
    hatch(ctx, { from, width, top, height: end - top, lean: gap.lost ? 1 : -1, stroke });
    if (width < LABELLED) continue;
    const middle = Math.max(top, 0) + 11;
    const [size] = gap.about;
    const room = ctx.measureText(size).width + 8;
    ctx.fillStyle = ground;
    ctx.fillRect(from + width / 2 - room / 2, middle - 8, room, 16);
    ctx.fillStyle = stroke;
    ctx.fillText(size, from + width / 2, middle);
  }
  ctx.globalAlpha = 1;
  ctx.textAlign = "start";
}

interface Hatched {
  from: number;
  width: number;
  top: number;
  height: number;
  lean: 1 | -1;
  stroke: string;
}

function hatch(ctx: Context, { from, width, top, height, lean, stroke }: Hatched): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(from, top, width, height);
  ctx.clip();
  ctx.beginPath();
  ctx.strokeStyle = stroke;
  ctx.lineWidth = 1.5;
  // In step with the canvas, so that gaps that touch go on in each other.
  for (let at = from - height - (from % HATCH); at < from + width + height; at += HATCH) {
    ctx.moveTo(at, lean > 0 ? top + height : top);
    ctx.lineTo(at + height, lean > 0 ? top : top + height);
  }
  ctx.stroke();
  ctx.restore();
}
