import { describe, expect, it } from "vitest";
import { encodeTile, joined, type Drawn } from "./tile_fixtures";
import { decodeTiles, SATURATED } from "./tiles";

const SLICES: Drawn[] = [
  { lane: 3, start: 5, dur: 10, event: 100, name: 7, look: 3 },
  { lane: 3, start: 500, dur: 40, event: 101, name: 8, count: 37, fill: 128 },
  { lane: 5, start: 511, dur: 0, event: 102, module: 4 },
];

describe("decodeTiles", () => {
  it("reads what the server writes", () => {
    const [first, second, ...rest] = decodeTiles(
      joined([encodeTile(0, 0, [3, 4, 5], SLICES), encodeTile(0, 1, [3, 4, 5], SLICES)]),
    );
    expect(rest).toEqual([]);
    expect([first!.level, first!.k, first!.t0, first!.shift]).toEqual([0, 0, 0, 0]);
    expect([[...first!.lanes], [...first!.ptr]]).toEqual([
      [3, 4, 5],
      [0, 2, 2, 3],
    ]);
    expect([[...first!.start], [...first!.dur]]).toEqual([
      [5, 500, 511],
      [10, 40, 0],
    ]);
    expect([[...first!.name], [...first!.event], [...first!.count]]).toEqual([
      [7, 8, 0],
      [100, 101, 102],
      [1, 37, 1],
    ]);
    expect([[...first!.fill], [...first!.look], [...first!.flags]]).toEqual([
      [255, 128, 255],
      [3, 0, 0],
      [0, 0, 0],
    ]);
    expect(first!.module).toBeNull();
    expect([
      second!.k,
      second!.t0,
      [...second!.start],
      [...second!.dur],
      [...second!.flags],
    ]).toEqual([1, 512, [0], [28], [1]]);
  });

  it("copies nothing", () => {
    const buffer = joined([encodeTile(0, 0, [3], SLICES)]);
    expect(decodeTiles(buffer)[0]!.start.buffer).toBe(buffer);
  });

  it("passes over columns that it does not know, and reads modules where there are some", () => {
    const [tile] = decodeTiles(
      joined([encodeTile(0, 0, [3, 5], SLICES, { unknown: true, modules: true })]),
    );
    expect([[...tile!.event], [...tile!.module!]]).toEqual([
      [100, 101, 102],
      [0, 0, 4],
    ]);
  });

  it("reads a tile of level 30, whose times are shortened by 8 bits", () => {
    const length = 2 ** 39;
    const [tile] = decodeTiles(
      joined([
        encodeTile(30, 2, [0], [{ lane: 0, start: 2 * length + 2 ** 33 + 255, dur: 2 ** 32 }]),
      ]),
    );
    expect([tile!.shift, tile!.t0, tile!.start[0], tile!.dur[0]]).toEqual([
      8,
      2 * length,
      2 ** 25,
      2 ** 24,
    ]);
  });

  it("leaves a duration that does not fit at its largest", () => {
    const [tile] = decodeTiles(
      joined([encodeTile(0, 0, [0], [{ lane: 0, start: 0, dur: 2 ** 40 }])]),
    );
    expect(tile!.dur[0]).toBe(SATURATED);
  });

  it("takes a reply without tiles, and tiles without slices or lanes", () => {
    expect(decodeTiles(new ArrayBuffer(0))).toEqual([]);
    expect(decodeTiles(joined([encodeTile(4, 9, [], [])]))[0]).toMatchObject({
      level: 4,
      k: 9,
    });
  });

  const broken = (change: (data: DataView) => void): (() => unknown) => {
    const buffer = joined([encodeTile(0, 0, [3, 4, 5], SLICES)]);
    change(new DataView(buffer));
    return () => decodeTiles(buffer);
  };

  it.each<[string, (data: DataView) => void, RegExp]>([
    ["another kind of file", (d) => d.setUint8(0, 0x50), /does not begin with TLOD/],
    ["a later version", (d) => d.setUint16(4, 2, true), /version 2, this page reads 1/],
    [
      "more bytes than there are",
      (d) => d.setUint32(8, 1 << 20, true),
      /says it has 1048576 bytes/,
    ],
    [
      "bytes that leave later columns unaligned",
      (d) => d.setUint32(8, d.byteLength - 3, true),
      /says it has/,
    ],
    [
      "a tile of no length, which would never end",
      (d) => d.setUint32(8, 0, true),
      /says it has 0 bytes/,
    ],
    ["more lanes than fit", (d) => d.setUint32(40, 1 << 30, true), /do not fit/],
    ["more slices than fit", (d) => d.setUint32(36, 4000, true), /its columns end at/],
    [
      "a column of the wrong width",
      (d) => d.setUint8(65, 8),
      /column 1 has 8 bytes per value instead of 4/,
    ],
    ["a missing column", (d) => d.setUint8(64, 99), /column 1 is missing/],
    ["lanes out of order", (d) => d.setUint32(64 + 32 + 4 * 4, 9, true), /out of order/],
  ])("says what is wrong with %s", (_, change, message) => {
    expect(broken(change)).toThrow(message);
  });

  it("says that a header was cut off", () => {
    expect(() => decodeTiles(new ArrayBuffer(40))).toThrow("40 bytes are left, a header has 64");
  });
});
