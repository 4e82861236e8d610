import { describe, expect, it } from "vitest";
import {
  between,
  bring,
  confine,
  ease,
  fit,
  lengthOf,
  NARROWEST,
  panBy,
  timeAt,
  whole,
  xAt,
  zoomAt,
} from "./viewport";

const SPAN = { t0: 1000, t1: 101_000 };

const inside = (view: { t0: number; t1: number }): void => {
  const widest = whole(SPAN);
  expect(view.t0).toBeGreaterThanOrEqual(widest.t0 - 1e-6);
  expect(view.t1).toBeLessThanOrEqual(widest.t1 + 1e-6);
  expect(lengthOf(view)).toBeGreaterThanOrEqual(NARROWEST - 1e-9);
};

it("turns px into times and back", () => {
  const view = { t0: 500, t1: 1500 };
  expect(timeAt({ view, width: 200 }, 50)).toBe(750);
  expect(xAt({ view, width: 200 }, 750)).toBe(50);
});

describe("confine", () => {
  it("shows the whole span where the view is longer or no number", () => {
    expect(confine({ t0: -1e9, t1: 1e9 }, SPAN)).toEqual(whole(SPAN));
    expect(confine({ t0: NaN, t1: 5 }, SPAN)).toEqual(whole(SPAN));
    expect(confine({ t0: 5, t1: Infinity }, SPAN)).toEqual(whole(SPAN));
  });
  it("keeps the length when it moves the view back", () => {
    const view = confine({ t0: 100_500, t1: 110_500 }, SPAN);
    expect(lengthOf(view)).toBeCloseTo(10_000, 6);
    expect(view.t1).toBeCloseTo(101_100, 6);
  });
  it("widens what is too narrow about its middle", () => {
    expect(confine({ t0: 5000, t1: 5000 }, SPAN)).toEqual({
      t0: 5000 - NARROWEST / 2,
      t1: 5000 + NARROWEST / 2,
    });
    expect(lengthOf(confine({ t0: 6000, t1: 5000 }, SPAN))).toBe(NARROWEST);
  });
  it("takes spans of nothing", () => inside(confine({ t0: 0, t1: 1 }, { t0: 1000, t1: 1000 })));
  it("is at rest: confining it again changes nothing", () => {
    for (const view of [
      { t0: 0, t1: 20 },
      { t0: 90_000, t1: 120_000 },
      { t0: 5, t1: 4 },
      whole(SPAN),
    ]) {
      const once = confine(view, SPAN);
      const twice = confine(once, SPAN);
      expect(twice.t0).toBeCloseTo(once.t0, 6);
      expect(twice.t1).toBeCloseTo(once.t1, 6);
      inside(once);
    }
  });
});

describe("zoomAt", () => {
  it("keeps the time under the pointer", () => {
    const view = { t0: 20_000, t1: 40_000 };
    const closer = zoomAt(view, 0.25, 0.5, SPAN);
    expect(lengthOf(closer)).toBe(10_000);
    expect(timeAt({ view: closer, width: 1 }, 0.25)).toBe(25_000);
  });
  it("stops at both ends", () => {
    expect(lengthOf(zoomAt({ t0: 20_000, t1: 20_020 }, 0.5, 1e-9, SPAN))).toBeCloseTo(NARROWEST, 9);
    expect(zoomAt({ t0: 20_000, t1: 40_000 }, 0.5, 1e9, SPAN)).toEqual(whole(SPAN));
  });
  it("keeps 1 ns apart on a long trace", () => {
    const day = { t0: 0, t1: 86_400e9 };
    let view = whole(day);
    const at = 43_200e9 + 1;
    for (let i = 0; i < 80; i++) view = zoomAt(view, xAt({ view, width: 1 }, at), 0.6, day);
    expect(lengthOf(view)).toBeCloseTo(NARROWEST, 2);
    expect(at).toBeGreaterThan(view.t0);
    expect(at).toBeLessThan(view.t1);
  });
});

it("pans by a share of the view and stops at the end", () => {
  expect(panBy({ t0: 20_000, t1: 30_000 }, 0.5, SPAN)).toEqual({ t0: 25_000, t1: 35_000 });
  expect(panBy({ t0: 20_000, t1: 30_000 }, -99, SPAN).t0).toBeCloseTo(900, 6);
});

it("fits a range with margins", () =>
  expect(fit({ t0: 20_000, t1: 30_000 }, 0.1, SPAN)).toEqual({ t0: 19_000, t1: 31_000 }));

describe("bring", () => {
  const view = { t0: 20_000, t1: 30_000 };
  it("leaves what is in sight", () =>
    expect(bring(view, { t0: 21_000, t1: 29_000 }, SPAN)).toBe(view));
  it("leaves what fills the view", () =>
    expect(bring(view, { t0: 0, t1: 90_000 }, SPAN)).toBe(view));
  it("centres what is not", () =>
    expect(bring(view, { t0: 50_000, t1: 52_000 }, SPAN)).toEqual({ t0: 46_000, t1: 56_000 }));
  it("shows the begin of what is longer", () =>
    expect(bring(view, { t0: 50_000, t1: 90_000 }, SPAN).t0).toBe(49_900));
});

describe("between", () => {
  const from = { t0: 0, t1: 1000 };
  it("begins and ends where it should", () => {
    expect(between(from, { t0: 5, t1: 6 }, 0)).toBe(from);
    expect(between(from, { t0: 5, t1: 6 }, 1)).toEqual({ t0: 5, t1: 6 });
  });
  it("keeps the fixed point of a zoom", () => {
    const to = { t0: 240, t1: 250 + 30 }; // 250 is at a quarter of both
    for (const p of [0.1, 0.5, 0.9]) {
      const view = between(from, to, p);
      expect((250 - view.t0) / lengthOf(view)).toBeCloseTo(0.25, 9);
    }
  });
  it("slides evenly when the length stays", () =>
    expect(between(from, { t0: 1000, t1: 2000 }, 0.5)).toEqual({ t0: 500, t1: 1500 }));
});

it("eases from 0 to 1 without going back", () => {
  const values = Array.from({ length: 21 }, (_, i) => ease(i / 20));
  expect([values[0], values[10], values[20]]).toEqual([0, 0.5, 1]);
  expect(values.every((value, i) => i === 0 || value >= (values[i - 1] ?? 0))).toBe(true);
});
