import { clamp } from "../base/clamp";
import type { Point } from "./gestures";
import type { VisibleRange } from "./props";
import { lanesBelow, type RowLayout } from "./rows";
import type { Area, Row, TimeRange } from "./types";
import { nsPerPx, timeAt, topOf, type Scale } from "./viewport";

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

/** What the canvas shows. */
export interface Shown extends Scale {
  height: number;
  scroll: number;
  layout: RowLayout;
  /** Rows in sight. */
  rows: readonly Row[];
}

export function visibleRangeOf({
  view,
  width,
  rows,
}: Pick<Shown, keyof Scale | "rows">): VisibleRange {
  return { view, width, nsPerPx: nsPerPx({ view, width }), rows, lanes: lanesDrawn(rows) };
}

/** Where a row can be seen: what scrolls is hidden by the pinned rows. */
function extentOfRow(shown: Shown, row: Row): { y0: number; y1: number } {
  const y = topOf(shown, row);
  return { y0: row.pinned ? y : Math.max(y, shown.layout.pinnedHeight), y1: y + row.height };
}

function rowsBetween(shown: Shown, a: number, b: number): readonly Row[] {
  const [top, bottom] = [Math.min(a, b), Math.max(a, b)];
  return shown.rows.filter((row) => {
    const { y0, y1 } = extentOfRow(shown, row);
    return y1 > top && y0 <= bottom && y1 > y0;
  });
}

/** The area of a stroke over the canvas; all rows in sight where the touched ones have no lanes. `null`: it has no width. */
export function areaOf(from: Point, to: Point, shown: Shown): Area | null {
  const timeOf = (x: number): number => Math.round(timeAt(shown, clamp(x, 0, shown.width)));
  const t0 = timeOf(Math.min(from.x, to.x));
  const t1 = timeOf(Math.max(from.x, to.x));
  if (t1 <= t0) return null;
  const touched = lanesMeant(rowsBetween(shown, from.y, to.y), shown.layout);
  return { t0, t1, lanes: touched.size > 0 ? touched : lanesMeant(shown.rows, shown.layout) };
}

export function areaInSight({ view, layout, rows }: Shown, span: TimeRange): Area {
  return {
    t0: Math.round(Math.max(view.t0, span.t0)),
    t1: Math.round(Math.min(view.t1, span.t1)),
    lanes: lanesMeant(rows, layout),
  };
}

export function extentOf(area: Area, shown: Shown): { y0: number; y1: number } | null {
  const extents = shown.rows
    .filter((row) => {
      const meant = lanesMeant([row], shown.layout).get(row.source);
      return meant?.some((lane) => area.lanes.get(row.source)?.includes(lane));
    })
    .map((row) => extentOfRow(shown, row));
  const y0 = Math.min(...extents.map((extent) => extent.y0));
  const y1 = Math.max(...extents.map((extent) => extent.y1));
  return y1 > y0 ? { y0, y1 } : null;
}

/** Where to scroll so that a row is in sight, with some room about it; the present position when it is. */
export function scrollFor(
  { layout: { pinnedHeight }, scroll, height }: Pick<Shown, "layout" | "scroll" | "height">,
  row: Row,
): number {
  const room = Math.min(60, Math.max(0, (height - pinnedHeight - row.height) / 4));
  const above = row.y - pinnedHeight;
  const below = row.y + row.height - height;
  if (row.pinned || (above >= scroll && below <= scroll)) return scroll;
  return above < scroll ? above - room : below + room;
}
