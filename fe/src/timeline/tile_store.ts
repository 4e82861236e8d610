/**
 * Fetches the tiles that a view needs and keeps them. Each source has one request on its way at most; what is wanted next is decided when it is back,
 * from the newest view, so that a fast zoom never leaves a queue behind.
 */

import * as LIMITS from "../base/limits.gen";
import { ownAt } from "./clock";
import { levelFor, tilesFor } from "./levels";
import { TileCache, type Found, type Visitor } from "./tile_cache";
import { decodeTiles } from "./tiles";
import type { LanesBySource, Source, TileQuery, TimeRange } from "./types";

/** Calls back after a pause, ms; returns how to call it off. */
export type Later = (fn: () => void, pause: number) => () => void;

const BYTES = 192 * 1024 * 1024;
/** On their way over all sources: browsers open six connections to a server. */
const REQUESTS = 6;
/** The server takes no more tiles, and no more tiles times lanes, at once. */
const { k: MOST_TILES, cells: MOST_CELLS } = LIMITS.trace_tiles;
const [FIRST_PAUSE, LONGEST_PAUSE] = [500, 30_000];
/** A request on its way is kept while its level is this much coarser than the wanted one, because it can stand in. */
const STILL_USEFUL = 3;

interface Wanted {
  level: number;
  range: TimeRange;
  lanes: readonly number[];
}

interface Flight {
  query: TileQuery;
  controller: AbortController;
}

/** What is asked of a source. */
interface Asking {
  source: Source;
  index: number;
  wanted: Wanted | null;
  flight: Flight | null;
  failures: number;
  error: unknown;
  /** Calls off the pause after a failure; `null` when there is none. */
  resume: (() => void) | null;
  /** The coarsest level of all lanes was asked for. */
  begun: boolean;
}

const afterPause: Later = (fn, pause) => {
  const timer = setTimeout(fn, pause);
  return () => clearTimeout(timer);
};

export class TileStore {
  readonly #onChange: () => void;
  readonly #cache: TileCache;
  readonly #all: readonly Asking[];
  readonly #later: Later;
  #disposed = false;

  /** `onChange` is called when tiles came and when a problem came or went. */
  constructor(sources: readonly Source[], onChange: () => void, later = afterPause) {
    this.#onChange = onChange;
    this.#cache = new TileCache(sources, BYTES);
    this.#all = sources.map((source, index) => ({
      source,
      index,
      wanted: null,
      flight: null,
      failures: 0,
      error: null,
      resume: null,
      begun: false,
    }));
    this.#later = later;
  }

  /** Whether the sources are the same in other places of the axis, and then puts them there. */
  place(sources: readonly Source[]): boolean {
    const same =
      sources.length === this.#all.length &&
      sources.every(({ load }, i) => load === this.#all[i]?.source.load);
    if (!same) return false;
    this.#cache.sources = sources;
    for (const asking of this.#all) asking.source = sources[asking.index] ?? asking.source;
    return true;
  }

  /** Makes the newest view known; what it lacks is fetched, and what is on its way in vain is called off. */
  want(view: TimeRange, nsPerPx: number, lanesBySource: LanesBySource): void {
    this.#cache.tick();
    for (const asking of this.#all) {
      const { source, index, flight } = asking;
      const range = { t0: ownAt(source, view.t0), t1: ownAt(source, view.t1) };
      // A pinned lane has a second row.
      const lanes = [...new Set(lanesBySource.get(index) ?? [])].sort((a, b) => a - b);
      asking.wanted = { level: levelFor(nsPerPx, source.levelMax), range, lanes };
      if (flight && !stillUseful(flight.query, asking.wanted, source)) callOff(asking);
    }
    this.#pump();
  }

  /** What is known of a lane in a range of the common clock; see `TileCache.visit`. */
  visit(source: number, lane: number, level: number, range: TimeRange, fn: Visitor): Found {
    return this.#cache.visit(source, lane, level, range, fn);
  }

  /** Why the first source whose tiles cannot be had lacks them, null where all is well; it is asked again after a pause that grows. */
  get problem(): unknown {
    return this.#all.find(({ failures }) => failures > 0)?.error ?? null;
  }

  get busy(): boolean {
    return this.#all.some(({ flight }) => flight);
  }

  retry(): void {
    for (const asking of this.#all) endPause(asking);
    this.#pump();
  }

  dispose(): void {
    this.#disposed = true;
    for (const asking of this.#all) {
      callOff(asking);
      endPause(asking);
    }
    this.#cache.clear();
  }

  #pump(): void {
    if (this.#disposed) return;
    for (const asking of this.#all) {
      const inFlight = this.#all.filter(({ flight }) => flight).length;
      if (asking.flight || asking.resume || inFlight >= REQUESTS) continue;
      const query = this.#next(asking);
      if (query) void this.#fetch(asking, query);
    }
  }

  /** What to ask for next: first something for every row, then what is seen, then what will be seen after the next move. */
  #next(asking: Asking): TileQuery | null {
    const { source, wanted } = asking;
    if (!wanted) return null;
    const { levelMax, span } = source;
    if (!asking.begun) {
      const lanes = source.lanes === undefined ? wanted.lanes : [...Array(source.lanes).keys()];
      const query = this.#missing(asking, levelMax, { t0: 0, t1: span + 1 }, lanes);
      if (query) return query;
      asking.begun = lanes.length > 0;
    }
    const { level, range, lanes } = wanted;
    return (
      this.#missing(asking, level, range, lanes) ??
      this.#missing(asking, Math.min(level + 1, levelMax), range, lanes) ??
      this.#missing(asking, level, withMargins(range), lanes)
    );
  }

  /** Tiles of the range that lack the same lanes, as one query; the others have their turn later. */
  #missing(
    { source, index }: Asking,
    level: number,
    range: TimeRange,
    lanes: readonly number[],
  ): TileQuery | null {
    const ks: number[] = [];
    let lacking: readonly number[] | null = null;
    for (const k of tilesFor(level, range, source.span)) {
      const absent = lanes
        .filter((lane) => !this.#cache.has(index, level, k, lane))
        .slice(0, MOST_CELLS);
      if (!absent.length) continue;
      lacking ??= absent;
      if (absent.join() === lacking.join()) ks.push(k);
      if (ks.length === MOST_TILES || (ks.length + 1) * lacking.length > MOST_CELLS) break;
    }
    return lacking && { level, ks, lanes: lacking };
  }

  async #fetch(asking: Asking, query: TileQuery): Promise<void> {
    const flight = { query, controller: new AbortController() };
    asking.flight = flight;
    try {
      const buffer = await asking.source.load(query, flight.controller.signal);
      if (asking.flight !== flight) return;
      this.#cache.put(asking.index, query, decodeTiles(buffer), buffer.byteLength);
      asking.failures = 0;
    } catch (error) {
      if (asking.flight !== flight) return;
      asking.error = error;
      const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** asking.failures++);
      asking.resume = this.#later(() => {
        asking.resume = null;
        this.#pump();
      }, pause);
    }
    asking.flight = null;
    this.#onChange();
    this.#pump();
  }
}

function callOff(asking: Asking): void {
  asking.flight?.controller.abort();
  asking.flight = null;
}

function endPause(asking: Asking): void {
  asking.resume?.();
  asking.resume = null;
}

/** What half a view on each side adds. */
function withMargins({ t0, t1 }: TimeRange): TimeRange {
  const half = (t1 - t0) / 2;
  return { t0: t0 - half, t1: t1 + half };
}

/** Whether the tiles on their way can still be shown: not finer than wanted, not much coarser, some lane and some time of the view with its margins. */
function stillUseful(query: TileQuery, wanted: Wanted, source: Source): boolean {
  if (query.level === source.levelMax) return true;
  if (query.level < wanted.level || query.level > wanted.level + STILL_USEFUL) return false;
  const ks = new Set(tilesFor(query.level, withMargins(wanted.range), source.span));
  const lanes = new Set(wanted.lanes);
  return query.ks.some((k) => ks.has(k)) && query.lanes.some((lane) => lanes.has(lane));
}
