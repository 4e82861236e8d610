import { fitting, widthsOf } from "./storage";
import type { Column } from "./types";
import { describe, expect, it } from "vitest";
import {
  moveCell,
  mostRows,
  offsetOf,
  positionAt,
  ROW_HEIGHT as H,
  totalHeight,
  windowOf,
} from "./layout";

const OPEN = [
  { position: 2, height: 100 },
  { position: 5, height: 50 },
];

describe("places of rows", () => {
  it("adds what is open above", () =>
    expect([2, 3, 5, 6].map((row) => offsetOf(row, OPEN))).toEqual([
      2 * H,
      3 * H + 100,
      5 * H + 100,
      6 * H + 150,
    ]));
  it("adds up", () => expect(totalHeight(10, OPEN)).toBe(10 * H + 150));
  it("finds the row back from any point of its area", () => {
    for (let row = 0; row < 10; row++) {
      for (const inside of [0, H - 1])
        expect(positionAt(offsetOf(row, OPEN) + inside, 10, OPEN)).toBe(row);
    }
    expect(positionAt(3 * H + 50, 10, OPEN)).toBe(2);
    expect(positionAt(1e9, 10, OPEN)).toBe(9);
    expect(positionAt(0, 0, [])).toBe(0);
  });
  it("draws few of many rows", () => {
    const { first, last } = windowOf(50_000 * H, 600, 100_000, []);
    expect(first).toBeLessThanOrEqual(50_000);
    expect(last).toBeGreaterThanOrEqual(50_000 + Math.ceil(600 / H));
    expect(last - first).toBeLessThan(60);
    for (let top = 0; top < 100; top++) {
      const drawn = windowOf(40_000 + top, 601, 100_000, []);
      expect(drawn.last - drawn.first).toBeLessThanOrEqual(mostRows(601));
    }
    expect(windowOf(0, 600, 0, [])).toEqual({ first: 0, last: 0 });
  });
});

describe("moveCell", () => {
  const extent = { rows: 100, columns: 5, page: 20 };
  const at = { row: 50, column: 2 };
  it.each([
    ["ArrowDown", false, 51, 2],
    ["ArrowUp", false, 49, 2],
    ["ArrowLeft", false, 50, 1],
    ["ArrowRight", false, 50, 3],
    ["PageDown", false, 70, 2],
    ["PageUp", false, 30, 2],
    ["Home", false, 50, 0],
    ["End", false, 50, 4],
    ["Home", true, 0, 0],
    ["End", true, 99, 4],
    ["ArrowDown", true, 99, 2],
  ])("%s (control %s)", (key, control, row, column) =>
    expect(moveCell(at, key, control, extent)).toEqual({ row, column }),
  );
  it("stays inside", () => {
    expect(moveCell({ row: 0, column: 0 }, "ArrowUp", false, extent)).toEqual({
      row: 0,
      column: 0,
    });
    expect(moveCell({ row: 95, column: 4 }, "PageDown", false, extent)).toEqual({
      row: 99,
      column: 4,
    });
  });
  it("leaves other keys alone", () => expect(moveCell(at, "a", false, extent)).toBeNull());
  it("has nowhere to go in an empty table", () =>
    expect(moveCell(at, "Home", false, { ...extent, rows: 0 })).toBeNull());
});

describe("fitting", () => {
  const column = (key: string, more: Partial<Column> = {}): Column => ({
    key,
    label: key,
    kind: "count",
    width: 100,
    values: [],
    ...more,
  });
  const columns = [
    column("name", { kind: "code" }),
    column("a"),
    column("b"),
    column("c", { width: 60 }),
    column("go", { action: true }),
  ];
  const saved = { hidden: {}, widths: {} };
  const keysOf = (some: Column[], room: number, sorted?: string, more = {}): string =>
    fitting(some, { ...saved, ...more }, room, sorted)
      .map(({ key }) => key)
      .join(" ");
  const keys = (...wanted: [number, string?, object?]): string => keysOf(columns, ...wanted);

  it("leaves out all columns from the first for which there is no room", () => {
    expect(keys(Infinity)).toBe("name a b c go");
    expect(keys(400)).toBe("name a b go");
    expect(keys(390)).toBe("name a go");
  });
  it("leaves out what leads somewhere before the figure that the table is of", () => {
    expect(keys(250)).toBe("name a");
    expect(
      keysOf(
        columns.map((c) => (c.key === "b" ? { ...c, bar: true } : c)),
        0,
      ),
    ).toBe("name b");
    expect(keys(0)).toBe("name a");
  });
  it("keeps the sorted column, and those that somebody chose", () => {
    expect(keys(300, "b")).toBe("name b go");
    expect(keys(0, undefined, { hidden: { c: false } })).toBe("name a c");
  });
  it("gives the name at most half of the room, unless somebody dragged it", () => {
    expect(widthsOf(columns, saved, 120)[0]).toBe(60);
    expect(widthsOf(columns, { ...saved, widths: { name: 90 } }, 120)[0]).toBe(90);
  });
  it("keeps all where somebody asked for them", () => {
    expect(keys(0, undefined, { all: true })).toBe("name a b c go");
  });
});
