import { describe, expect, it } from "vitest";
import { TIME_GROUPS } from "../../timeline/palette_of_theme";
import { highlightOf, timeOnPath } from "./path";

describe("timeOnPath", () => {
  const highlight = {
    lanes: new Map([[2, Float64Array.of(10, 20)]]),
    groups: new Map(),
    events: new Set<number>(),
  };

  it("measures what is shown, on the clock of the recording", () => {
    expect(timeOnPath(highlight, { lane: 2, start: 115, end: 130 }, { offset: 100 })).toEqual([
      "5 ns on the critical path",
    ]);
  });

  it("says nothing of what is off the path, or of no path", () => {
    expect(timeOnPath(highlight, { lane: 1, start: 115, end: 130 }, { offset: 100 })).toEqual([]);
    expect(timeOnPath(null, { lane: 2, start: 115, end: 130 }, { offset: 100 })).toEqual([]);
  });
});

describe("highlightOf", () => {
  it("puts the segments of each lane in a row, with their groups", () => {
    const { lanes, groups, events } = highlightOf({
      lane: [0, 0, 2],
      kind: ["dataloader", "operator", "kernel"],
      event: [4, 5, 9],
      start_ns: [10, 30, 20],
      end_ns: [20, 40, 30],
      source_lane: [],
      target_lane: [],
      source_ns: [],
      target_ns: [],
    });
    expect([...lanes].map(([lane, times]) => [lane, [...times]])).toEqual([
      [0, [10, 20, 30, 40]],
      [2, [20, 30]],
    ]);
    expect([...groups].map(([lane, own]) => [lane, [...own].map((at) => TIME_GROUPS[at])])).toEqual(
      [
        [0, ["data", "host"]],
        [2, ["compute"]],
      ],
    );
    expect([...events]).toEqual([4, 5, 9]);
  });
});
