import { endOnAxis, onAxis, ownAt } from "./clock";
import { levelFor, tileLength } from "./levels";
import type { TileStore } from "./tile_store";
import { BEGAN_BEFORE, SATURATED } from "./tiles";
import type { Frame, Row, Slice, Source, Tile, TimeRange } from "./types";
import { nsPerPx, timeAt, topOf } from "./viewport";

/** Css px by which the pointer may miss a slice that is narrower than this. */
const NEAR = 3;

export function sliceAt(frame: Frame, store: TileStore, x: number, y: number): Slice | null {
  const row = rowUnder(frame, y);
  if (!row || row.lane < 0) return null;
  const near = NEAR * nsPerPx(frame);
  return nearest(frame, store, row, timeAt(frame, x), near);
}

/** The row under a height; pinned rows lie over the others. */
export function rowUnder(frame: Frame, y: number): Row | undefined {
  const over = frame.rows.filter((row) => row.pinned === y < frame.pinnedHeight);
  return over.find((row) => y >= topOf(frame, row) && y < topOf(frame, row) + row.height);
}

function slicesIn(frame: Frame, store: TileStore, row: Row, range: TimeRange): Slice[] {
  const source = frame.sources[row.source];
  if (!source) return [];
  const level = levelFor(nsPerPx(frame), source.levelMax);
  const slices: Slice[] = [];
  store.visit(row.source, row.lane, level, range, (tile, from, to) => {
    for (let i = from; i < to; i++) {
      const next = sliceOf(tile, i, row, source);
      const last = slices.at(-1);
      // A slice over several tiles is in each of them.
      const goesOn = ((tile.flags[i] ?? 0) & BEGAN_BEFORE) !== 0;
      if (goesOn && last?.event === next.event && last.count === next.count)
        last.end = Math.max(last.end, next.end);
      else slices.push(next);
    }
  });
  return slices;
}

function sliceOf(tile: Tile, i: number, row: Row, source: Source): Slice {
  const scale = 2 ** tile.shift;
  const begin = tile.t0 + (tile.start[i] ?? 0) * scale;
  const start = onAxis(source, begin);
  const count = tile.count[i] ?? 1;
  return {
    source: row.source,
    lane: row.lane,
    event: tile.event[i] ?? 0,
    start,
    end: Math.max(start, endOnAxis(source, begin + (tile.dur[i] ?? 0) * scale)),
    name: tile.name[i] ?? 0,
    count,
    busy: count > 1 ? (tile.fill[i] ?? 255) / 255 : 1,
    look: tile.look[i] ?? 0,
  };
}

function nearest(
  frame: Frame,
  store: TileStore,
  row: Row,
  time: number,
  near: number,
): Slice | null {
  let best: Slice | null = null;
  let distance = near;
  for (const slice of slicesIn(frame, store, row, { t0: time - near, t1: time + near })) {
    const away = Math.max(slice.start - time, time - slice.end, 0);
    // Of two that touch, the one that begins at the time.
    if (away < distance || (away === 0 && slice.start <= time)) [best, distance] = [slice, away];
  }
  return best && whole(frame, store, best);
}

/** With its real begin and end, as far as they are known: a tile knows neither the begin of what began before it, nor an end far behind it. */
function whole(frame: Frame, store: TileStore, slice: Slice): Slice {
  const source = frame.sources[slice.source];
  if (!source || slice.count > 1) return slice;
  const { levelMax } = source;
  const time = ownAt(source, slice.start);
  const known: { start?: number; end?: number } = {};
  const level = levelFor(nsPerPx(frame), levelMax);
  for (
    let at = level;
    at <= levelMax && (known.start === undefined || known.end === undefined);
    at++
  ) {
    // Where it lies on several tiles of the view, its begin is on one before.
    const t0 = at === level ? Math.min(slice.start, frame.view.t0) : slice.start;
    const range = { t0, t1: slice.start + Math.max(1, tileLength(at) / 2 ** 20) };
    store.visit(slice.source, slice.lane, at, range, (tile, from, to) => {
      for (let i = from; i < to; i++) {
        if (tile.event[i] !== slice.event || (tile.count[i] ?? 1) > 1) continue;
        const scale = 2 ** tile.shift;
        const begin = tile.t0 + (tile.start[i] ?? 0) * scale;
        if (begin > time + scale) continue;
        if (!((tile.flags[i] ?? 0) & BEGAN_BEFORE)) known.start ??= onAxis(source, begin);
        if (tile.dur[i] !== SATURATED)
          known.end ??= Math.max(
            known.start ?? slice.start,
            endOnAxis(source, begin + (tile.dur[i] ?? 0) * scale),
          );
      }
    });
  }
  return { ...slice, ...known };
}
