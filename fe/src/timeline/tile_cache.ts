/** Tiles that were received, by source, level, number and lane; the least recently used replies go when there are too many bytes. */

import { firstWhere } from "../base/bisect";
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
  readonly #sources: readonly Source[];
  readonly #limit: number;
  readonly #levels: Map<number, Level>[];
  readonly #replies = new Set<Reply>();
  #clock = 1;

  constructor(sources: readonly Source[], limit: number) {
    this.#sources = sources;
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
   * Calls `fn` for what is known of a lane in a range (on the common clock) at a level, in order of time. For a missing tile the finer ones that cover it
   * stand in, else the nearest coarser one.
   */
  visit(source: number, lane: number, level: number, range: TimeRange, fn: Visitor): Found {
    const about = this.#sources[source];
    if (!about) return "missing";
    const { offset, span, levelMax } = about;
    const own = { t0: range.t0 - offset, t1: range.t1 - offset };
    const levels = [level];
    for (let at = level - 1; at >= Math.max(0, level - FINER); at--) levels.push(at);
    for (let at = level + 1; at <= levelMax; at++) levels.push(at);
    let coverage: Found = "exact";
    for (const k of tilesFor(level, own, span)) {
      const part = within(own, level, k);
      const shown = levels.find((at) => this.#showAll(source, lane, at, part, span, fn));
      if (shown === undefined) coverage = "missing";
      else if (shown !== level && coverage === "exact") coverage = "coarser";
    }
    return coverage;
  }

  #piece(source: number, level: number, k: number, lane: number): Piece | undefined {
    return this.#levels[source]?.get(level)?.get(k)?.get(lane);
  }

  /** Shows a range on a level where all tiles that touch it are here; whether they are. */
  #showAll(
    source: number,
    lane: number,
    level: number,
    range: TimeRange,
    span: number,
    fn: Visitor,
  ): boolean {
    const ks = tilesFor(level, range, span);
    const pieces = ks.flatMap((k) => this.#piece(source, level, k, lane) ?? []);
    if (pieces.length < ks.length) return false;
    pieces.forEach((piece, i) => this.#show(piece, within(range, level, ks[i] ?? 0), fn));
    return true;
  }

  #show(piece: Piece, { t0, t1 }: TimeRange, fn: Visitor): void {
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
        reply.level <= (this.#sources[reply.source]?.levelMax ?? 0) - KEPT_LEVELS,
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

/** The part of a range that lies in a tile. */
function within({ t0, t1 }: TimeRange, level: number, k: number): TimeRange {
  const length = tileLength(level);
  return { t0: Math.max(t0, k * length), t1: Math.min(t1, (k + 1) * length) };
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
