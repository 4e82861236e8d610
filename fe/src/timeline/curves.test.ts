import { describe, expect, it } from "vitest";
import { paper } from "./canvas_fixtures";
import { drawCurve, drawCurveScales } from "./curves";
import { frameOf, laneRow } from "./tile_fixtures";
import type { Curve } from "./types";

const ROW = laneRow(-1, 0, { kind: "counter", lane: -1, counter: 0, height: 46 });

function curve(lowest: number[], highest: number[], mean: number[] | null = null): Curve {
  return {
    range: { t0: 0, t1: 100 },
    lowest: Float64Array.from(lowest),
    highest: Float64Array.from(highest),
    mean: mean && Float64Array.from(mean),
    from: 0,
    to: 10,
    format: (value) => `${value} u`,
  };
}

function drawn(
  of: Curve,
  view = { t0: 0, t1: 100 },
): { rects: unknown[][]; line: unknown[][]; texts: string[] } {
  const { ctx, of: calls, texts } = paper();
  const frame = frameOf(view, [], [ROW], { curves: new Map([[ROW.key, of]]) });
  drawCurve(ctx, frame, ROW, 0, of);
  drawCurveScales(ctx, frame);
  const rects = calls("fillRect").filter((call) => call.fillStyle === frame.palette.curve);
  return {
    rects: rects.map((call) => [...call.args]),
    line: [...calls("moveTo"), ...calls("lineTo")].map((call) => [...call.args]),
    texts: texts(),
  };
}

describe("drawCurve", () => {
  it("draws steps from the base up, equal neighbours as one", () => {
    const { rects, line, texts } = drawn(curve([5, 5, 10, 0], [5, 5, 10, 0]));
    expect(rects).toEqual([
      [0, 23, 50, 20],
      [50, 3, 25, 40],
    ]);
    expect(line).toEqual([
      [0, 23],
      [50, 23],
      [50, 3],
      [75, 3],
      [75, 43],
      [100, 43],
    ]);
    expect(texts).toEqual(["10 u", "0 u"]);
  });

  it("leaves a gap where nothing is known", () => {
    const { rects, line } = drawn(curve([NaN, 5, NaN, 5], [NaN, 5, NaN, 5]));
    expect(rects).toEqual([
      [25, 23, 25, 20],
      [75, 23, 25, 20],
    ]);
    expect(line.slice(0, 2)).toEqual([
      [25, 23],
      [75, 23],
    ]);
  });

  it("shows up to where a px goes, pale above its mean where there is one, and no part twice", () => {
    expect(drawn(curve([0], [10])).rects).toEqual([[0, 3, 100, 40]]);
    expect(drawn(curve([0], [10], [2.5]))).toMatchObject({
      rects: [
        [0, 3, 100, 30],
        [0, 33, 100, 10],
      ],
      line: [
        [0, 33],
        [100, 33],
      ],
    });
  });

  it("draws a curve of an earlier view where it belongs, and only what is in sight", () => {
    expect(drawn(curve([5, 10, 10, 10], [5, 10, 10, 10]), { t0: 50, t1: 150 }).rects).toEqual([
      [0, 3, 50, 40],
    ]);
    expect(drawn(curve([5], [5]), { t0: 200, t1: 300 }).rects).toEqual([]);
  });

  it("keeps values beyond the axis on it", () => {
    expect(drawn(curve([99], [99])).line).toEqual([
      [0, 3],
      [100, 3],
    ]);
  });
});
