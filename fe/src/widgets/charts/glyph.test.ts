import { describe, expect, it } from "vitest";
import {
  drawGlyph,
  FULL,
  type Lane,
  type LaneColumns,
  mainRuns,
  resampled,
  shareAt,
  SIZES,
  timeAt,
} from "./glyph";

/** A glyph of these parts; names of the host's lane begin with a capital where they are on the path. */
function glyphOf(
  parts: Readonly<Record<string, readonly number[]>>,
  cuts: LaneColumns["cuts"] = [],
) {
  const listed = Object.entries(parts).map(([name, columns]) => {
    const [lane, category = "", on] = name.split(" ");
    return { lane: lane as Lane, category, on_path: on === "on", columns };
  });
  return { shown_ns: 1000, columns: listed[0]?.columns.length ?? 0, parts: listed, cuts };
}

/** The area inside closed lines of horizontal and vertical strokes. */
function areaOf(path: string): number {
  let sum = 0;
  for (const shape of path.split("M").slice(1)) {
    let [x, y] = (/^[\d.]+ -?[\d.]+/.exec(shape)?.[0] ?? "0 0").split(" ").map(Number) as [
      number,
      number,
    ];
    for (const [, command, text] of shape.matchAll(/([HV])(-?[\d.]+)/g)) {
      const value = Number(text);
      if (command === "V") y = value;
      else {
        sum += (value - x) * y;
        x = value;
      }
    }
  }
  return Math.abs(sum);
}

const random = (seed: number) => () => (seed = (seed * 16807) % 2147483647) / 2147483647;

describe("the glyph", () => {
  it("fills of a lane what its columns say, within 0.1 points, at any width and size", () => {
    const next = random(7);
    for (let round = 0; round < 20; round++) {
      const n = 40 + Math.round(next() * 660);
      const first = Array.from({ length: n }, () =>
        Math.round(next() * FULL * (next() > 0.5 ? 1 : 0)),
      );
      const second = first.map((value) => Math.round(next() * (FULL - value)));
      const glyph = glyphOf({
        "device compute on": first,
        "device communication": second,
        "host python on": first.map((value) => FULL - value),
      });
      const expected = [...first, ...second].reduce((sum, value) => sum + value, 0) / FULL / n;
      for (const [width, size] of [
        [1140, "full"],
        [358, "full"],
        [700, "compact"],
      ] as const) {
        const { parts } = drawGlyph(glyph, width, size);
        const filled = parts
          .filter(({ lane }) => lane === "device")
          .reduce((sum, { area }) => sum + areaOf(area), 0);
        expect(Math.abs(filled / (width * SIZES[size].lane) - expected)).toBeLessThan(
          size === "full" ? 0.001 : 0.002,
        );
      }
    }
  });

  it("draws the path on the lane that has four fifths of a column, else weaves", () => {
    const { path, weave } = drawGlyph(
      glyphOf({ "device compute on": [FULL, FULL / 2, 0], "host python on": [0, FULL / 2, FULL] }),
      30,
      "full",
    );
    expect(path).toBe("M0 31.5H10M10 31.5V38.5M10 31.5H20M10 38.5H20M20 31.5V38.5M20 38.5H30");
    expect(weave).toBe("M10 31.5H20V38.5H10Z");
  });

  it("has one lane where nothing was recorded of the other, with the line beside it", () => {
    expect(drawGlyph(glyphOf({ "host communication on": [FULL] }), 20, "full")).toMatchObject({
      lanes: ["host"],
      path: "M0 1.5H20",
      height: 33,
    });
    expect(drawGlyph(glyphOf({ "device compute on": [FULL] }), 20, "full")).toMatchObject({
      lanes: ["device"],
      path: "M0 31.5H20",
    });
  });

  it("gives an edge to the outermost pale part that can be seen, and to none that is on the path", () => {
    const { parts } = drawGlyph(
      glyphOf({
        "device compute": [200, 200],
        "device copies": [2, 40],
        "host python on": [FULL, FULL],
      }),
      4,
      "full",
    );
    expect(parts.map(({ edge }) => edge)).toEqual(["M0 5.6H2", "M2 1.1H4", ""]);
  });

  it("keeps the sum where columns are wider than a pixel allows", () => {
    const values = Array.from({ length: 700 }, (_, i) => (i * 37) % 251);
    const sum = (all: readonly number[]) => all.reduce((total, value) => total + value, 0);
    expect(sum(resampled(values, 179)) / 179).toBeCloseTo(sum(values) / 700, 6);
  });

  it("knows where a time is drawn beside what is cut out", () => {
    const glyph = glyphOf({}, [{ start_ns: 200, length_ns: 5000 }]);
    expect(shareAt(glyph, 100, 200)).toBe(0.1);
    expect(shareAt(glyph, 100, 5200)).toBe(0.1);
    expect(shareAt(glyph, 100, 6100)).toBe(1);
    expect(timeAt(glyph, 100, 1)).toBe(6100);
    expect(timeAt(glyph, 100, 0.05)).toBe(150);
  });

  it("names each phase of the host at its longest stretch", () => {
    const glyph = glyphOf({
      "host forward on": [FULL, 0, FULL, FULL],
      "host backward": [0, FULL, 0, 0],
    });
    expect(mainRuns(glyph, "host")).toEqual([
      { category: "backward", from: 0.25, to: 0.5 },
      { category: "forward", from: 0.5, to: 1 },
    ]);
  });
});
