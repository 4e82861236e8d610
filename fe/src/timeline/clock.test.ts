import { describe, expect, it } from "vitest";
import { Columns, endOnAxis, type Line, onAxis, ownAt, ownLength } from "./clock";

/** Numbers in order from one seed, so that a failure can be run again. */
function randomOf(seed: number): (most: number) => number {
  let state = seed * 2654435761 + 1;
  return (most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

/** Two recordings beside each other: pieces in which both go on, with a gap of one or the other behind each. */
function drawn(seed: number): { before: Line; after: Line } {
  const random = randomOf(seed);
  const axis = [0];
  const sides: [number[], number[]] = [[0], [0]];
  for (let i = random(8); i >= 0; i--) {
    const [both, gap, which] = [random(1000), random(3) ? random(500) : 0, random(2)];
    const [last = 0, one = 0, other = 0] = [axis, ...sides].map((line) => line.at(-1));
    axis.push(last + both, last + both + gap);
    sides[0].push(one + both, one + both + (which ? gap : 0));
    sides[1].push(other + both, other + both + (which ? 0 : gap));
  }
  const lineOf = (own: number[]): Line => ({
    axis: Float64Array.from(axis),
    own: Float64Array.from(own),
  });
  return { before: lineOf(sides[0]), after: lineOf(sides[1]) };
}

const SEEDS = Array.from({ length: 60 }, (_, seed) => seed);

describe("of any two recordings beside each other", () => {
  it("time goes on, and what is on the axis is found again", () => {
    for (const seed of SEEDS) {
      const { before } = drawn(seed);
      const placed = { offset: 0, line: before };
      const length = before.own.at(-1) ?? 0;
      let last = -Infinity;
      for (let own = -20; own <= length + 20; own += 61) {
        const [begin, end] = [onAxis(placed, own), endOnAxis(placed, own)];
        expect(end).toBeLessThanOrEqual(begin);
        expect(end).toBeGreaterThanOrEqual(last);
        last = begin;
        expect(ownAt(placed, begin)).toBeCloseTo(own, 6);
        expect(ownAt(placed, end)).toBeCloseTo(own, 6);
      }
    }
  });

  it("the gaps add up to the difference", () => {
    for (const seed of SEEDS) {
      const { before, after } = drawn(seed);
      const waits = ({ axis, own }: Line): number =>
        [...axis.keys()].slice(1).reduce((sum, i) => {
          const stands = own[i] === own[i - 1];
          return stands ? sum + (axis[i] ?? 0) - (axis[i - 1] ?? 0) : sum;
        }, 0);
      expect(waits(before) - waits(after)).toBe((after.own.at(-1) ?? 0) - (before.own.at(-1) ?? 0));
    }
  });

  it("columns say the same in any order", () => {
    for (const seed of SEEDS) {
      const { after } = drawn(seed);
      const random = randomOf(seed + 1000);
      const columns = new Columns(after, 100, 0.5);
      for (let i = 0; i < 50; i++) {
        const own = random((after.own.at(-1) ?? 0) + 10);
        const placed = { offset: 0, line: after };
        expect(columns.begin(own)).toBeCloseTo((onAxis(placed, own) - 100) / 2, 6);
        expect(columns.end(own)).toBeCloseTo((endOnAxis(placed, own) - 100) / 2, 6);
      }
    }
  });
});

it("what goes on across a gap lasts no longer for it", () => {
  const line = { axis: Float64Array.of(0, 100, 150, 200), own: Float64Array.of(0, 100, 100, 150) };
  const placed = { offset: 0, line };
  const slice = { start: onAxis(placed, 80), end: endOnAxis(placed, 120) };
  expect(slice).toEqual({ start: 80, end: 170 });
  expect(ownLength(placed, slice)).toBe(40);
  expect([endOnAxis(placed, 100), onAxis(placed, 100)]).toEqual([100, 150]);
  expect([ownAt(placed, 120), ownAt({ offset: 7 }, 120), onAxis({ offset: 7 }, 1)]).toEqual([
    100, 113, 8,
  ]);
});
