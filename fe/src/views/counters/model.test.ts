import { expect, it } from "vitest";
import { counters } from "./fixtures";
import { byUse, hintOf, kindOf, pathText, ratio, sampledCharts, scaled, topSentence, unitOf } from "./model";

const info = (unit: string, label = "a"): { name: string; label: string; unit: string } => ({ name: "a", label, unit });

it("writes counters in their units", () => {
  expect(["bytes", "ns", "%", "bytes/s", "sectors", ""].map((unit) => kindOf(info(unit)))).toEqual(["bytes", "time", "share", "B/s", "number", "number"]);
  expect(["bytes", "ns", "%", "bytes/s", "sectors"].map((unit) => unitOf(info(unit)))).toEqual(["bytes", "ns", "share", "B/s", "number"]);
  expect(scaled(info("%"), [50, null])).toEqual([0.5, null]);
  expect(scaled(info("bytes"), [50, null])).toEqual([50, null]);
});

it("says what a name means", () => {
  expect(hintOf(info("instructions", "FP32 add"))).toBe("FP32 add, in instructions");
  expect(hintOf(info(""))).toBe("");
  expect(pathText(["aten::conv2d", "aten::convolution"])).toBe("aten::conv2d → aten::convolution");
});

it("says what was measured", () => {
  expect(topSentence(counters())).toBe("2 kernels measured with 3 counters each; 1 counter sampled over time");
  expect(topSentence(counters({ pooled: 7, sampled_counters: [] }))).toBe("9 kernels measured with 3 counters each");
});

it("divides only what is known, and never by nothing", () => {
  expect(ratio([8, null, 8, 8], [2, 2, 0, null])).toEqual([4, null, null, null]);
  expect(ratio([8], [4], 1e9)).toEqual([2e9]);
});

it("draws the means of a device per step, and nothing outside the steps", () => {
  const { sampled_counters, sampled, steps } = counters();
  const [chart] = sampledCharts(sampled_counters, sampled, "GPU 0", steps, (step) => step === 1);
  expect(chart?.bars.map(({ key, label, values, faded }) => [key, label, values[0], faded])).toEqual([[0, "3", 0.5, true], [1, "4", 0.6, false]]);
  expect([chart?.least, chart?.greatest]).toEqual([0.4, 0.8]);
  expect(sampledCharts(sampled_counters, { ...sampled, step: [null, null, null, null] }, "GPU 0", steps, () => true)).toEqual([]);
});

it("puts counters that counted nothing last", () => {
  expect(byUse([[0, 0], [0, 5], [null, null], [1, 0]])).toEqual([1, 3, 0, 2]);
});
