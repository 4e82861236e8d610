/** What lies under and over the slices: bands of steps, marks, hatching, outlines, the area. Css px. */

import { firstWhere } from "../base/bisect";
import type { Boundary, Context, Frame, Row, Slice } from "./types";
import { sameLane } from "./rows";
import { columnsOf, topOf, xAt } from "./viewport";

/** Boundaries closer than this, px, would only be a grey veil. */
const CLOSEST = 4;
/** From this distance on they have their full strength, px. */
const WIDE = 80;
const HATCH = 7;
/** An outline is at least this wide, so that a slice of less than a px can be found. */
const LEAST_OUTLINE = 5;

/** Boundaries in sight that are wide enough to be told from each other, with their widths; they are in order of time. */
function boundariesInSight(frame: Frame) {
  const { boundaries, view } = frame;
  const first = firstWhere(0, boundaries.length, (i) => (boundaries[i]?.end ?? 0) >= view.t0);
  const found: { boundary: Boundary; even: boolean; width: number }[] = [];
  for (let i = first; i < boundaries.length; i++) {
    const boundary = boundaries[i];
    if (!boundary || boundary.start >= view.t1) break;
    const width = xAt(frame, boundary.end) - xAt(frame, boundary.start);
    if (width >= CLOSEST) found.push({ boundary, even: i % 2 === 0, width });
  }
  return found;
}

export function drawBands(ctx: Context, frame: Frame, top: number, bottom: number): void {
  ctx.fillStyle = frame.palette.band;
  for (const { boundary, even } of boundariesInSight(frame)) {
    const columns = even && columnsOf(frame, boundary.start, boundary.end);
    if (columns) ctx.fillRect(columns[0], top, columns[1] - columns[0], bottom - top);
  }
}

export function drawBoundaries(ctx: Context, frame: Frame): void {
  ctx.fillStyle = frame.palette.muted;
  let drawn = -Infinity;
  for (const { boundary, width } of boundariesInSight(frame)) {
    // The closer they stand the fainter they are, or they would hide what they divide.
    ctx.globalAlpha = 0.5 * Math.min(1, Math.max(0.2, width / WIDE));
    for (const time of [boundary.start, boundary.end]) {
      const at = Math.round(xAt(frame, time));
      // A step's end and the next one's begin are one line.
      if (at <= drawn + 1 || at < 0 || at > frame.width) continue;
      ctx.fillRect(at, 0, 1, frame.height);
      drawn = at;
    }
  }
  ctx.globalAlpha = 1;
}

export function drawMarks(ctx: Context, frame: Frame): void {
  for (const mark of frame.marks) {
    const columns = columnsOf(frame, mark.start, mark.end);
    if (!columns) continue;
    const [left, right] = columns;
    const width = right - left;
    ctx.fillStyle = mark.kind === "person" ? frame.palette.accent : frame.palette.warn;
    if (width >= 2) {
      ctx.globalAlpha = 0.1;
      ctx.fillRect(left, 0, width, frame.height);
    }
    ctx.globalAlpha = 0.9;
    ctx.fillRect(Math.round(xAt(frame, mark.start)) - 0.5, 0, 1.5, frame.height);
    if (width >= 2) ctx.fillRect(Math.round(xAt(frame, mark.end)) - 0.5, 0, 1.5, frame.height);
    ctx.globalAlpha = 1;
  }
}

export function drawArea(ctx: Context, frame: Frame): void {
  if (!frame.area) return;
  const columns = columnsOf(frame, frame.area.t0, frame.area.t1, 2);
  if (!columns) return;
  const [from, to] = columns;
  ctx.fillStyle = frame.palette.accent;
  ctx.globalAlpha = 0.14;
  ctx.fillRect(from, 0, to - from, frame.height);
  ctx.globalAlpha = 1;
  ctx.fillRect(Math.round(from), 0, 1, frame.height);
  ctx.fillRect(Math.round(to) - 1, 0, 1, frame.height);
}

/** Headers stand out from lanes, sub-rows of overlaps from their lane. */
export function drawRowGrounds(ctx: Context, frame: Frame, rows: readonly Row[]): void {
  ctx.fillStyle = frame.palette.grid;
  ctx.globalAlpha = 0.45;
  for (const row of rows)
    if (
      row.kind === "source" ||
      row.kind === "process" ||
      row.kind === "group" ||
      row.kind === "path"
    )
      ctx.fillRect(0, topOf(frame, row), frame.width, row.height);
  ctx.globalAlpha = 1;
  for (const row of rows) if (row.overlap) drawHatch(ctx, frame, topOf(frame, row), row.height);
}

/** Diagonals and an edge in the colour of warnings: what is here runs at the same time as what is above. */
function drawHatch(ctx: Context, frame: Frame, top: number, height: number): void {
  ctx.strokeStyle = frame.palette.warn;
  ctx.lineWidth = 1;
  ctx.globalAlpha = 0.22;
  ctx.beginPath();
  for (let at = -height; at < frame.width; at += HATCH) {
    ctx.moveTo(at, top + height - 1);
    ctx.lineTo(at + height - 1, top);
  }
  ctx.stroke();
  ctx.globalAlpha = 1;
  ctx.fillStyle = frame.palette.warn;
  ctx.fillRect(0, top, 3, height - 1);
}

/** Lines between rows; a quiet one above what begins a thread or stream. */
export function drawRowLines(ctx: Context, frame: Frame, rows: readonly Row[]): void {
  ctx.fillStyle = frame.palette.grid;
  for (const row of rows)
    if (row.kind !== "lane")
      ctx.fillRect(0, Math.round(topOf(frame, row) + row.height) - 1, frame.width, 1);
  ctx.globalAlpha = 0.6;
  for (const row of rows)
    if (row.kind === "lane" && row.label)
      ctx.fillRect(0, Math.round(topOf(frame, row)) - 1, frame.width, 1);
  ctx.globalAlpha = 1;
}

/** Frames around the slice under the pointer and the selected one, on every row that shows it. */
export function drawOutlines(ctx: Context, frame: Frame): void {
  const { hovered, selected, palette } = frame;
  if (hovered) outline(ctx, frame, hovered, palette.text, 1);
  if (selected) outline(ctx, frame, selected, palette.accent, 2);
}

function outline(
  ctx: Context,
  frame: Frame,
  slice: Pick<Slice, "source" | "lane" | "start" | "end">,
  colour: string,
  width: number,
): void {
  const columns = columnsOf(frame, slice.start, slice.end, 4);
  if (slice.lane < 0 || !columns) return;
  let [from, to] = columns;
  const lack = LEAST_OUTLINE - (to - from);
  if (lack > 0) [from, to] = [from - lack / 2, to + lack / 2];
  for (const row of frame.rows) {
    if (!sameLane(row, slice)) continue;
    const top = topOf(frame, row);
    const bottom = top + row.height;
    if (bottom < 0 || top > frame.height || (!row.pinned && bottom <= frame.pinnedHeight)) continue;
    // Outside of the slice, so that its text stays whole, with a rim that parts it from neighbours of any colour.
    ctx.strokeStyle = frame.palette.ground;
    ctx.lineWidth = 1;
    const off = width + 0.5;
    ctx.strokeRect(from - off, top - off, to - from + 2 * off, row.height - 1 + 2 * off);
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.strokeRect(from - width / 2, top - width / 2, to - from + width, row.height - 1 + width);
  }
}
