import { describe, expect, it } from "vitest";
import { sampleTree } from "./fixtures";
import { NO_ROW_STATE } from "./props";
import { layOut, rowsInSight, type RowLayout } from "./rows";
import {
  areaInSight,
  areaOf,
  extentOf,
  lanesDrawn,
  lanesMeant,
  scrollFor,
  visibleRangeOf,
  type Shown,
} from "./visible_range";

const TREE = sampleTree();
// host 0-24, main 24-46, calls/1 46-64, calls/2 64-82, python 82-104, memory 104-148, gpu 148-172, stream 7 172-194, stream 9 194-216, overlap 216-234
const OPEN = layOut(TREE, NO_ROW_STATE, 1000);
const SHUT = layOut(TREE, { ...NO_ROW_STATE, shut: new Set(["gpu"]) }, 1000);
const VIEW = { t0: 1000, t1: 2000 };

const shown = (layout: RowLayout, scroll = 0, rows = layout.rows): Shown => ({
  view: VIEW,
  width: 500,
  height: 300,
  scroll,
  layout,
  rows,
});

it("tells what is drawn", () => {
  const visible = visibleRangeOf(shown(OPEN, 0, rowsInSight(OPEN, 150, 50)));
  expect(visible.nsPerPx).toBe(2);
  expect(visible.rows.map((row) => row.key)).toEqual(["gpu", "stream 7", "stream 9"]);
  expect([...visible.lanes]).toEqual([[0, [5, 6]]]);
});

it("means all lanes below a folded row but draws one", () => {
  expect(lanesDrawn(SHUT.rows).get(0)).toEqual([0, 2, 3, 4, 5]);
  expect(lanesMeant(SHUT.rows, SHUT).get(0)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

describe("areaOf", () => {
  const area = (y0: number, y1: number, x0 = 100, x1 = 400): ReturnType<typeof areaOf> =>
    areaOf({ x: x0, y: y0 }, { x: x1, y: y1 }, shown(OPEN));

  it("has the touched rows, whichever way it was drawn", () => {
    expect(area(200, 180)).toEqual({ t0: 1200, t1: 1800, lanes: new Map([[0, [5, 6]]]) });
    expect(area(180, 200, 400, 100)).toEqual(area(200, 180));
  });
  it("ends at the canvas", () =>
    expect(area(180, 181, -50, 900)).toEqual({ t0: 1000, t1: 2000, lanes: new Map([[0, [5]]]) }));
  it("takes all in sight where it touched no lanes", () =>
    expect(area(110, 120)?.lanes.get(0)).toEqual(
      [0, 2, 3, 4, 5, 6, 7]
        .sort((a, b) => a - b)
        .concat([1])
        .sort((a, b) => a - b),
    ));
  it("is none without width", () => expect(area(180, 190, 100, 100)).toBeNull());
  it("does not see rows that pinned ones hide", () => {
    const layout = layOut(TREE, { ...NO_ROW_STATE, pinned: ["memory"] }, 1000);
    // Scrolled by 100: calls/2 (108-126) lies under the pinned 44 px.
    const found = areaOf(
      { x: 0, y: 5 },
      { x: 9, y: 20 },
      shown(layout, 60, rowsInSight(layout, 60, 200)),
    );
    expect(found?.lanes.get(0)?.length).toBeGreaterThan(2);
    const below = areaOf(
      { x: 0, y: 45 },
      { x: 9, y: 46 },
      shown(layout, 60, rowsInSight(layout, 60, 200)),
    );
    expect(below?.lanes.get(0)).toEqual([3]);
  });
});

it("makes an area of all that is in view, inside the trace", () => {
  expect(
    areaInSight({ ...shown(OPEN), view: { t0: -5, t1: 99 } }, { t0: 0, t1: 50 }),
  ).toMatchObject({
    t0: 0,
    t1: 50,
  });
});

it("frames the rows of an area", () => {
  const area = { t0: 0, t1: 1, lanes: new Map([[0, [3, 4]]]) };
  expect(extentOf(area, shown(OPEN, 10))).toEqual({ y0: 36, y1: 72 });
  expect(extentOf({ ...area, lanes: new Map([[7, [3]]]) }, shown(OPEN))).toBeNull();
});

describe("scrollFor", () => {
  const row = OPEN.rows.find((found) => found.key === "stream 9")!; // 194-216
  it("leaves what is in sight", () =>
    expect(scrollFor({ ...shown(OPEN, 100), height: 200 }, row)).toBe(100));
  it("comes from above and from below with some room", () => {
    expect(scrollFor({ ...shown(OPEN, 200), height: 122 }, row)).toBe(194 - 25);
    expect(scrollFor({ ...shown(OPEN), height: 122 }, row)).toBe(216 - 122 + 25);
  });
});
