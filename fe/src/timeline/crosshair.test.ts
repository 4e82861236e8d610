import { describe, expect, it } from "vitest";
import { paper } from "./canvas_fixtures";
import { drawCrosshair, drawFigures, figuresText, valueAt, valueText } from "./crosshair";
import { rowText } from "./hover_text";
import { frameOf, laneRow } from "./tile_fixtures";
import type { Curve } from "./types";

const ROW = laneRow(-1, 0, { kind: "counter", lane: -1, counter: 0, height: 46, label: "Queue" });

/** Four parts of 25 ns: not known, 2 all the time, 0 to 8, 4. */
const CURVE: Curve = {
  range: { t0: 100, t1: 200 },
  lowest: Float64Array.of(NaN, 2, 0, 4),
  highest: Float64Array.of(NaN, 2, 8, 4),
  mean: Float64Array.of(NaN, 2, 1.5, 4),
  from: 0,
  to: 8,
  format: (value) => `${value} u`,
};

describe("valueAt", () => {
  it("is what the curve was in the part that holds the time", () => {
    expect(valueAt(CURVE, 130)).toEqual({ lowest: 2, highest: 2, mean: 2 });
    expect(valueAt(CURVE, 174)).toEqual({ lowest: 0, highest: 8, mean: 1.5 });
    expect(valueAt(CURVE, 200)?.highest).toBe(4);
  });

  it("is not known before the first sample and outside of what was fetched", () => {
    expect([110, 99, 201].map((time) => valueAt(CURVE, time))).toEqual([null, null, null]);
  });

  it("says one value, or the mean and the ends", () => {
    expect(valueText({ lowest: 2, highest: 2, mean: 2 }, CURVE)).toBe("2 u");
    expect(valueText({ lowest: 0, highest: 8, mean: 1.5 }, CURVE)).toBe("1.5 u (0 u to 8 u)");
    expect(valueText({ lowest: 0, highest: 8, mean: null }, CURVE)).toBe("0 u to 8 u");
    expect(figuresText({ lowest: 0, highest: 8, mean: 1.5 }, CURVE)).toBe(
      "min 0 u · mean 1.5 u · max 8 u",
    );
  });
});

describe("rowText", () => {
  it("says the value, the time and what the curve is", () => {
    expect(rowText(ROW, CURVE, 130, 100, "Launched work.")).toEqual({
      title: "Queue",
      lines: ["2 u at 30 ns", "Launched work."],
    });
    expect(rowText(ROW, CURVE, 110, 100, undefined).lines).toEqual(["unknown at 10 ns"]);
  });

  it("says why an overlapping track is there", () => {
    const row = laneRow(3, 0, { overlap: true, note: "overlaps the track above" });
    expect(rowText(row, undefined, 0, 0, undefined)).toEqual({
      title: "Overlap",
      lines: ["overlaps the track above"],
    });
  });
});

function frame(pointer: { x: number; y: number } | null) {
  return frameOf({ t0: 100, t1: 200 }, [], [ROW], {
    pointer,
    width: 1000,
    curves: new Map([[ROW.key, CURVE]]),
    figures: new Map([[ROW.key, { lowest: 0, highest: 8, mean: 2.25 }]]),
    area: { t0: 150, t1: 180 },
  });
}

describe("on the canvas", () => {
  it("one line goes through all rows, with the value of each curve beside it", () => {
    const { ctx, of, texts } = paper();
    drawCrosshair(ctx, frame({ x: 300, y: -20 }), [ROW]);
    expect(of("fillRect")[0]?.args).toEqual([300, 0, 1, frame(null).height]);
    expect(texts()).toEqual(["2 u"]);
  });

  it("nothing is drawn without a pointer", () => {
    const { ctx, of } = paper();
    drawCrosshair(ctx, frame(null), [ROW]);
    expect(of("fillRect")).toEqual([]);
  });

  it("the figures of the area stand at its begin", () => {
    const { ctx, of, texts } = paper();
    drawFigures(ctx, frame(null), [ROW]);
    expect(texts()).toEqual(["min 0 u · mean 2.25 u · max 8 u"]);
    expect(of("fillText")[0]?.args[1]).toBe(505);
  });
});
