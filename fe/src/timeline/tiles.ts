/** The binary reply of a source as typed arrays over it: nothing is copied or parsed slice by slice. `views/timeline/tiles.py` writes what is read here. */

import type { Tile } from "./types";

const MAGIC = 0x444f4c54;
const VERSION = 1;
const HEADER = 64;
/** Buckets of a tile, as a power of two: tile k of level L covers `k · 2^(L + TILE_BITS)` to `(k + 1) · 2^(L + TILE_BITS)` ns. */
export const TILE_BITS = 9;
/** A duration that did not fit: the slice ends beyond the tile. */
export const SATURATED = 0xffffffff;
/** Flag of a slice that began before the tile. */
export const BEGAN_BEFORE = 1;

/** Bytes per value by column id, which count from 1: start, dur, name, event, count, fill, look, flags, module. */
const WIDTHS = [0, 4, 4, 4, 4, 4, 1, 1, 1, 4];
const MODULE = 9;

type Header = ReturnType<typeof readHeader>;

const padded = (bytes: number): number => Math.ceil(bytes / 8) * 8;

/** All tiles of a reply. Throws an `Error` that says what is wrong when the bytes are not what they should be. */
export function decodeTiles(buffer: ArrayBuffer): Tile[] {
  const data = new DataView(buffer);
  const tiles: Tile[] = [];
  let at = 0;
  while (at < buffer.byteLength) {
    const header = readHeader(data, at);
    tiles.push(readTile(data, header));
    at = header.end;
  }
  return tiles;
}

function fail(begin: number, what: string): never {
  throw new Error(`Tile at byte ${begin}: ${what}`);
}

function readHeader(data: DataView, at: number) {
  const left = data.byteLength - at;
  if (left < HEADER) fail(at, `${left} bytes are left, a header has ${HEADER}.`);
  const four = (offset: number): number => data.getUint32(at + offset, true);
  if (four(0) !== MAGIC) fail(at, "does not begin with TLOD.");
  const version = data.getUint16(at + 4, true);
  if (version !== VERSION)
    fail(at, `version ${version}, this page reads ${VERSION}. Reload the page.`);
  const bytes = four(8);
  if (bytes < HEADER || bytes > left || bytes % 8)
    fail(at, `says it has ${bytes} bytes, ${left} are left.`);
  return {
    begin: at,
    end: at + bytes,
    columns: data.getUint16(at + 6, true),
    level: four(12),
    k: Number(data.getBigUint64(at + 16, true)),
    t0: Number(data.getBigInt64(at + 24, true)),
    shift: four(32),
    slices: four(36),
    lanes: four(40),
  };
}

function readTile(data: DataView, header: Header): Tile {
  const { begin, end, slices, lanes: count, level, k, t0, shift } = header;
  const buffer = data.buffer as ArrayBuffer;
  const table = begin + HEADER;
  const index = table + padded(4 * header.columns);
  const first = index + padded(4 * (2 * count + 1));
  if (first > end)
    fail(
      begin,
      `${header.columns} columns and ${count} lanes do not fit its ${end - begin} bytes.`,
    );
  const columns = readColumns(data, header, table, first);
  const placeOf = (id: number): number =>
    columns.get(id) ?? fail(begin, `column ${id} is missing.`);
  const four = (id: number): Uint32Array => new Uint32Array(buffer, placeOf(id), slices);
  const bytes = (id: number): Uint8Array => new Uint8Array(buffer, placeOf(id), slices);
  const ptr = new Uint32Array(buffer, index + 4 * count, count + 1);
  checkPointers(ptr, slices, begin);
  return {
    level,
    k,
    t0,
    shift,
    ptr,
    lanes: new Uint32Array(buffer, index, count),
    start: four(1),
    dur: four(2),
    name: four(3),
    event: four(4),
    count: four(5),
    fill: bytes(6),
    look: bytes(7),
    flags: bytes(8),
    module: columns.has(MODULE) ? four(MODULE) : null,
  };
}

/** Column id → where its values begin. Columns that this page does not know are passed over by their width. */
function readColumns(
  data: DataView,
  header: Header,
  table: number,
  first: number,
): Map<number, number> {
  const offsets = new Map<number, number>();
  let at = first;
  for (let i = 0; i < header.columns; i++) {
    const id = data.getUint8(table + 4 * i);
    const width = data.getUint8(table + 4 * i + 1);
    const known = WIDTHS[id];
    if (known !== undefined && known !== width)
      fail(header.begin, `column ${id} has ${width} bytes per value instead of ${known}.`);
    offsets.set(id, at);
    at += padded(width * header.slices);
  }
  if (at !== header.end)
    fail(header.begin, `its columns end at byte ${at}, the tile at ${header.end}.`);
  return offsets;
}

function checkPointers(ptr: Uint32Array, slices: number, begin: number): void {
  let last = 0;
  for (const next of ptr) {
    if (next < last) fail(begin, "its lanes are out of order.");
    last = next;
  }
  if (ptr[0] !== 0 || last !== slices)
    fail(begin, `its lanes hold ${last} slices, its columns ${slices}.`);
}
