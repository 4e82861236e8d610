import type { Point } from "./gestures";
import type { Sight } from "./props";
import { lanesBelow, type RowLayout } from "./rows";
import type { Area, Row, TimeRange } from "./types";
import { nsPerPx, timeAt, topOf } from "./viewport";

export function lanesDrawn(rows: readonly Row[]): ReadonlyMap<number, readonly number[]> {
  const lanes = new Map<number, number[]>();
  for (const row of rows) if (row.lane >= 0) add(lanes, row.source, [row.lane]);
  return sorted(lanes);
}

/** Lanes that the rows stand for: a folded row has all that is below it. */
export function lanesMeant(
  rows: readonly Row[],
  layout: RowLayout,
): ReadonlyMap<number, readonly number[]> {
  const lanes = new Map<number, number[]>();
  for (const row of rows) {
    const node = layout.notes.get(row.key)?.node;
    if (row.open === false && node) add(lanes, row.source, lanesBelow(node));
    else if (row.lane >= 0) add(lanes, row.source, [row.lane]);
  }
  return sorted(lanes);
}

function add(lanes: Map<number, number[]>, source: number, more: readonly number[]): void {
  const known = lanes.get(source);
  if (known) known.push(...more);
  else lanes.set(source, [...more]);
}

/** Once each, ascending, so that equal sets are equal texts in addresses and caches. */
function sorted(lanes: Map<number, number[]>): Map<number, number[]> {
  return new Map(
    [...lanes].map(([source, own]) => [source, [...new Set(own)].sort((a, b) => a - b)]),
  );
}

export function sightOf(view: TimeRange, width: number, rows: readonly Row[]): Sight {
  return { view, width, nsPerPx: nsPerPx(view, width), rows, lanes: lanesDrawn(rows) };
}

export function rowsBetween(
  layout: RowLayout,
  rows: readonly Row[],
  scroll: number,
  a: number,
  b: number,
): readonly Row[] {
  const [top, bottom] = [Math.min(a, b), Math.max(a, b)];
  return rows.filter((row) => {
    const y = topOf({ scroll }, row);
    const from = row.pinned ? y : Math.max(y, layout.pinnedHeight);
    return y + row.height > top && from <= bottom && y + row.height > from;
  });
}

/** The area of a stroke over the canvas; all rows in sight where the touched ones have no lanes. `null`: it has no width. */
export function areaOf(
  from: Point,
  to: Point,
  view: TimeRange,
  width: number,
  layout: RowLayout,
  rows: readonly Row[],
  scroll: number,
): Area | null {
  const inside = (x: number): number => Math.max(0, Math.min(width, x));
  const t0 = Math.round(timeAt(view, width, inside(Math.min(from.x, to.x))));
  const t1 = Math.round(timeAt(view, width, inside(Math.max(from.x, to.x))));
  if (t1 <= t0) return null;
  const touched = lanesMeant(rowsBetween(layout, rows, scroll, from.y, to.y), layout);
  return { t0, t1, lanes: touched.size > 0 ? touched : lanesMeant(rows, layout) };
}

export function areaInSight(
  view: TimeRange,
  span: TimeRange,
  layout: RowLayout,
  rows: readonly Row[],
): Area {
  return {
    t0: Math.round(Math.max(view.t0, span.t0)),
    t1: Math.round(Math.min(view.t1, span.t1)),
    lanes: lanesMeant(rows, layout),
  };
}

export function extentOf(
  area: Area,
  layout: RowLayout,
  rows: readonly Row[],
  scroll: number,
): { y0: number; y1: number } | null {
  let y0 = Infinity;
  let y1 = -Infinity;
  for (const row of rows) {
    const meant = lanesMeant([row], layout).get(row.source);
    const lanes = area.lanes.get(row.source);
    if (!meant || !lanes || !meant.some((lane) => lanes.includes(lane))) continue;
    const y = topOf({ scroll }, row);
    y0 = Math.min(y0, row.pinned ? y : Math.max(layout.pinnedHeight, y));
    y1 = Math.max(y1, y + row.height);
  }
  return y1 > y0 ? { y0, y1 } : null;
}

/** Where to scroll so that a row is in sight, with some room about it; the present position when it is. */
export function scrollFor(layout: RowLayout, row: Row, scroll: number, height: number): number {
  if (row.pinned) return scroll;
  const room = Math.min(60, Math.max(0, (height - layout.pinnedHeight - row.height) / 4));
  const top = row.y - scroll - layout.pinnedHeight;
  const bottom = row.y + row.height - scroll;
  if (top >= 0 && bottom <= height) return scroll;
  return top < 0 ? row.y - layout.pinnedHeight - room : row.y + row.height - height + room;
}
