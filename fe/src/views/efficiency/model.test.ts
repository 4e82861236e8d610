import { describe, expect, it } from "vitest";
import { GPU_WORDS } from "../../testing/cases";
import { efficiency, onHost, rows } from "./fixtures";
import { chartOf, drawableRows, figuresOf, foremost, reachOf } from "./model";

describe("the chart", () => {
  it("has the rows that have FLOPs and bytes, and the roofs that they use", () => {
    const payload = efficiency();
    const drawable = drawableRows(payload);
    expect(drawable).toEqual([0, 1]);
    const all = chartOf(payload, drawable, 1);
    expect(
      all.points.map(({ title, group, size, selected }) => [title, group, size, selected]),
    ).toEqual([
      ["aten::mm", 0, 8000, false],
      ["aten::add", 0, 2000, true],
    ]);
    expect(all.roofs).toEqual([
      { label: "Tensor Cores bf16", rate: 9.894e14 },
      { label: "vector fp32", rate: 6.7e13 },
    ]);
  });

  it("draws the rows that take time, the chosen one and no other, and counts the rest", () => {
    const many = Array.from({ length: 500 }, (_, i) => i);
    const columns = Object.fromEntries(
      Object.entries(rows()).map(([key, values]) => [
        key,
        many.map(() => (values as unknown[])[0]),
      ]),
    );
    const at = (times: number[], chosen: number): (number | undefined)[] => {
      const payload = efficiency({ rows: { ...rows(), ...columns, time_ns: times } });
      const chart = chartOf(payload, drawableRows(payload), chosen);
      return [chart.points.length, chart.left, chart.points[0]?.size];
    };
    expect(at(many, 499)).toEqual([400, 100, 499]);
    expect(at(many, 3)).toEqual([401, 99, 499]);
    const short = many.map((row) => (row ? 1 : 1e6));
    expect(at(short, 0)).toEqual([1, 499, 1e6]);
    expect(at(short, 7)).toEqual([2, 498, 1e6]);
  });
});

describe("what is said of a row", () => {
  it("names the roof, what is over it and what is reached of it", () => {
    const figures = figuresOf(rows(), 0, GPU_WORDS);
    expect(figures).toContainEqual(["Of its roof", "54.0 % of memory"]);
    expect(figures).toContainEqual(["Over it", "3.70 µs"]);
    expect(figures).toContainEqual(["Moves", "1.80 TB/s of 3.33 TB/s"]);
    const bound = rows({ roof: ["matrix bf16", null, null], of_roof: [0.47, null, null] });
    expect(reachOf(bound, 0)).toEqual(["Computes", "460 TFLOP/s of 979 TFLOP/s"]);
  });

  it("says why no roof is known, and no figure that is not known", () => {
    expect(figuresOf(rows(), 2, GPU_WORDS)).toEqual([
      ["Time", "500 ns"],
      ["Calls", "1"],
      ["Of its roof", "not known: not modelled"],
    ]);
  });
});

it("begins with the row that is furthest over its roof, else with the longest", () => {
  expect(foremost(efficiency({ rows: rows({ over_roof_ns: [1, 200, null] }) }))).toBe(1);
  expect(foremost(onHost())).toBe(0);
  expect(foremost(efficiency({ rows: rows({ over_roof_ns: [1, 2, 9000] }), pooled: 5 }))).toBe(1);
});
