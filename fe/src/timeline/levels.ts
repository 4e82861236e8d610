import { TILE_BITS } from "./tiles";
import type { TimeRange } from "./types";

/** The level whose buckets are at most one css px wide: floor(log2(ns per px)), within what there is. */
export function levelFor(nsPerPx: number, levelMax: number): number {
  if (!(nsPerPx > 1)) return 0;
  let level = Math.floor(Math.log2(nsPerPx));
  // The logarithm of a number just below a power of two may be rounded up to it.
  if (2 ** level > nsPerPx) level--;
  return Math.min(level, levelMax);
}

/** Length of a level's tiles, ns. By multiplication, because shifts end at 32 bits. */
export const tileLength = (level: number): number => 2 ** (level + TILE_BITS);

/** Numbers of the tiles that touch a range of a source's own time, ascending; none where the source has ended or not begun. */
export function tilesFor(level: number, range: TimeRange, span: number): number[] {
  const length = tileLength(level);
  if (!(range.t1 > range.t0) || range.t1 <= 0 || range.t0 > span) return [];
  const first = Math.max(0, Math.floor(range.t0 / length));
  // An event without length may stand at the very end of the span.
  const last = Math.min(Math.floor(span / length), Math.ceil(range.t1 / length) - 1);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
}
