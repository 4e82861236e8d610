import { describe, expect, it } from "vitest";
import cases from "./units_cases.json";
import {
  format,
  formatDelta,
  formatShare,
  formatTime,
  scaleFor,
  threeDigits,
  UNKNOWN,
} from "./units";
import type { Unit } from "./units";

// The server's test reads the same table.
describe.each(Object.entries(cases))("%s", (unit, table) => {
  it.each(table as [number | null, string][])("%s is %s", (value, text) =>
    expect(unit === "delta" ? formatDelta(value) : format(value, unit as Unit)).toBe(text),
  );
});

it.each([undefined, NaN, Infinity])("%s is unknown, not 0", (value) =>
  expect([formatTime(value), formatShare(value)]).toEqual([UNKNOWN, UNKNOWN]),
);

it("does not show a minus on a rounded 0", () => expect(threeDigits(-0.001)).toBe("0.00"));

describe("scaleFor", () => {
  it("uses one unit for an axis with the digits that its ticks need", () => {
    const scale = scaleFor(20e6, "ns", 5e6);
    expect([scale.unit, ...[0, 5e6, 20e6].map(scale.text)]).toEqual(["ms", "0", "5", "20"]);
  });
  it("shows the digits of fractional ticks", () =>
    expect(scaleFor(1e6, "ns", 2e5).text(2e5)).toBe("0.2"));
  it("shows shares as per cent", () =>
    expect([scaleFor(0.8, "share", 0.2).unit, scaleFor(0.8, "share", 0.2).text(0.6)]).toEqual([
      "%",
      "60",
    ]));
});

it("has one scale per axis of rates", () => {
  const scale = scaleFor(2e14, "FLOP/s", 5e13);
  expect([scale.unit, scale.text(5e13), scale.text(0)]).toEqual(["TFLOP/s", "50", "0"]);
});
