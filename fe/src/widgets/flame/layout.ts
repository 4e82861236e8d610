/** Where the frames of a flame graph lie. Pure; one entry per frame, parents before children. */

import { firstWhere } from "../../base/bisect";
import { sortRows } from "../grid/order";
import { inTreeOrder, levelsOf, parentOf } from "../grid/tree";

export interface FlameTree {
  /** The frame around each frame; −1: outermost. */
  parent: ArrayLike<number>;
  /** How wide each is, its children included; unknown counts as nothing. */
  value: ArrayLike<number | null>;
  /** By what siblings are ordered from left to right; null: the widest first. */
  order: ArrayLike<number> | null;
}

export interface FlameLayout {
  /** Width of each frame in the tree's unit: its value, or what its children need where that is more. */
  width: Float64Array;
  left: Float64Array;
  levels: Uint16Array;
  byLevel: readonly Int32Array[];
  total: number;
}

export function layOutFlame({ parent, value, order }: FlameTree): FlameLayout {
  const count = parent.length;
  const width = widthsOf(parent, value);
  const levels = levelsOf(parent);
  const rows = sortRows(
    Uint32Array.from({ length: count }, (_, row) => row),
    order ? Float64Array.from(order) : width,
    order === null,
  );
  const left = new Float64Array(count);
  const free = new Float64Array(count + 1);
  const byLevel: number[][] = [];
  for (const row of inTreeOrder(rows, parent)) {
    const up = parentOf(parent, row) + 1;
    const at = free[up] ?? 0;
    const wide = width[row] ?? 0;
    left[row] = free[row + 1] = at;
    free[up] = at + wide;
    if (wide > 0) (byLevel[levels[row] ?? 0] ??= []).push(row);
  }
  return {
    width,
    left,
    levels,
    byLevel: Array.from(byLevel, (level) => Int32Array.from(level)),
    total: free[0] ?? 0,
  };
}

function widthsOf(parent: ArrayLike<number>, value: ArrayLike<number | null>): Float64Array {
  const width = new Float64Array(parent.length);
  const children = new Float64Array(parent.length);
  for (let row = parent.length - 1; row >= 0; row--) {
    width[row] = Math.max(0, value[row] ?? 0, children[row] ?? 0);
    const up = parentOf(parent, row);
    if (up >= 0) children[up] = (children[up] ?? 0) + (width[row] ?? 0);
  }
  return width;
}

/** The part of the whole that is in found frames or beneath one; 0 where there is nothing. */
export function foundShare(
  { width, total }: FlameLayout,
  parent: ArrayLike<number>,
  found: Uint8Array,
): number {
  const within = new Uint8Array(parent.length);
  let sum = 0;
  for (let row = 0; row < parent.length; row++) {
    const up = parentOf(parent, row);
    const counted = up >= 0 && within[up] === 1;
    if (found[row] && !counted) sum += width[row] ?? 0;
    within[row] = counted || found[row] ? 1 : 0;
  }
  return total > 0 ? sum / total : 0;
}

/** A frame of so large a part of all tells nothing. */
const MOST = 0.9;

/** The first level on which no frame takes nearly all: what is above only leads there. */
export function firstSplit({ byLevel, width, total }: FlameLayout): number {
  const level = byLevel.findIndex((rows) => !rows.some((row) => (width[row] ?? 0) > MOST * total));
  return level < 0 ? byLevel.length : level;
}

/** The frame and those around it, the outermost first. */
export function wayTo(parent: ArrayLike<number>, row: number): number[] {
  const path: number[] = [];
  for (let at = row; at >= 0; at = parentOf(parent, at)) path.unshift(at);
  return path;
}

/** What is in sight: the whole, or a frame over the whole width with those around it above. */
export interface FlameView {
  begin: number;
  length: number;
}

export function viewOf({ left, width, total }: FlameLayout, zoom: number): FlameView {
  return zoom < 0
    ? { begin: 0, length: total }
    : { begin: left[zoom] ?? 0, length: width[zoom] ?? 0 };
}

/** The first frame of a level that ends after a place. */
export function firstAfter({ left, width }: FlameLayout, level: Int32Array, at: number): number {
  const end = (row = 0): number => (left[row] ?? 0) + (width[row] ?? 0);
  return firstWhere(0, level.length, (i) => end(level[i]) > at);
}

/** The frame of a level at a place; −1 where there is none. */
export function frameAt(layout: FlameLayout, level: number, at: number): number {
  const rows = layout.byLevel[level];
  const row = rows?.[firstAfter(layout, rows, at)] ?? -1;
  return row >= 0 && (layout.left[row] ?? 0) <= at ? row : -1;
}

/** Where a key leads from a frame; the frame itself where there is nothing. Begins at the widest outermost frame. */
export function neighbour(
  layout: FlameLayout,
  parent: ArrayLike<number>,
  row: number,
  key: string,
): number | null {
  const level = row < 0 ? 0 : (layout.levels[row] ?? 0);
  const rows = layout.byLevel[row < 0 ? 0 : key === "ArrowDown" ? level + 1 : level];
  switch (key) {
    case "ArrowUp":
      return row < 0 ? -1 : Math.max(parentOf(parent, row), level === 0 ? row : -1);
    case "ArrowDown":
      return (
        widest(layout, rows ?? [], (child) => row < 0 || parentOf(parent, child) === row) ?? row
      );
    case "ArrowLeft":
    case "ArrowRight": {
      const place = (rows?.indexOf(row) ?? -1) + (key === "ArrowLeft" ? -1 : 1);
      return rows?.[Math.max(0, place)] ?? row;
    }
    default:
      return null;
  }
}

function widest(
  { width }: FlameLayout,
  rows: Iterable<number>,
  accept: (row: number) => boolean,
): number | null {
  let best: number | null = null;
  for (const row of rows)
    if (accept(row) && (best === null || (width[row] ?? 0) > (width[best] ?? 0))) best = row;
  return best;
}
