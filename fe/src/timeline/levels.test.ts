import { describe, expect, it } from "vitest";
import { levelFor, tileLength, tilesFor } from "./levels";

describe("levelFor", () => {
  it.each([
    [0.01, 0],
    [1, 0],
    [1.99, 0],
    [2, 1],
    [1000, 9],
    [2 ** 29, 29],
    [2 ** 29 - 1, 28],
    [37_500_000, 25],
    [2 ** 60, 40],
    [NaN, 0],
    [0, 0],
  ])("%d ns per px is level %d", (nsPerPx, level) => {
    expect(levelFor(nsPerPx, 40)).toBe(level);
  });

  it("never asks for a bucket wider than a px, wherever the logarithm rounds", () => {
    for (let level = 1; level < 50; level++) {
      for (const near of [2 ** level - 2 ** (level - 40), 2 ** level, 2 ** level + 1]) {
        const found = levelFor(near, 60);
        expect(2 ** found).toBeLessThanOrEqual(near);
        expect(2 ** (found + 1)).toBeGreaterThan(near);
      }
    }
  });
});

describe("tilesFor", () => {
  it("gives the tiles that a range touches", () => {
    expect(tileLength(0)).toBe(512);
    expect(tilesFor(0, { t0: 0, t1: 512 }, 10_000)).toEqual([0]);
    expect(tilesFor(0, { t0: 511.5, t1: 512.5 }, 10_000)).toEqual([0, 1]);
    expect(tilesFor(0, { t0: 512, t1: 513 }, 10_000)).toEqual([1]);
  });

  it("stays within the source, the event at its very end included", () => {
    expect(tilesFor(0, { t0: -5000, t1: 600 }, 10_000)).toEqual([0, 1]);
    expect(tilesFor(0, { t0: 900, t1: 1e9 }, 1024)).toEqual([1, 2]);
    expect(tilesFor(0, { t0: 1100, t1: 1200 }, 1024)).toEqual([]);
    expect(tilesFor(0, { t0: -9, t1: 0 }, 1024)).toEqual([]);
    expect(tilesFor(0, { t0: 5, t1: 5 }, 1024)).toEqual([]);
  });

  it("counts beyond 32 bits: a minute seen at once, and a day", () => {
    expect(tilesFor(25, { t0: 0, t1: 60e9 }, 60e9)).toEqual([0, 1, 2, 3]);
    expect(tilesFor(0, { t0: 86_400e9, t1: 86_400e9 + 10 }, 90_000e9)).toEqual([168_750_000_000]);
  });
});
