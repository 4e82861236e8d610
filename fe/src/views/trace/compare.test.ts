import { describe, expect, it } from "vitest";
import type { AxisPayload } from "../../api/types.gen";
import { ownAt } from "../../timeline/clock";
import { causesOf, gapsOf, placedOf } from "./compare";

const side = (run: string, begin_ns: number) => ({
  run,
  worker: "w",
  span: "1",
  begin_ns,
  step_name: "",
});

/** Before waits from 100 to 130, after from 180 to 200. */
const PAYLOAD: AxisPayload = {
  before: side("old", 10),
  after: side("new", 25),
  device: "GPU",
  length_ns: 250,
  steps: 1,
  matched: 9,
  operations: 10,
  note: "",
  axis_ns: [0, 100, 130, 180, 200, 250],
  before_ns: [0, 100, 100, 150, 170, 220],
  after_ns: [0, 100, 130, 180, 180, 230],
  group: [null, null, "host_code", null, "data_loading", null],
};

describe("gaps", () => {
  const gaps = gapsOf(PAYLOAD);

  it("stand on the side that waits, with size and cause", () => {
    expect(gaps.map(({ source, start, end, lost }) => [source, start, end, lost])).toEqual([
      [0, 100, 130, true],
      [1, 180, 200, false],
    ]);
    expect(gaps[0]?.about).toEqual(["+30 ns", "lost, most of it in: Host code"]);
    expect(gaps[1]?.about[0]).toBe("−20 ns");
  });

  it("add up by cause, those in view as far as they are", () => {
    const sums = (t0: number, t1: number) =>
      causesOf(gaps, { t0, t1 }, "GPU").map(({ key, ns }) => [key, ns]);
    expect(sums(0, 250)).toEqual([
      ["host_code", 30],
      ["data_loading", -20],
    ]);
    expect(sums(120, 185)).toEqual([
      ["host_code", 10],
      ["data_loading", -5],
    ]);
    expect(sums(140, 150)).toEqual([]);
  });
});

it("the first steps stand above each other where nothing else does", () => {
  const [before, after] = placedOf(PAYLOAD, false);
  expect([before, after].map((one) => one && ownAt(one, 10))).toEqual([10, 25]);
  expect(placedOf(PAYLOAD, true).map((one) => ownAt(one, 190))).toEqual([160, 180]);
});
