import { describe, expect, it } from "vitest";
import { compileSearch } from "../../base/search";
import {
  dictionaryOf,
  largestOf,
  nextSort,
  numberOf,
  shownRows,
  sortKeys,
  sortRows,
} from "./order";
import type { Column, Sort } from "./types";

const NAMES: Column = {
  key: "name",
  label: "Name",
  kind: "text",
  values: ["conv10", "add", "conv2", "add", ""],
};
const TIMES: Column = { key: "time", label: "Time", kind: "time", values: [5, NaN, 7, 5, -1] };
const SHARES: Column = {
  key: "share",
  label: "Share",
  kind: "share",
  values: Float64Array.of(0.5, 0.1, NaN, 0.9, 0.1),
};
const COLUMNS = [NAMES, TIMES, SHARES];

const shown = (
  sort: Sort | null,
  search = "",
  pinned: number[] = [],
  searchIn?: string[],
): number[] => [
  ...shownRows({
    columns: COLUMNS,
    rowCount: 5,
    matcher: compileSearch(search, false),
    searchIn,
    sort,
    pinned,
  }).rows,
];

describe("shownRows", () => {
  it("keeps the first order without a sort", () => expect(shown(null)).toEqual([0, 1, 2, 3, 4]));
  it("sorts names by their numbers, equal ones in the first order, empty ones last", () => {
    expect(shown({ key: "name", descending: false })).toEqual([1, 3, 2, 0, 4]);
    expect(shown({ key: "name", descending: true })).toEqual([0, 2, 1, 3, 4]);
  });
  it("puts unknown figures last in both directions", () => {
    expect(shown({ key: "time", descending: true })).toEqual([2, 0, 3, 1, 4]);
    expect(shown({ key: "time", descending: false })).toEqual([0, 3, 2, 1, 4]);
  });
  it("sorts differences by how much they are, and measures their bars so", () => {
    const delta: Column = {
      key: "delta",
      label: "Change",
      kind: "delta",
      values: [3, -9, NaN, 0, 5],
    };
    const { rows } = shownRows({
      columns: [delta],
      rowCount: 5,
      matcher: compileSearch("", false),
      searchIn: undefined,
      sort: { key: "delta", descending: true },
      pinned: [],
    });
    expect([...rows]).toEqual([1, 4, 0, 3, 2]);
    expect(largestOf(delta, 5)).toBe(9);
  });
  it("sorts typed arrays", () =>
    expect(shown({ key: "share", descending: true })).toEqual([3, 0, 1, 4, 2]));
  it("ignores a sort by a column that is not there", () =>
    expect(shown({ key: "gone", descending: true })).toEqual([0, 1, 2, 3, 4]));
  it("searches the text columns only", () => expect(shown(null, "conv")).toEqual([0, 2]));
  it("searches in the columns that are named", () =>
    expect(shown(null, "0.9", [], ["share"])).toEqual([3]));
  it("keeps pinned rows at the end, found or not", () => {
    expect(shown({ key: "time", descending: true }, "add", [2])).toEqual([3, 1, 2]);
  });
  it("shows everything when the pattern is wrong, and says why", () => {
    const result = shownRows({
      columns: COLUMNS,
      rowCount: 5,
      matcher: compileSearch("(", true),
      searchIn: undefined,
      sort: null,
      pinned: [],
    });
    expect([...result.rows]).toEqual([0, 1, 2, 3, 4]);
    expect(result.error).toMatch(/^Invalid regular expression/);
  });
  it("agrees with a plain sort on many rows", () => {
    const values = Array.from({ length: 2000 }, (_, i) => (i * 7919) % 101);
    const rows = sortRows(
      Uint32Array.from(values.keys()),
      sortKeys({ kind: "count", values }, values.length),
      true,
    );
    const wanted = [...values.keys()].sort((a, b) => values[b]! - values[a]! || a - b);
    expect([...rows]).toEqual(wanted);
  });
});

it("stores each text once", () => {
  const { unique, codes } = dictionaryOf(["a", "b", "a", null], 4);
  expect([unique, [...codes]]).toEqual([
    ["a", "b", ""],
    [0, 1, 0, 2],
  ]);
});

it("takes no unknown for a number", () => {
  expect(
    [
      numberOf(-1, "time"),
      numberOf(2, "knowledge"),
      numberOf(null, "count"),
      numberOf("x", "count"),
    ].every(Number.isNaN),
  ).toBe(true);
  expect([numberOf(-1, "number"), numberOf(true, "count")]).toEqual([-1, 1]);
  expect(largestOf(TIMES, 5)).toBe(7);
});

it("turns through first direction, other direction, no order", () => {
  const figure = { key: "time", kind: "time" } as const;
  const first = nextSort(null, figure);
  expect(first).toEqual({ key: "time", descending: true });
  expect(nextSort(first, figure)).toEqual({ key: "time", descending: false });
  expect(nextSort({ key: "time", descending: false }, figure)).toBeNull();
  expect(nextSort(first, { key: "name", kind: "text" })).toEqual({
    key: "name",
    descending: false,
  });
});
