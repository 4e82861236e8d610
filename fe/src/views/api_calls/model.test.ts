import { expect, it } from "vitest";
import { bucketLabels, onOneAxis } from "./model";

it("names the buckets that hold a launch by where they begin", () => {
  const histogram = {
    edges_ns: [0, 1000, 2000, 5000],
    delays: [0, 0, 3, 0],
    durations: [0, 2, 0, 0],
  };
  expect(bucketLabels(histogram)).toEqual({
    labels: ["less", "≥ 1.00 µs", "≥ 2.00 µs", "≥ 5.00 µs"],
    first: 1,
    last: 2,
  });
  expect(bucketLabels({ edges_ns: [0], delays: [0], durations: [0] }).last).toBe(-1);
});

it("puts curves on one axis: each holds until it changes, and is nothing before it begins", () => {
  expect(
    onOneAxis([
      { stream: "a", time_ns: [0, 20], length: [1, 0] },
      { stream: "b", time_ns: [10, 20, 30], length: [2, 5, 0] },
    ]),
  ).toEqual({
    time: [0, 10, 20, 30],
    values: [
      [1, 1, 0, 0],
      [0, 2, 5, 0],
    ],
    peak: { time: 20, value: 5 },
  });
});
