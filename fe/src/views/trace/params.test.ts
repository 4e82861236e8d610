import { describe, expect, it } from "vitest";
import {
  changesOf,
  LONGEST_NOTE,
  MOST_MARKS,
  readArea,
  readEvent,
  readKeys,
  readMarks,
  readRows,
  readView,
  writeArea,
  writeEvent,
  writeKeys,
  writeMarks,
  writeRows,
  writeView,
} from "./params";
import { parseRanges, rangesText } from "../../base/ranges";

describe("ranges", () => {
  it.each([
    [[], ""],
    [[3], "3"],
    [[0, 1, 2, 5, 7, 8], "0-2,5,7-8"],
  ])("%j is %s and back", (numbers, text) => {
    expect(rangesText(numbers)).toBe(text);
    expect(parseRanges(text, 100)).toEqual(numbers);
  });
  it("takes no more than it may, and leaves out what is none", () => {
    expect(parseRanges("0-9999999", 5)).toEqual([0, 1, 2, 3, 4]);
    expect(parseRanges("x,-3,4-2,<b>,7", 5)).toEqual([7]);
  });
});

describe("the selected event", () => {
  it.each([
    ["17", { key: "", event: 17 }],
    ["3:17", { key: "3", event: 17 }],
  ])("%s and back", (text, value) => {
    expect(readEvent(text)).toEqual(value);
    expect(writeEvent(value)).toBe(text);
  });
  it.each([undefined, "", "x", "1:", "-1", "99999999999", "1:2:3"])("%s is none", (text) =>
    expect(readEvent(text)).toBeNull(),
  );
});

describe("the view", () => {
  it("comes back, and covers what was seen in parts of a ns", () => {
    expect(readView("-5,100")).toEqual({ t0: -5, t1: 95 });
    expect(writeView({ t0: -5, t1: 95 })).toBe("-5,100");
    expect(readView(writeView({ t0: 1.5, t1: 1.6 }))).toEqual({ t0: 1, t1: 2 });
  });
  it.each([undefined, "", "5", "5,0", "5,-1", "a,b"])("%s is none", (text) =>
    expect(readView(text)).toBeNull(),
  );
});

describe("the area", () => {
  it("comes back with the lanes of each source, whatever the order of sources then", () => {
    const area = {
      t0: 10,
      t1: 20,
      lanes: new Map([
        [0, [3, 1, 2]],
        [1, [7]],
      ]),
    };
    const texts = writeArea(
      area,
      ["a", "b"].map((_, i) => String(i)),
    );
    expect(texts).toEqual({ area: "10,20", arealanes: "0:1-3;1:7" });
    expect(readArea(texts.area, texts.arealanes, ["1", "0"])).toEqual({
      t0: 10,
      t1: 20,
      lanes: new Map([
        [1, [1, 2, 3]],
        [0, [7]],
      ]),
    });
  });
  it("has no key where one source is alone", () => {
    expect(writeArea({ t0: 1, t1: 2, lanes: new Map([[0, [4]]]) }, [""])).toEqual({
      area: "1,2",
      arealanes: "4",
    });
    expect(readArea("1,2", "4", [""])?.lanes).toEqual(new Map([[0, [4]]]));
  });
  it("is none without a stretch", () =>
    expect([readArea(undefined, "1", [""]), readArea("5,5", "1", [""])]).toEqual([null, null]));
});

it("row keys may hold anything", () => {
  const keys = ["1/2,3", "a~b", "~c", "plain", ""];
  expect(readKeys(writeKeys(keys))).toEqual(keys);
});

it("rows set only what changed", () => {
  const rows = readRows({ open: "a,b", filter: "gpu" });
  expect([...rows.open]).toEqual(["a", "b"]);
  const texts = writeRows({ ...rows, shut: new Set(["c"]), filter: "" });
  expect(changesOf(texts, { open: "a,b", filter: "gpu" })).toEqual([
    ["shut", "c"],
    ["filter", ""],
  ]);
});

it("an address does not say what it says by nothing", () =>
  expect(changesOf({ re: true, args: false, q: null, colour: "category" }, { args: "1" })).toEqual([
    ["re", "1"],
    ["args", ""],
  ]));

it("marks come back with names in their order", () => {
  const marks = readMarks(
    writeMarks([
      { start: 5, end: 5 },
      { start: 10, end: 30 },
    ]),
  );
  expect(marks.map(({ label, start, end }) => [label, start, end])).toEqual([
    ["Mark 1", 5, 5],
    ["Mark 2", 10, 30],
  ]);
  expect(readMarks("x;;9,3")).toEqual([]);
});

describe("notes", () => {
  it("keep every sign, and lose only what no note has", () => {
    const note = 'a~b,c;d & "e" <img src=x> ü';
    const marks = readMarks(
      writeMarks([
        { start: 3, end: 9, note },
        { start: 5, end: 5 },
      ]),
    );
    expect(marks.map(({ note: text, label, start, end }) => [text, label, start, end])).toEqual([
      [note, note, 3, 9],
      ["", "Mark 2", 5, 5],
    ]);
    expect(readMarks("1,2,a\nb\u0007c")[0]?.note).toBe("a b c");
  });
  it("are cut to a length that a link can hold", () => {
    const many = Array.from({ length: 150 }, () => ({ start: 1, end: 2, note: "x".repeat(400) }));
    const marks = readMarks(writeMarks(many));
    expect([marks.length, marks[0]?.note?.length]).toEqual([MOST_MARKS, LONGEST_NOTE]);
  });
});
