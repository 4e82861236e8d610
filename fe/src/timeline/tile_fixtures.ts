/** Tiles for tests: an encoder by the contract of `views/timeline/tiles.py`, and a source that answers from slices. */

import { BEGAN_BEFORE, SATURATED, TILE_BITS } from "./tiles";
import type { Frame, Row, Source, TileQuery, TimeRange } from "./types";
import { paletteFor } from "./palette_fixtures";

/** A slice in own time. */
export interface Drawn {
  lane: number;
  start: number;
  dur: number;
  event?: number;
  name?: number;
  count?: number;
  fill?: number;
  look?: number;
  module?: number;
}

interface Options {
  version?: number;
  modules?: boolean;
  /** Adds columns that nobody knows. */
  unknown?: boolean;
}

const padded = (bytes: number): number => Math.ceil(bytes / 8) * 8;

/** One tile as the server writes it, with the slices that touch it. */
export function encodeTile(
  level: number,
  k: number,
  lanes: readonly number[],
  slices: readonly Drawn[],
  options: Options = {},
): Uint8Array {
  const length = 2 ** (level + TILE_BITS);
  const t0 = k * length;
  const shift = Math.max(0, level + TILE_BITS - 31);
  const inside = lanes.map((lane) =>
    slices.filter(
      (s) => s.lane === lane && s.start < t0 + length && (s.start + s.dur > t0 || s.start >= t0),
    ),
  );
  const rows = inside.flat();
  const begin = (s: Drawn): number => Math.max(0, Math.floor((s.start - t0) / 2 ** shift));
  const dur = (s: Drawn): number =>
    Math.min(SATURATED, Math.floor((s.start + s.dur - Math.max(s.start, t0)) / 2 ** shift));
  const columns: [number, number, (s: Drawn) => number][] = [
    [1, 4, begin],
    [2, 4, dur],
    [3, 4, (s) => s.name ?? 0],
    [4, 4, (s) => s.event ?? 0],
    [5, 4, (s) => s.count ?? 1],
    [6, 1, (s) => s.fill ?? 255],
    [7, 1, (s) => s.look ?? 0],
    [8, 1, (s) => (s.start < t0 ? BEGAN_BEFORE : 0)],
  ];
  if (options.modules) columns.push([9, 4, (s) => s.module ?? 0]);
  if (options.unknown) columns.splice(2, 0, [77, 2, () => 513], [78, 8, () => 7]);
  const table = 64 + padded(4 * columns.length);
  const index = table + padded(4 * (2 * lanes.length + 1));
  const size = columns.reduce((sum, [, width]) => sum + padded(width * rows.length), index);
  const data = new DataView(new ArrayBuffer(size));
  [0x54, 0x4c, 0x4f, 0x44].forEach((byte, i) => data.setUint8(i, byte));
  data.setUint16(4, options.version ?? 1, true);
  data.setUint16(6, columns.length, true);
  data.setUint32(8, size, true);
  data.setUint32(12, level, true);
  data.setBigUint64(16, BigInt(k), true);
  data.setBigInt64(24, BigInt(t0), true);
  [shift, rows.length, lanes.length].forEach((value, i) => data.setUint32(32 + 4 * i, value, true));
  lanes.forEach((lane, i) => data.setUint32(table + 4 * i, lane, true));
  inside.reduce((sum, own, i) => {
    data.setUint32(table + 4 * (lanes.length + i + 1), sum + own.length, true);
    return sum + own.length;
  }, 0);
  let at = index;
  columns.forEach(([id, width, value], column) => {
    data.setUint8(64 + 4 * column, id);
    data.setUint8(64 + 4 * column + 1, width);
    rows.forEach((slice, i) => write(data, at + width * i, width, value(slice)));
    at += padded(width * rows.length);
  });
  return new Uint8Array(data.buffer);
}

function write(data: DataView, at: number, width: number, value: number): void {
  if (width === 1) data.setUint8(at, value);
  else if (width === 2) data.setUint16(at, value, true);
  else data.setUint32(at, value, true);
}

export function joined(parts: readonly Uint8Array[]): ArrayBuffer {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => {
    all.set(part, at);
    return at + part.length;
  }, 0);
  return all.buffer;
}

/** A query that waits for an answer. */
export interface Asked extends TileQuery {
  signal: AbortSignal;
  answer: () => Promise<void>;
  fail: (error: Error) => Promise<void>;
}

/** A source over slices whose answers come when the test says so, or at once. */
export function sourceOf(
  slices: readonly Drawn[],
  more: Partial<Source> = {},
  asked?: Asked[],
): Source {
  const span = more.span ?? Math.max(1, ...slices.map((s) => s.start + s.dur));
  // As the server: the level on which the span fits half a tile.
  const levelMax = Math.max(0, Math.floor(Math.log2(span)) - 7);
  const reply = ({ level, ks, lanes }: TileQuery): ArrayBuffer =>
    joined(ks.map((k) => encodeTile(level, k, lanes, slices)));
  const load = (query: TileQuery, signal: AbortSignal): Promise<ArrayBuffer> => {
    if (!asked) return Promise.resolve(reply(query));
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
      const settled = (): Promise<void> => new Promise((done) => setTimeout(done));
      asked.push({
        ...query,
        signal,
        answer: () => (resolve(reply(query)), settled()),
        fail: (error) => (reject(error), settled()),
      });
    });
  };
  return { offset: 0, span, levelMax, load, name: (n) => `name ${n}`, ...more };
}

export function laneRow(lane: number, y: number, more: Partial<Row> = {}): Row {
  return {
    key: `lane ${lane}`,
    kind: "lane",
    source: 0,
    label: "",
    note: "",
    indent: 0,
    y,
    height: 20,
    lane,
    counter: -1,
    open: null,
    pinned: false,
    overlap: false,
    below: [],
    ...more,
  };
}

export function frameOf(
  view: TimeRange,
  sources: readonly Source[],
  rows: readonly Row[],
  more: Partial<Frame> = {},
): Frame {
  return {
    width: 100,
    height: 100,
    ratio: 1,
    view,
    scroll: 0,
    rows,
    pinnedHeight: 0,
    sources,
    palette: paletteFor("light"),
    colourBy: "category",
    boundaries: [],
    marks: [],
    arrows: [],
    selected: null,
    hovered: null,
    area: null,
    highlight: [],
    gaps: [],
    litGroup: null,
    hits: [],
    curves: new Map(),
    figures: new Map(),
    pointer: null,
    ...more,
  };
}

/** Lets promises that are settled run on. */
export const settled = (): Promise<void> => new Promise((done) => setTimeout(done));
