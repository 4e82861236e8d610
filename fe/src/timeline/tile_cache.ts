/** Tiles that were received, by source, level, number and lane; the least recently used replies go when there are too many bytes. */

import { firstWhere } from "../base/bisect";
import { ownAt } from "./clock";
import { tileLength, tilesFor } from "./levels";
import { SATURATED } from "./tiles";
import type { Source, Tile, TileQuery, TimeRange } from "./types";

/** Slices `from` to `to` of a lane, of which only what lies between `t0` and `t1` (own time) is to be shown: the rest is in other tiles. */
export type Visitor = (tile: Tile, from: number, to: number, t0: number, t1: number) => void;
export type Found = "exact" | "coarser" | "missing";

/** How many levels finer may stand in for a tile: each has up to twice as many slices. */
const FINER = 2;
const PIECE_BYTES = 80;
/** These many of the coarsest levels are never evicted, so that there is always something to show. */
const KEPT_LEVELS = 2;

/** The unit of eviction: typed arrays of all its tiles share one buffer, so only all of them together free it. */
interface Reply extends TileQuery {
  source: number;
  bytes: number;
  used: number;
}

/** A lane of a tile; `tile` is `null` where there is nothing on it. */
interface Piece {
  reply: Reply;
  tile: Tile | null;
  from: number;
  to: number;
}

type Lanes = Map<number, Piece>;
type Level = Map<number, Lanes>;

export class TileCache {
  bytes = 0;
  /** Others may take their places that have the same tiles. */
  sources: readonly Source[];
  readonly #limit: number;
  readonly #levels: Map<number, Level>[];
  readonly #replies = new Set<Reply>();
  #clock = 1;

  constructor(sources: readonly Source[], limit: number) {
    this.sources = sources;
    this.#limit = limit;
    this.#levels = sources.map(() => new Map<number, Level>());
  }

  /** What is looked at from now on counts as newer than what was looked at before. */
  tick(): void {
    this.#clock++;
  }

  has(source: number, level: number, k: number, lane: number): boolean {
    return this.#piece(source, level, k, lane) !== undefined;
  }

  /** Takes a reply in. Asked lanes and tiles that are not in it are known to be empty from now on. */
  put(source: number, query: TileQuery, tiles: readonly Tile[], bytes: number): void {
    for (const { k, level } of tiles)
      if (level !== query.level || !query.ks.includes(k))
        throw new Error(`Tile ${k} of level ${level} was not asked for.`);
    const size = bytes + PIECE_BYTES * query.ks.length * query.lanes.length;
    const reply: Reply = { ...query, source, bytes: size, used: this.#clock };
    const levels = this.#levels[source] ?? new Map<number, Level>();
    const level = entry(levels, query.level, () => new Map<number, Lanes>());
    const byNumber = new Map(tiles.map((tile) => [tile.k, tile]));
    for (const k of query.ks) {
      const lanes = entry(level, k, () => new Map<number, Piece>());
      for (const lane of query.lanes) lanes.set(lane, { reply, tile: null, from: 0, to: 0 });
      const tile = byNumber.get(k);
      tile?.lanes.forEach((lane, i) =>
        lanes.set(lane, { reply, tile, from: tile.ptr[i] ?? 0, to: tile.ptr[i + 1] ?? 0 }),
      );
    }
    this.#replies.add(reply);
    this.bytes += size;
    if (this.bytes > this.#limit) this.#evict();
  }

  clear(): void {
    this.#replies.clear();
    this.bytes = 0;
    for (const levels of this.#levels) levels.clear();
  }

  /**
   * Calls `fn` for what is known of a lane in a range (on the common clock) at a level, in order of time. For a missing tile the nearest coarser one
   * stands in, unless finer ones cover it.
   */
  visit(source: number, lane: number, level: number, range: TimeRange, fn: Visitor): Found {
    const about = this.sources[source];
    if (!about) return "missing";
    const own = { t0: ownAt(about, range.t0), t1: ownAt(about, range.t1) };
    const length = tileLength(level);
    let coverage: Found = "exact";
    for (const k of tilesFor(level, own, about.span)) {
      const t0 = Math.max(own.t0, k * length);
      const t1 = Math.min(own.t1, (k + 1) * length);
      const piece = this.#piece(source, level, k, lane);
      if (piece) this.#show(piece, t0, t1, fn);
      else {
        const found = this.#standIn(source, lane, level, k, t0, t1, fn);
        if (coverage !== "missing") coverage = found;
      }
    }
    return coverage;
  }

  #piece(source: number, level: number, k: number, lane: number): Piece | undefined {
    return this.#levels[source]?.get(level)?.get(k)?.get(lane);
  }

  #standIn(
    source: number,
    lane: number,
    level: number,
    k: number,
    t0: number,
    t1: number,
    fn: Visitor,
  ): Found {
    for (let finer = 1; finer <= Math.min(FINER, level); finer++) {
      if (this.#finer(source, lane, level - finer, k * 2 ** finer, 2 ** finer, t0, t1, fn))
        return "coarser";
    }
    const top = this.sources[source]?.levelMax ?? 0;
    for (let coarser = level + 1; coarser <= top; coarser++) {
      const piece = this.#piece(source, coarser, Math.floor(k / 2 ** (coarser - level)), lane);
      if (!piece) continue;
      this.#show(piece, t0, t1, fn);
      return "coarser";
    }
    return "missing";
  }

  /** Shows tiles `first` to `first + count` where all that touch the range are here. */
  #finer(
    source: number,
    lane: number,
    level: number,
    first: number,
    count: number,
    t0: number,
    t1: number,
    fn: Visitor,
  ): boolean {
    const length = tileLength(level);
    const from = Math.max(first, Math.floor(t0 / length));
    const to = Math.min(
      first + count,
      Math.ceil(t1 / length),
      Math.floor((this.sources[source]?.span ?? 0) / length) + 1,
    );
    const pieces: Piece[] = [];
    for (let k = from; k < to; k++) {
      const piece = this.#piece(source, level, k, lane);
      if (!piece) return false;
      pieces.push(piece);
    }
    pieces.forEach((piece, i) => {
      const begin = (from + i) * length;
      this.#show(piece, Math.max(t0, begin), Math.min(t1, begin + length), fn);
    });
    return pieces.length > 0;
  }

  #show(piece: Piece, t0: number, t1: number, fn: Visitor): void {
    piece.reply.used = this.#clock;
    const { tile } = piece;
    if (!tile) return;
    const scale = 2 ** tile.shift;
    const from = firstEndingAfter(tile, piece.from, piece.to, (t0 - tile.t0) / scale);
    const to = firstFrom(tile.start, from, piece.to, (t1 - tile.t0) / scale);
    if (from < to) fn(tile, from, to, t0, t1);
  }

  /** Lets go of replies that were not looked at lately, down to the limit. */
  #evict(): void {
    const loose = [...this.#replies].filter(
      (reply) =>
        reply.used < this.#clock &&
        reply.level <= (this.sources[reply.source]?.levelMax ?? 0) - KEPT_LEVELS,
    );
    for (const reply of loose.sort((a, b) => a.used - b.used)) {
      if (this.bytes <= this.#limit) return;
      this.#forget(reply);
    }
  }

  #forget(reply: Reply): void {
    this.#replies.delete(reply);
    this.bytes -= reply.bytes;
    const level = this.#levels[reply.source]?.get(reply.level);
    for (const k of reply.ks) {
      const lanes = level?.get(k);
      if (!lanes) continue;
      for (const lane of reply.lanes) if (lanes.get(lane)?.reply === reply) lanes.delete(lane);
      if (!lanes.size) level?.delete(k);
    }
  }
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const existing = map.get(key);
  if (existing !== undefined) return existing;
  const created = make();
  map.set(key, created);
  return created;
}

/** The first place in `from` to `to` whose value is at least `value`. */
const firstFrom = (values: Uint32Array, from: number, to: number, value: number): number =>
  firstWhere(from, to, (i) => (values[i] ?? 0) >= value);

/** The first slice that ends after `time` or begins at it; slices of a lane do not overlap, so ends are in order as begins are. */
function firstEndingAfter(tile: Tile, from: number, to: number, time: number): number {
  const next = firstFrom(tile.start, from, to, time);
  const before = next - 1;
  if (before < from) return next;
  const dur = tile.dur[before] ?? 0;
  return dur === SATURATED || (tile.start[before] ?? 0) + dur > time ? before : next;
}
