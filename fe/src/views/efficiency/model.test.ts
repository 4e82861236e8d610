import { describe, expect, it } from "vitest";
import { compileSearch } from "../../base/search";
import { efficiency, onHost, rows } from "./fixtures";
import {
  callText,
  chartOf,
  drawableRows,
  familiesOf,
  familyRows,
  figuresOf,
  precisionsOf,
  rateOfSteps,
  searchFor,
} from "./model";

it("orders what computes nothing behind what is modelled", () => {
  const families = {
    family: ["gemm", "communication", null],
    calls: [4, 1, 1],
    time_ns: [8000, 90_000, 500],
    matrix_ns: [0, null, 0],
    matrix_unknown_ns: [0, null, 0],
    flops: [1, null, null],
  };
  const found = familyRows(efficiency({ families }), []);
  expect(found.map(({ family }) => family)).toEqual(["gemm", "communication", "not modelled"]);
  expect(found.map(({ matrix }) => matrix !== null)).toEqual([true, false, true]);
});

it("knows no rate of steps without FLOPs", () => {
  expect(
    rateOfSteps([{ index: 0, steps: 1, name: "1", wall_ns: 10, flops: 0, mfu: null }]),
  ).toBeNull();
});

describe("the chart", () => {
  it("has the rows that have FLOPs and bytes, and the roofs that they use", () => {
    const payload = efficiency();
    const drawable = drawableRows(payload);
    expect(drawable).toEqual([0, 1]);
    expect(precisionsOf(payload.rows, drawable)).toEqual(["bf16", "fp32"]);
    const all = chartOf(payload, drawable, "", "");
    expect(all.points.map(({ title, group, size }) => [title, group, size])).toEqual([
      ["aten::mm", 0, 8000],
      ["aten::add", 1, 2000],
    ]);
    expect(all.roofs).toEqual([
      { label: "bf16 matrix", rate: 9.894e14 },
      { label: "fp32 vector", rate: 6.7e13 },
    ]);
    const one = chartOf(payload, drawable, "fp32", "");
    expect(one.points.map(({ title, group }) => [title, group])).toEqual([["aten::add", 1]]);
    expect(one.roofs).toEqual([{ label: "fp32 vector", rate: 6.7e13 }]);
  });

  it("draws so many points and counts the others", () => {
    const many = Array.from({ length: 500 }, (_, i) => i);
    const columns = Object.fromEntries(
      Object.entries(rows()).map(([key, values]) => [
        key,
        many.map(() => (values as unknown[])[0]),
      ]),
    );
    const payload = efficiency({ rows: { ...rows(), ...columns, time_ns: many } });
    const chart = chartOf(payload, drawableRows(payload), "", "");
    expect([chart.points.length, chart.left, chart.points[0]?.size]).toEqual([400, 100, 499]);
  });

  it("marks the point whose row the table was asked for", () => {
    const payload = efficiency();
    const wanted = searchFor(payload.rows, 1);
    expect(
      chartOf(payload, [0, 1], "", wanted.search).points.map((point) => point.selected),
    ).toEqual([false, true]);
    const matcher = compileSearch(wanted.search, wanted.regex === "1");
    expect([0, 1, 2].map((row) => matcher.test?.(callText(payload.rows, row)))).toEqual([
      false,
      true,
      false,
    ]);
  });

  it("searches for the shapes where a pattern or the types would be too long, and for the operator where they are too", () => {
    const shapes = `[[10,512,7,7],[512,512,3,3]${",[]".repeat(9)}]`;
    const found = (types: string, lengths = shapes): { search: string; regex: string } =>
      searchFor(rows({ input_shapes: [lengths, "", ""], input_dtypes: [types, "", ""] }), 0);
    const types = `[${'"c10::BFloat16",'.repeat(7)}]`;
    expect(found(types)).toEqual({ search: `aten::mm ${shapes} ${types}`, regex: "" });
    expect(found(types.repeat(2))).toEqual({ search: `aten::mm ${shapes}`, regex: "" });
    expect(found("", "[[8, 8], ".repeat(90))).toEqual({ search: "^aten::mm$", regex: "1" });
  });
});

describe("what is said of a row", () => {
  it("names the peak beside the share", () => {
    expect(figuresOf(rows(), 0)).toContainEqual(["Of the peak", "47.0 % of 989 TFLOP/s bf16"]);
    expect(figuresOf(rows(), 0)).toContainEqual(["Intensity", "258 FLOP/B"]);
  });

  it("says why a fast convolution has no share of the peak", () => {
    const fast = rows({ fast: [true, false, false], flops_share: [null, 0.009, null] });
    expect(figuresOf(fast, 0)).toContainEqual(["Of the peak", "not known: Winograd or FFT"]);
    expect(figuresOf(fast, 0)).toContainEqual(["FLOP/s", "460 TFLOP/s"]);
  });

  it("says that it is not modelled, and no figure that is not known", () => {
    expect(figuresOf(rows(), 2)).toEqual([
      ["Time", "500 ns"],
      ["Calls", "1"],
      ["FLOPs", "not modelled"],
    ]);
  });
});

it("orders families by time, what is not modelled last, each with its mark", () => {
  const payload = efficiency();
  payload.families.time_ns = [1000, 2000, 9000];
  payload.families.matrix_ns = [700, 0, 0];
  payload.families.matrix_unknown_ns = [100, 0, 9000];
  const found = familyRows(payload, familiesOf(payload.rows, drawableRows(payload)));
  expect(found.map(({ family, group, matrix }) => [family, group, matrix])).toEqual([
    ["elementwise", 1, { used: 0, unknown: 0, unused: 2000 }],
    ["gemm", 0, { used: 700, unknown: 100, unused: 200 }],
    ["not modelled", null, { used: 0, unknown: 9000, unused: 0 }],
  ]);
  expect(familyRows(onHost(), []).every((row) => row.matrix === null)).toBe(true);
});
