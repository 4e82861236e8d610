import { describe, expect, it } from "vitest";
import {
  firstAfter,
  firstSplit,
  foundShare,
  frameAt,
  layOutFlame,
  neighbour,
  viewOf,
  wayTo,
} from "./layout";

//  0 step [100]
//  1   conv [30]     (first at 5)
//  2   norm [60]     (first at 2)
//  3     mul [60]
//  4 loss [20]
const PARENT = [-1, 0, 0, 2, -1];
const VALUE = [100, 30, 60, 60, 20];
const heavy = layOutFlame({ parent: PARENT, value: VALUE, order: null });

describe("layOutFlame", () => {
  it("puts the widest first, children side by side below their parent", () => {
    expect([...heavy.left]).toEqual([0, 60, 0, 0, 100]);
    expect(heavy.byLevel.map((rows) => [...rows])).toEqual([[0, 4], [2, 1], [3]]);
    expect(heavy.total).toBe(120);
  });

  it("keeps the order of time where it is asked for", () => {
    const timed = layOutFlame({ parent: PARENT, value: VALUE, order: [10, 2, 5, 5, 0] });
    expect([...timed.left]).toEqual([20, 20, 50, 50, 0]);
  });

  it("makes a frame as wide as its children where they take more, and counts the unknown as nothing", () => {
    const backward = layOutFlame({ parent: [-1, 0, 0], value: [10, 30, null], order: null });
    expect([...backward.width]).toEqual([30, 30, 0]);
    expect(backward.byLevel.map((rows) => [...rows])).toEqual([[0], [1]]);
  });

  it("has no level where there is no time", () => {
    expect(layOutFlame({ parent: [-1], value: [null], order: null })).toMatchObject({
      total: 0,
      byLevel: [],
    });
  });

  it("never lets siblings overlap nor children leave their parent, in either order", () => {
    let seed = 7;
    const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
    const parent = Array.from({ length: 500 }, (_, i) =>
      i === 0 ? -1 : Math.floor(random() * i) - (random() < 0.05 ? i : 0),
    );
    const value = parent.map(() => Math.floor(random() * 1000));
    for (const order of [null, parent.map(() => random())]) {
      const { left, width, byLevel, levels } = layOutFlame({ parent, value, order });
      for (const rows of byLevel)
        rows.forEach((row, i) => {
          const next = rows[i + 1];
          if (next !== undefined) expect(left[row]! + width[row]!).toBeLessThanOrEqual(left[next]!);
          const up = parent[row]!;
          if (levels[row]! > 0) {
            expect(left[row]!).toBeGreaterThanOrEqual(left[up]!);
            expect(left[row]! + width[row]!).toBeLessThanOrEqual(left[up]! + width[up]!);
          }
        });
    }
  });
});

it("foundShare counts a frame within a found one once", () => {
  expect(foundShare(heavy, PARENT, Uint8Array.from([0, 0, 1, 1, 0]))).toBe(0.5);
  expect(foundShare(heavy, PARENT, Uint8Array.from([0, 1, 0, 0, 1]))).toBeCloseTo(50 / 120);
  expect(
    foundShare(layOutFlame({ parent: [], value: [], order: null }), [], new Uint8Array()),
  ).toBe(0);
});

it("firstSplit passes over the frames that take nearly all", () => {
  const split = (value: number[], parent: number[]): number =>
    firstSplit(layOutFlame({ parent, value, order: null }));
  expect(split([100, 99, 60, 30], [-1, 0, 1, 1])).toBe(2);
  expect(split([100, 99], [-1, 0])).toBe(2);
  expect(split([50, 50], [-1, -1])).toBe(0);
});

describe("places", () => {
  it("finds the frame at a place, and none beside them", () => {
    expect([
      frameAt(heavy, 0, 0),
      frameAt(heavy, 0, 99),
      frameAt(heavy, 0, 100),
      frameAt(heavy, 0, 120),
    ]).toEqual([0, 0, 4, -1]);
    expect([
      frameAt(heavy, 1, 59),
      frameAt(heavy, 1, 60),
      frameAt(heavy, 1, 95),
      frameAt(heavy, 7, 0),
    ]).toEqual([2, 1, -1, -1]);
    expect(firstAfter(heavy, heavy.byLevel[1]!, 60)).toBe(1);
  });

  it("shows the whole, or a frame", () => {
    expect(viewOf(heavy, -1)).toEqual({ begin: 0, length: 120 });
    expect(viewOf(heavy, 1)).toEqual({ begin: 60, length: 30 });
    expect(wayTo(PARENT, 3)).toEqual([0, 2, 3]);
    expect(wayTo(PARENT, -1)).toEqual([]);
  });
});

describe("neighbour", () => {
  it.each([
    [-1, "ArrowDown", 0],
    [0, "ArrowDown", 2],
    [3, "ArrowDown", 3],
    [3, "ArrowUp", 2],
    [0, "ArrowUp", 0],
    [2, "ArrowRight", 1],
    [1, "ArrowRight", 1],
    [1, "ArrowLeft", 2],
    [0, "ArrowRight", 4],
    [0, "ArrowLeft", 0],
    [0, "x", null],
  ])("%i %s → %s", (row, key, target) => expect(neighbour(heavy, PARENT, row, key)).toBe(target));
});
