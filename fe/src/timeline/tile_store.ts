/**
 * Fetches the tiles that a view needs and keeps them. Each source has one request on its way at most; what is wanted next is decided when it is back,
 * from the newest view, so that a fast zoom never leaves a queue behind.
 */

import * as LIMITS from "../base/limits.gen";
import { levelFor, tilesFor } from "./levels";
import { TileCache, type Found, type Visitor } from "./tile_cache";
import { decodeTiles } from "./tiles";
import type { Source, TileQuery, TimeRange } from "./types";

export interface StoreOptions {
  now?: () => number;
  /** Calls back after a pause, ms; returns how to call it off. */
  later?: (fn: () => void, pause: number) => () => void;
}

export interface StoreStats {
  requests: number;
  aborted: number;
  failed: number;
  /** Received over the wire, before the browser's decompression. */
  received: number;
  bytes: number;
  tiles: number;
  inFlight: number;
  latencies: readonly number[];
}

const BYTES = 192 * 1024 * 1024;
/** On their way over all sources: browsers open six connections to a server. */
const REQUESTS = 6;
/** The server takes no more tiles, and no more tiles times lanes, at once. */
const { k: MOST_TILES, cells: MOST_CELLS } = LIMITS.trace_tiles;
const LATENCIES = 500;
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
  begun: number;
}

interface State {
  wanted: Wanted | null;
  flight: Flight | null;
  failures: number;
  error: unknown;
  /** Calls off the pause after a failure; `null` when there is none. */
  resume: (() => void) | null;
  /** The coarsest level of all lanes was asked for. */
  begun: boolean;
}

const afterPause = (fn: () => void, pause: number): (() => void) => {
  const timer = setTimeout(fn, pause);
  return () => clearTimeout(timer);
};

export class TileStore {
  private readonly sources: readonly Source[];
  private readonly onChange: () => void;
  private readonly cache: TileCache;
  private readonly states: State[];
  private readonly now: () => number;
  private readonly later: NonNullable<StoreOptions["later"]>;
  private readonly latencies: number[] = [];
  private readonly counts = { requests: 0, aborted: 0, failed: 0, received: 0, inFlight: 0 };
  private disposed = false;

  /** `onChange` is called when tiles came and when a problem came or went. */
  constructor(sources: readonly Source[], onChange: () => void, options: StoreOptions = {}) {
    this.sources = sources;
    this.onChange = onChange;
    this.cache = new TileCache(sources, BYTES);
    this.states = sources.map(() => ({
      wanted: null,
      flight: null,
      failures: 0,
      error: null,
      resume: null,
      begun: false,
    }));
    this.now = options.now ?? (() => performance.now());
    this.later = options.later ?? afterPause;
  }

  /** Makes the newest view known; what it lacks is fetched, and what is on its way in vain is called off. */
  want(
    view: TimeRange,
    nsPerPx: number,
    lanesBySource: ReadonlyMap<number, readonly number[]>,
  ): void {
    this.cache.tick();
    this.sources.forEach((source, index) => {
      const state = this.states[index];
      if (!state) return;
      const range = { t0: view.t0 - source.offset, t1: view.t1 - source.offset };
      // A pinned lane has a second row.
      const lanes = [...new Set(lanesBySource.get(index) ?? [])].sort((a, b) => a - b);
      state.wanted = { level: levelFor(nsPerPx, source.levelMax), range, lanes };
      if (state.flight && !stillUseful(state.flight.query, state.wanted, source))
        this.callOff(state);
    });
    this.pump();
  }

  /** What is known of a lane in a range of the common clock; see `TileCache.visit`. */
  visit(source: number, lane: number, level: number, range: TimeRange, fn: Visitor): Found {
    return this.cache.visit(source, lane, level, range, fn);
  }

  /** Why the first source whose tiles cannot be had lacks them, null where all is well; it is asked again after a pause that grows. */
  get problem(): unknown {
    return this.states.find((state) => state.failures > 0)?.error ?? null;
  }

  get busy(): boolean {
    return this.states.some((state) => state.flight !== null);
  }

  stats(): StoreStats {
    const { bytes, tiles } = this.cache;
    return { ...this.counts, bytes, tiles, latencies: [...this.latencies] };
  }

  retry(): void {
    for (const state of this.states) {
      state.resume?.();
      state.resume = null;
    }
    this.pump();
  }

  dispose(): void {
    this.disposed = true;
    for (const state of this.states) {
      this.callOff(state);
      state.resume?.();
    }
    this.cache.clear();
  }

  private callOff(state: State): void {
    if (!state.flight) return;
    const { controller } = state.flight;
    state.flight = null;
    this.counts.inFlight--;
    this.counts.aborted++;
    controller.abort();
  }

  private pump(): void {
    if (this.disposed) return;
    this.states.forEach((state, index) => {
      if (state.flight || state.resume || this.counts.inFlight >= REQUESTS) return;
      const query = this.next(state, index);
      if (query) void this.fetch(state, index, query);
    });
  }

  /** What to ask for next: first something for every row, then what is seen, then what will be seen after the next move. */
  private next(state: State, index: number): TileQuery | null {
    const source = this.sources[index];
    const wanted = state.wanted;
    if (!source || !wanted) return null;
    if (!state.begun) {
      const lanes = source.lanes === undefined ? wanted.lanes : [...Array(source.lanes).keys()];
      const query = this.missing(index, source.levelMax, { t0: 0, t1: source.span + 1 }, lanes);
      if (query) return query;
      state.begun = lanes.length > 0;
    }
    const { level, range, lanes } = wanted;
    const half = (range.t1 - range.t0) / 2;
    return (
      this.missing(index, level, range, lanes) ??
      this.missing(index, Math.min(level + 1, source.levelMax), range, lanes) ??
      this.missing(index, level, { t0: range.t0 - half, t1: range.t1 + half }, lanes)
    );
  }

  /** Tiles of the range that lack the same lanes, as one query; the others have their turn later. */
  private missing(
    index: number,
    level: number,
    range: TimeRange,
    lanes: readonly number[],
  ): TileQuery | null {
    const ks: number[] = [];
    let lacking: readonly number[] | null = null;
    for (const k of tilesFor(level, range, this.sources[index]?.span ?? 0)) {
      const absent = lanes
        .filter((lane) => !this.cache.has(index, level, k, lane))
        .slice(0, MOST_CELLS);
      if (!absent.length) continue;
      lacking ??= absent;
      if (absent.length === lacking.length && absent.every((lane, i) => lane === lacking?.[i]))
        ks.push(k);
      if (ks.length === MOST_TILES || (ks.length + 1) * lacking.length > MOST_CELLS) break;
    }
    return lacking ? { level, ks, lanes: lacking } : null;
  }

  private async fetch(state: State, index: number, query: TileQuery): Promise<void> {
    const source = this.sources[index];
    if (!source) return;
    const flight = { query, controller: new AbortController(), begun: this.now() };
    state.flight = flight;
    this.counts.inFlight++;
    this.counts.requests++;
    try {
      const buffer = await source.load(query, flight.controller.signal);
      if (state.flight !== flight) return;
      this.cache.put(index, query, decodeTiles(buffer), buffer.byteLength);
      this.arrived(state, flight, buffer.byteLength);
    } catch (error) {
      if (state.flight !== flight) return;
      this.failed(state, error);
    }
    this.onChange();
    this.pump();
  }

  private arrived(state: State, flight: Flight, bytes: number): void {
    state.flight = null;
    state.failures = 0;
    state.error = null;
    this.counts.inFlight--;
    this.counts.received += bytes;
    this.latencies.push(this.now() - flight.begun);
    if (this.latencies.length > LATENCIES) this.latencies.shift();
  }

  private failed(state: State, error: unknown): void {
    state.flight = null;
    state.error = error;
    this.counts.inFlight--;
    this.counts.failed++;
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** state.failures++);
    state.resume = this.later(() => {
      state.resume = null;
      this.pump();
    }, pause);
  }
}

/** Whether the tiles on their way can still be shown: not finer than wanted, not much coarser, some lane and some time of the view with its margins. */
function stillUseful(query: TileQuery, wanted: Wanted, source: Source): boolean {
  if (query.level === source.levelMax) return true;
  if (query.level < wanted.level || query.level > wanted.level + STILL_USEFUL) return false;
  const half = (wanted.range.t1 - wanted.range.t0) / 2;
  const ks = new Set(
    tilesFor(query.level, { t0: wanted.range.t0 - half, t1: wanted.range.t1 + half }, source.span),
  );
  const lanes = new Set(wanted.lanes);
  return query.ks.some((k) => ks.has(k)) && query.lanes.some((lane) => lanes.has(lane));
}
