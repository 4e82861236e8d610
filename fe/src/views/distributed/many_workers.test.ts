import { expect, it } from "vitest";
import type { StackedBar } from "../../widgets";
import { distributed, distributedMap, worker } from "./fixtures";
import { oddBars, oddText, spreadRows } from "./many_workers";
import { orderOf, readMeasure, readOrder } from "./map_model";
import { timelineHref } from "./timeline_link";

const bar = (key: number, ...values: number[]): StackedBar => ({
  key,
  label: String(key),
  title: `rank ${key}`,
  values,
});
const bars = [
  ...Array.from({ length: 70 }, (_, key) => bar(key, 10, 5)),
  bar(70, 30, 5),
  bar(71, 10, 9),
  { ...bar(72, 0, 0), note: "no such step" },
];

it("the mean comes first, then those that differ most; who has no such step is none of them", () => {
  const shown = oddBars(bars);
  expect(shown.slice(0, 3).map(({ key }) => key)).toEqual([-1, 70, 71]);
  expect(shown.length).toBe(13);
  expect(shown[0]?.values.map((value) => Math.round(value * 72))).toEqual([740, 364]);
  expect(oddText(bars)).toContain("the mean of 72 workers, then the 12 that differ most");
  expect(oddBars([])).toEqual([
    { key: -1, label: "mean", title: "mean of all workers", values: [] },
  ]);
});

it("the spread is that of the series that anybody has some of", () => {
  const series = ["a", "b", "c"].map((key) => ({ key, label: key, color: "" }));
  const rows = spreadRows(
    series,
    bars.map((one) => ({ ...one, values: [...one.values, 0] })),
  );
  expect(rows.map(({ series: { key }, spread }) => [key, spread.median, spread.most])).toEqual([
    ["a", 10, 30],
    ["b", 5, 9],
  ]);
});

it("rows come by rank, by the mean, or node by node", () => {
  const map = distributedMap(distributed(3), { means_ns: [3, null, 9] });
  const workers = ["b", "a", "b"].map((node, rank) => worker(rank, { node }));
  expect(orderOf("rank", map, workers)).toEqual([0, 1, 2]);
  expect(orderOf("largest", map, workers)).toEqual([2, 0, 1]);
  expect(orderOf("node", map, workers)).toEqual([0, 2, 1]);
  expect([readOrder("node"), readOrder("nonsense")]).toEqual(["node", "rank"]);
  expect([
    readMeasure("step", true),
    readMeasure("toString", true),
    readMeasure(undefined, false),
  ]).toEqual(["step", "late", "step"]);
});

it("timelines of workers are asked for by their ranks, of the first one's trace", () => {
  const workers = [worker(0), worker(7), worker(6), worker(9, { rank: null })];
  const seen: unknown[] = [];
  timelineHref(
    (...asked) => {
      seen.push(asked);
      return "";
    },
    { run: "r", worker: "x", span: "1" },
    workers,
    [1, 2, 3],
  );
  expect(seen).toEqual([
    ["trace", { workers: "6-7" }, { run: "r", worker: "host_107", span: "1" }],
  ]);
});
