import { describe, expect, it } from "vitest";
import { TileCache } from "./tile_cache";
import { decodeTiles } from "./tiles";
import { encodeTile, joined, sourceOf, type Drawn } from "./tile_fixtures";

const SLICES: Drawn[] = [
  { lane: 0, start: 0, dur: 100, event: 1 },
  { lane: 0, start: 400, dur: 300, event: 2 },
  { lane: 0, start: 700, dur: 300, event: 3 },
  { lane: 0, start: 1500, dur: 0, event: 4 },
  { lane: 1, start: 600, dur: 10, event: 5 },
];
const SPAN = 2048;

function cacheOf(
  limit = 1e9,
  more = {},
): { cache: TileCache; put: (level: number, ks: number[], lanes: number[]) => void } {
  const source = sourceOf(SLICES, { span: SPAN, levelMax: 3, ...more });
  const cache = new TileCache([source], limit);
  return {
    cache,
    put: (level, ks, lanes) => {
      const buffer = joined(ks.map((k) => encodeTile(level, k, lanes, SLICES)));
      cache.put(0, { level, ks, lanes }, decodeTiles(buffer), buffer.byteLength);
    },
  };
}

/** What a visit showed: `[level, event, from, to]` of every slice. */
function seen(
  cache: TileCache,
  level: number,
  t0: number,
  t1: number,
  lane = 0,
): [string, number[][]] {
  const shown: number[][] = [];
  const found = cache.visit(0, lane, level, { t0, t1 }, (tile, from, to, begin, end) => {
    for (let i = from; i < to; i++) shown.push([tile.level, tile.event[i]!, begin, end]);
  });
  return [found, shown];
}

describe("TileCache", () => {
  it("shows each tile within its own stretch, the slice over two of them in both", () => {
    const { cache, put } = cacheOf();
    put(0, [0, 1, 2, 3], [0, 1]);
    expect(seen(cache, 0, 50, 900)).toEqual([
      "exact",
      [
        [0, 1, 50, 512],
        [0, 2, 50, 512],
        [0, 2, 512, 900],
        [0, 3, 512, 900],
      ],
    ]);
  });

  it("finds what touches the range only, and what has no length", () => {
    const { cache, put } = cacheOf();
    put(0, [0, 1, 2, 3], [0, 1]);
    expect(seen(cache, 0, 100, 400)).toEqual(["exact", []]);
    expect(seen(cache, 0, 1500, 1501)[1]).toEqual([[0, 4, 1500, 1501]]);
    expect(seen(cache, 0, 1499, 1500)[1]).toEqual([]);
    expect(seen(cache, 0, 699, 701)[1].map(([, event]) => event)).toEqual([2, 3]);
  });

  it("remembers that a lane or a whole tile is empty", () => {
    const { cache } = cacheOf();
    cache.put(0, { level: 0, ks: [2], lanes: [0, 9] }, [], 0);
    expect([cache.has(0, 0, 2, 9), cache.has(0, 0, 2, 8), cache.has(0, 0, 3, 9)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(seen(cache, 0, 1100, 1200)).toEqual(["exact", []]);
  });

  it("lets the nearest coarser tile stand in, only where one is missing", () => {
    const { cache, put } = cacheOf();
    put(3, [0], [0]);
    put(1, [0], [0]);
    put(0, [0], [0]);
    expect(seen(cache, 0, 0, 1100)).toEqual([
      "coarser",
      [
        [0, 1, 0, 512],
        [0, 2, 0, 512],
        [1, 2, 512, 1024],
        [1, 3, 512, 1024],
      ],
    ]);
    expect(seen(cache, 0, 1400, 1600)).toEqual(["coarser", [[3, 4, 1400, 1536]]]);
  });

  it("prefers finer tiles when all of them are there: zooming out keeps what was sharp", () => {
    const { cache, put } = cacheOf();
    put(3, [0], [0]);
    put(0, [0, 1], [0]);
    expect(seen(cache, 1, 0, 1024)[1].map(([level]) => level)).toEqual([0, 0, 0, 0]);
    expect(seen(cache, 1, 1024, 2048)[1].map(([level]) => level)).toEqual([3]);
  });

  it("says when nothing is known", () => {
    const { cache, put } = cacheOf();
    expect(seen(cache, 0, 0, 100)).toEqual(["missing", []]);
    put(0, [0], [0]);
    expect(seen(cache, 0, 0, 700)[0]).toBe("missing");
  });

  it("reckons with the source's offset", () => {
    const { cache, put } = cacheOf(1e9, { offset: -1000 });
    put(0, [0], [0]);
    expect(seen(cache, 0, -1000, -600)).toEqual(["exact", [[0, 1, 0, 400]]]);
  });

  it("shows slices whose end is not known up to the end of the tile", () => {
    const long: Drawn[] = [{ lane: 0, start: 10, dur: 2 ** 40, event: 9 }];
    const cache = new TileCache([sourceOf(long, { span: 2 ** 41, levelMax: 33 })], 1e9);
    const buffer = joined([encodeTile(0, 0, [0], long)]);
    cache.put(0, { level: 0, ks: [0], lanes: [0] }, decodeTiles(buffer), 0);
    expect(seen(cache, 0, 500, 512)).toEqual(["exact", [[0, 9, 500, 512]]]);
  });

  it("refuses a tile that was not asked for", () => {
    const { cache } = cacheOf();
    const tiles = decodeTiles(joined([encodeTile(0, 1, [0], SLICES)]));
    expect(() => cache.put(0, { level: 0, ks: [0], lanes: [0] }, tiles, 0)).toThrow(
      "Tile 1 of level 0 was not asked for.",
    );
  });

  it("lets go of what was not looked at for longest, never of the two coarsest levels nor of what is in sight", () => {
    const { cache, put } = cacheOf(1200);
    put(3, [0], [0]);
    put(2, [0], [0]);
    for (const k of [0, 1]) {
      cache.tick();
      put(0, [k], [0]);
    }
    expect([cache.has(0, 0, 0, 0), cache.has(0, 0, 1, 0)]).toEqual([true, true]);
    cache.tick();
    seen(cache, 0, 0, 10);
    put(0, [2], [0]);
    expect([cache.has(0, 0, 0, 0), cache.has(0, 0, 1, 0), cache.has(0, 0, 2, 0)]).toEqual([
      true,
      false,
      true,
    ]);
    expect([cache.has(0, 2, 0, 0), cache.has(0, 3, 0, 0)]).toEqual([true, true]);
    expect(cache.bytes).toBeLessThanOrEqual(1200);
    cache.clear();
    expect([cache.bytes, cache.has(0, 3, 0, 0)]).toEqual([0, false]);
  });

  it("keeps the newer of two replies about the same lane when the older one goes", () => {
    const { cache, put } = cacheOf(700);
    put(0, [0], [0]);
    cache.tick();
    put(0, [0], [0, 1]);
    cache.tick();
    put(0, [1], [0]);
    expect(cache.has(0, 0, 0, 0)).toBe(true);
    expect(cache.bytes).toBeLessThanOrEqual(700);
  });
});
