import { expect, it } from "vitest";
import { counters } from "./fixtures";
import {
  byUse,
  hintOf,
  kindOf,
  measuredChart,
  pathText,
  sampledCharts,
  scaled,
  unitOf,
  widthOf,
} from "./model";

const info = (unit: string, label = "a"): { name: string; label: string; unit: string } => ({
  name: "a",
  label,
  unit,
});

it("writes counters in their units", () => {
  expect(["bytes", "ns", "%", "bytes/s", "sectors", ""].map((unit) => kindOf(info(unit)))).toEqual([
    "bytes",
    "time",
    "share",
    "B/s",
    "number",
    "number",
  ]);
  expect(["bytes", "ns", "%", "bytes/s", "sectors"].map((unit) => unitOf(info(unit)))).toEqual([
    "bytes",
    "ns",
    "share",
    "B/s",
    "number",
  ]);
  expect(scaled(info("%"), [50, null])).toEqual([0.5, null]);
  expect(scaled(info("bytes"), [50, null])).toEqual([50, null]);
});

it("says what a name means", () => {
  expect(hintOf(info("instructions", "FP32 add"))).toBe("a, in instructions");
  expect(hintOf(info(""))).toBe("");
  expect(pathText(["aten::conv2d", "aten::convolution"])).toBe("aten::conv2d → aten::convolution");
});

it("draws the means of a device per step, and nothing outside the steps", () => {
  const { sampled_counters, sampled, steps } = counters();
  const [chart] = sampledCharts(sampled_counters, sampled, "GPU 0", steps, (step) => step === 1);
  expect(
    chart?.bars.map(({ key, label, values, faded }) => [key, label, values[0], faded]),
  ).toEqual([
    [0, "3", 0.5, true],
    [1, "4", 0.6, false],
  ]);
  expect([chart?.least, chart?.greatest]).toEqual([0.4, 0.8]);
  expect(
    sampledCharts(
      sampled_counters,
      { ...sampled, step: [null, null, null, null] },
      "GPU 0",
      steps,
      () => true,
    ),
  ).toEqual([]);
});

it("puts counters that counted nothing last", () => {
  expect(
    byUse([
      [0, 0],
      [0, 5],
      [null, null],
      [1, 0],
    ]),
  ).toEqual([1, 3, 0, 2]);
});

it("makes room for a label in two lines, broken where it may be", () => {
  expect(widthOf("FLOPs")).toBe(92);
  expect(widthOf("FP32 fused multiply-add instructions")).toBeCloseTo(24 * 7.4 + 36);
  expect(widthOf("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")).toBeLessThan(24 * 7.4 + 60);
});

it("draws measured kernels below the roof of what did their FLOPs", () => {
  const { points, roofs, groups, timed, left } = measuredChart(counters(), "");
  expect([roofs, groups, timed, left]).toEqual([
    [{ label: "vector fp32", rate: 67e12 }],
    ["vector fp32"],
    true,
    1,
  ]);
  expect(points).toHaveLength(1);
  expect(points[0]).toMatchObject({
    key: "0",
    title: "fft2d_r2c_32x32",
    intensity: 86_114_304 / 4096,
    rate: 43_057_152e6,
    size: 2000,
    group: 0,
    selected: false,
  });
  expect(points[0]?.figures).toContainEqual(["Of the peak", "64.3 %"]);
  expect(points[0]?.figures).toContainEqual(["Of the bandwidth", "0.1 %"]);
});

it("puts kernels without times at the most that their intensity allows", () => {
  const { profiled } = counters();
  const untimed = {
    ...profiled,
    time_ns: [null, null],
    flops_rate: [null, null],
    intensity: [2, 1e6],
    flops: [8192, 4096e6],
    bytes: [4096, 4096],
    peak: [67e12, 67e12],
  };
  const { points, timed } = measuredChart(counters({ profiled: untimed }), "sgemm");
  expect(timed).toBe(false);
  expect(points.map(({ key, rate, size, selected }) => [key, rate, size, selected])).toEqual([
    ["1", 67e12, 4096e6, false],
    ["0", 2 * 3.35e12, 8192, false],
  ]);
  expect(points[0]?.figures.map(([name]) => name)).toEqual([
    "FLOPs",
    "Memory traffic",
    "Intensity",
    "At most",
  ]);
  expect(
    measuredChart(counters({ profiled: { ...untimed, peak: [null, null] }, bandwidth: null }), "")
      .points,
  ).toEqual([]);
});
