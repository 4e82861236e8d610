import { describe, expect, it } from "vitest";
import { compileSearch } from "../../base/search";
import { firstLevel, levelsOf, treeRows, unfoldedRows } from "./tree";
import type { Column } from "./types";

//  0 net
//  1   a     (parent 0)
//  2     x   (parent 1)
//  3   b     (parent 0)
//  4     x   (parent 3)
//  5 loss
const PARENT = [-1, 0, 1, 0, 3, -1];
const COLUMNS: Column[] = [
  { key: "name", label: "Name", kind: "text", values: ["net", "a", "x", "b", "x2", "loss"] },
  { key: "time", label: "Time", kind: "time", values: [10, 3, 3, 7, 7, 20] },
];

const rows = (
  text = "",
  sort: { key: string; descending: boolean } | null = null,
): ReturnType<typeof treeRows> =>
  treeRows(
    {
      columns: COLUMNS,
      rowCount: 6,
      matcher: compileSearch(text, false),
      searchIn: undefined,
      sort,
    },
    PARENT,
    text !== "",
  );

describe("treeRows", () => {
  it("keeps the order in which rows came, and each before what is beneath it", () => {
    expect([...rows().rows]).toEqual([0, 1, 2, 3, 4, 5]);
    expect(rows()).toMatchObject({ found: 6, above: null });
  });

  it("sorts siblings, not rows of different parents", () => {
    expect([...rows("", { key: "time", descending: true }).rows]).toEqual([5, 0, 3, 4, 1, 2]);
  });

  it("keeps what is around a found row, and what is beneath it", () => {
    const found = rows("x2");
    expect([...found.rows]).toEqual([0, 3, 4]);
    expect(found.found).toBe(1);
    expect([...(found.above ?? [])]).toEqual([1, 0, 0, 1, 0, 0]);
    expect([...rows("a").rows]).toEqual([0, 1, 2]);
  });

  it("has no row where nothing is found, and all where the pattern is wrong", () => {
    expect(rows("nothing").rows).toHaveLength(0);
    const wrong = treeRows(
      {
        columns: COLUMNS,
        rowCount: 6,
        matcher: compileSearch("(", true),
        searchIn: undefined,
        sort: null,
      },
      PARENT,
      true,
    );
    expect(wrong.rows).toHaveLength(6);
    expect(wrong.above).toBeNull();
  });

  it("stands parents that come later and circles: such rows are outermost", () => {
    const broken = treeRows(
      {
        columns: [],
        rowCount: 3,
        matcher: compileSearch("", false),
        searchIn: undefined,
        sort: null,
      },
      [1, 2, 0],
      false,
    );
    expect([...broken.rows].sort()).toEqual([0, 1, 2]);
  });

  it("stands a way of 100,000 rows, one beneath the other", () => {
    const parent = Int32Array.from({ length: 100_000 }, (_, i) => i - 1);
    const deep = treeRows(
      {
        columns: [],
        rowCount: 100_000,
        matcher: compileSearch("", false),
        searchIn: undefined,
        sort: null,
      },
      parent,
      false,
    );
    expect(deep.rows).toHaveLength(100_000);
    expect(deep.rows[99_999]).toBe(99_999);
  });
});

describe("folding", () => {
  const levels = levelsOf(PARENT);
  it("knows the levels", () => expect([...levels]).toEqual([0, 1, 2, 1, 2, 0]));

  it("leaves out what is beneath folded rows", () => {
    const { rows: all } = rows();
    expect([...unfoldedRows(all, levels, (row) => row !== 1)]).toEqual([0, 1, 3, 4, 5]);
    expect([...unfoldedRows(all, levels, () => false)]).toEqual([0, 5]);
  });

  it("opens as many levels as there is room for, and one that has none where little would be seen", () => {
    const levels = (...counts: number[]): Uint16Array =>
      Uint16Array.from(counts.flatMap((count, level) => Array<number>(count).fill(level)));
    expect(firstLevel(levels(5, 10, 10, 100))).toBe(2);
    expect(firstLevel(levels(1, 2, 3))).toBe(3);
    expect(firstLevel(levels(1, 60, 60))).toBe(1);
    expect(firstLevel(levels(500, 1000))).toBe(0);
  });
});
