import { describe, expect, it } from "vitest";
import { paper } from "./canvas_fixtures";
import { LaneHighlight, drawHighlight, highlightedTime } from "./highlight";
import { frameOf, laneRow, sourceOf } from "./tile_fixtures";
import type { Highlight, Row } from "./types";

const HIGHLIGHT: Highlight = {
  lanes: new Map([[1, Float64Array.of(100, 200, 300, 400)]]),
  groups: new Map([[1, Uint8Array.of(0, 1)]]),
  events: new Set([7]),
};

describe("Bright", () => {
  it("has what touches a stretch, and its events wherever they are", () => {
    const bright = new LaneHighlight(HIGHLIGHT, 1);
    const found = [
      [1, 0, 100],
      [1, 50, 101],
      [1, 199, 250],
      [1, 200, 300],
      [7, 210, 220],
      [1, 350, 360],
      [-1, 400, 500],
    ].map(([event = 0, begin = 0, end = 0]) => bright.has(event, begin, end));
    expect(found).toEqual([false, true, true, false, true, true, false]);
  });

  it("begins anew when asked about earlier slices", () => {
    const bright = new LaneHighlight(HIGHLIGHT, 1);
    expect([bright.has(1, 350, 360), bright.has(1, 150, 160)]).toEqual([true, true]);
  });

  it("has nothing of a lane without stretches", () => {
    expect(new LaneHighlight(HIGHLIGHT, 0).has(1, 0, 1000)).toBe(false);
  });
});

describe("litTime", () => {
  it("measures what of a stretch is lit", () => {
    expect(highlightedTime(HIGHLIGHT, 1, 150, 350)).toBe(100);
    expect(highlightedTime(HIGHLIGHT, 0, 150, 350)).toBe(0);
  });
});

describe("drawLit", () => {
  it("draws a line below what is in sight, as wide as can be seen", () => {
    const page = paper();
    const sources = [sourceOf([], { span: 1000, lanes: 2, offset: 100 })];
    const rows = [laneRow(0, 0), laneRow(1, 20)];
    const view = { t0: 350, t1: 550 };
    const frame = frameOf(view, sources, rows, { width: 20, highlight: [HIGHLIGHT] });
    drawHighlight(page.ctx, frame, rows);
    // Of 100 to 200 and 300 to 400 on a clock 100 behind, only the second is in the view, 10 ns per px.
    expect(page.of("fillRect").map((call) => call.args)).toEqual([[5, 36, 10, 3]]);
  });

  it("draws what is folded into a row in its colour, and all of it on the row of the path", () => {
    const sources = [sourceOf([], { span: 1000, lanes: 2 })];
    const view = { t0: 0, t1: 500 };
    const drawn = (more: Partial<Row>) => {
      const page = paper();
      const frame = frameOf(view, sources, [], { width: 50, highlight: [HIGHLIGHT] });
      drawHighlight(page.ctx, frame, [laneRow(0, 0, more)]);
      const { groups, text } = frame.palette;
      return page.of("fillRect").map(({ args, fillStyle }) => {
        const colour = fillStyle === text ? "line" : groups.indexOf(fillStyle);
        return [colour, ...args];
      });
    };
    const stretches = [
      [0, 10, 1, 10, 18],
      [1, 30, 1, 10, 18],
    ];
    const lines = [
      ["line", 10, 16, 10, 3],
      ["line", 30, 16, 10, 3],
    ];
    expect(drawn({ below: [1] })).toEqual([...stretches, ...lines]);
    expect(drawn({ kind: "path", lane: -1, below: "all" })).toEqual(stretches);
  });
});
