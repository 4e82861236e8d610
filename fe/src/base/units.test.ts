import { describe, expect, it } from "vitest";
import {
  format,
  formatBytes,
  formatCount,
  formatDelta,
  formatNumber,
  formatShare,
  formatTime,
  scaleFor,
  threeDigits,
  UNKNOWN,
} from "./units";

describe("formatTime", () => {
  it.each([
    [0, "0 ns"],
    [1, "1 ns"],
    [999, "999 ns"],
    [1000, "1.00 µs"],
    [1_234, "1.23 µs"],
    [12_345, "12.3 µs"],
    [123_456, "123 µs"],
    [999_400, "999 µs"],
    [999_600, "1.00 ms"],
    [1_234_567, "1.23 ms"],
    [9_999_000, "10.0 ms"],
    [99_960_000, "100 ms"],
    [2_500_000_000, "2.50 s"],
    [7_200_000_000_000, "7200 s"],
    [-1_500, "−1.50 µs"],
  ])("%d ns is %s", (ns, text) => expect(formatTime(ns)).toBe(text));

  it.each([null, undefined, NaN, Infinity])("%s is unknown, not 0", (value) =>
    expect(formatTime(value)).toBe(UNKNOWN),
  );
});

describe("formatDelta", () => {
  it.each([
    [1_500, "+1.50 µs"],
    [-1_500, "−1.50 µs"],
    [0, "0 ns"],
    [null, UNKNOWN],
  ])("%s ns is %s", (ns, text) => expect(formatDelta(ns)).toBe(text));
});

describe("formatBytes", () => {
  it.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1.00 KiB"],
    [1_048_500, "1.00 MiB"],
    [1536, "1.50 KiB"],
    [85e9, "79.2 GiB"],
    [3 * 2 ** 40, "3.00 TiB"],
  ])("%d is %s", (bytes, text) => expect(formatBytes(bytes)).toBe(text));
});

describe("formatShare", () => {
  it.each([
    [0, "0.0 %"],
    [0.0001, "<0.1 %"],
    [-0.0001, ">−0.1 %"],
    [0.1234, "12.3 %"],
    [0.99999, ">99.9 %"],
    [1, "100.0 %"],
    [1.5, "150.0 %"],
  ])("%d is %s", (share, text) => expect(formatShare(share)).toBe(text));
});

describe("other numbers", () => {
  it("groups thousands with narrow spaces", () =>
    expect(formatCount(1_234_567)).toBe("1\u202f234\u202f567"));
  it("keeps small fractions", () => expect(formatNumber(0.01234)).toBe("0.0123"));
  it("does not show a minus on a rounded 0", () => expect(threeDigits(-0.001)).toBe("0.00"));
  it("chooses by unit", () =>
    expect([format(0.5, "share"), format(5, "count"), format(1500, "ns")]).toEqual([
      "50.0 %",
      "5",
      "1.50 µs",
    ]));
});

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

describe("rates", () => {
  it.each([
    [989_400_000_000_000, "FLOP/s", "989 TFLOP/s"],
    [3_350_000_000_000, "B/s", "3.35 TB/s"],
    [1_500, "FLOP", "1.50 kFLOP"],
    [12, "FLOP", "12 FLOP"],
    [0.5, "B/s", "0.50 B/s"],
    [null, "FLOP/s", UNKNOWN],
  ] as const)("%d %s is %s", (value, unit, text) => expect(format(value, unit)).toBe(text));

  it("have one scale per axis", () => {
    const scale = scaleFor(2e14, "FLOP/s", 5e13);
    expect([scale.unit, scale.text(5e13), scale.text(0)]).toEqual(["TFLOP/s", "50", "0"]);
  });
});
