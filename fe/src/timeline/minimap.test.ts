import { describe, expect, it } from "vitest";
import { centredAt, draggedTo, gripAt, highest, windowOf } from "./minimap";
import { whole } from "./viewport";

// The pad of 1 % makes the whole 1000 long: 1 px is 1 ns.
const SPAN = { t0: 10, t1: 990 };
const WIDTH = 1000;
const VIEW = { t0: 300, t1: 500 };

it("is as wide as the whole", () => {
  expect(whole(SPAN).t0).toBeCloseTo(0, 9);
  expect(whole(SPAN).t1).toBeCloseTo(1000, 9);
  expect(windowOf(VIEW, SPAN, WIDTH)).toEqual({ x0: 300, x1: 500 });
});

describe("gripAt", () => {
  it.each([
    [298, "left"],
    [504, "right"],
    [400, "inside"],
    [100, "outside"],
    [700, "outside"],
  ])("at %d is %s", (x, grip) => {
    expect(gripAt(x, VIEW, SPAN, WIDTH)).toBe(grip);
  });
  it("lets a narrow window only be moved", () => {
    expect([394, 400, 406, 420].map((x) => gripAt(x, { t0: 399, t1: 401 }, SPAN, WIDTH))).toEqual([
      "inside",
      "inside",
      "inside",
      "outside",
    ]);
  });
});

describe("draggedTo", () => {
  it("moves the window", () =>
    expect(draggedTo("inside", VIEW, SPAN, WIDTH, 400, 450)).toEqual({ t0: 350, t1: 550 }));
  it("moves an edge, also across the other", () => {
    expect(draggedTo("left", VIEW, SPAN, WIDTH, 300, 350)).toEqual({ t0: 350, t1: 500 });
    expect(draggedTo("right", VIEW, SPAN, WIDTH, 500, 200)).toEqual({ t0: 200, t1: 300 });
  });
  it("draws a new window outside, and where all is in view", () => {
    expect(draggedTo("outside", VIEW, SPAN, WIDTH, 700, 600)).toEqual({ t0: 600, t1: 700 });
    expect(draggedTo("inside", whole(SPAN), SPAN, WIDTH, 100, 200)).toEqual({ t0: 100, t1: 200 });
  });
});

it("centres about a click", () =>
  expect(centredAt(700, VIEW, SPAN, WIDTH)).toEqual({ t0: 600, t1: 800 }));

it("loses no busy part, whether there are more parts or more columns", () => {
  expect([...highest([0, 9, 0, 0, 3, 0], 2)]).toEqual([9, 3]);
  expect([...highest([5, 7], 4)]).toEqual([5, 5, 7, 7]);
  expect([...highest([], 2)]).toEqual([0, 0]);
});
