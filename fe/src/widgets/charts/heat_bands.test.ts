import { expect, it, vi } from "vitest";
import { bandRoom, bandSize, bandsOf, labelPlaces, ruleOf } from "./heat_bands";
import { drawCells, isBitmap } from "./HeatMap";
import { quantilesOf } from "./Spread";
import { spreadText } from "./Spread";

it("rows share a band only where there are more than fit", () => {
  expect([1, 256, 257, 1024].map(bandSize)).toEqual([1, 1, 2, 4]);
  expect([bandRoom(40, true, 416), bandRoom(200, true, 416), bandRoom(200, false, 416)]).toEqual([
    416, 512, 416,
  ]);
});

it("a band shows the largest of its rows, in their order, and knows whose it is", () => {
  const values = [
    [1, null],
    [5, null],
    [3, 0],
  ];
  expect(bandsOf(values, [2, 1, 0], 2)).toEqual({
    size: 2,
    values: [
      [5, 0],
      [1, null],
    ],
    rows: [
      [1, 2],
      [0, 0],
    ],
  });
  expect(bandsOf(values, [1, 0, 2], 1).values).toEqual([values[1], values[0], values[2]]);
});

it("says what a cell stands for where it is more than one", () => {
  expect(ruleOf(1, 1, ["rank", "step"])).toBe("");
  expect(ruleOf(4, 2, ["rank", "step"])).toBe(
    "Each cell is 4 ranks × 2 steps; the largest value is shown.",
  );
});

it("labels beside rows neither cover each other nor leave the room", () => {
  expect(labelPlaces([5, 8, 50], 10, 100)).toEqual([5, 15, 50]);
  expect(labelPlaces([10, 12, 60], 14, Infinity)).toEqual([10, 24, 60]);
  expect(labelPlaces([90, 95, 99], 10, 100)).toEqual([75, 85, 95]);
});

it("a bitmap is one pixel per cell; cells alike beside each other are one stroke, unknown ones none", () => {
  const fillRect = vi.fn();
  const context = { clearRect: vi.fn(), fillRect, fillStyle: "" };
  drawCells(
    context,
    [
      [36, 36, null, 0],
      [1, 36, 36, 36],
    ],
    36,
    ["0", "1", "2", "3", "4", "5", "6"],
  );
  expect(fillRect.mock.calls).toEqual([
    [0, 0, 2, 1],
    [3, 0, 1, 1],
    [0, 1, 1, 1],
    [1, 1, 3, 1],
  ]);
  expect([isBitmap(8, 7), isBitmap(256, 100)]).toEqual([false, true]);
});

it("quantiles lie between the values", () => {
  expect(quantilesOf([])).toBeNull();
  expect(quantilesOf([4, 1, 3, 2, 5])).toEqual({
    least: 1,
    low: 1.2,
    lower: 2,
    median: 3,
    upper: 4,
    high: 4.8,
    most: 5,
  });
  const spread = quantilesOf([1e6, 1e6, 2e6]);
  const series = { key: "a", label: "Waiting", color: "" };
  expect(spread && spreadText({ series, spread }, "ns").replace(/[\u202f\u00a0]/g, " ")).toBe(
    "Waiting: median 1.00 ms, 90 % between 1.00 ms and 1.90 ms, 1.00 ms to 2.00 ms in all",
  );
});
