import { beforeEach, describe, expect, it } from "vitest";
import { Colours, DIMMED, SHADES, SINGLE, SUMMARY } from "./colours";
import { paletteFor } from "./palette_fixtures";
import { LaneHighlight } from "./highlight";
import { RowPainter } from "./paint";
import { encodeTile, joined, sourceOf, type Drawn } from "./tile_fixtures";
import { decodeTiles } from "./tiles";
import type { Highlight } from "./types";

const WIDTH = 64;
const colours = new Colours(paletteFor("light"));
const pixels = new Uint32Array(2 * WIDTH);
const painter = new RowPainter(colours, 20);

beforeEach(() => {
  pixels.fill(0);
  painter.begin(pixels, WIDTH);
});

interface Look {
  row?: number;
  t0?: number;
  pxPerNs?: number;
  level?: number;
  ks?: number[];
  hits?: Uint8Array | null;
  highlight?: Highlight | null;
  clip?: [number, number];
}

/** Paints a lane over its tiles, each within its own stretch, as the store shows them. */
function paint(
  slices: readonly Drawn[],
  {
    row = 0,
    t0 = 0,
    pxPerNs = 1,
    level = 0,
    ks = [0],
    hits = null,
    highlight = null,
    clip,
  }: Look = {},
): void {
  const source = sourceOf(slices);
  painter.row({
    row,
    t0,
    scale: pxPerNs,
    by: "category",
    table: colours.table(source, "category"),
    hits,
    columns: null,
    highlight: highlight && new LaneHighlight(highlight, 0),
  });
  for (const tile of decodeTiles(joined(ks.map((k) => encodeTile(level, k, [0], slices))))) {
    const length = 2 ** (level + 9);
    const [from, to] = clip ?? [tile.k * length, (tile.k + 1) * length];
    painter.slicesOf(tile, 0, tile.start.length, from, to);
  }
  painter.endRow();
}

const color = (look: number, variant = SINGLE, shade = SHADES - 1): number =>
  colours.packed[(variant * colours.count + look) * SHADES + shade]!;
/** One letter per px: `.` idle, `A` whole look 0 …, `a` summary, `-` dimmed, `?` a shade of less. */
function drawn(row = 0): string {
  return [...pixels.subarray(row * WIDTH, (row + 1) * WIDTH)]
    .map((pixel) => {
      if (pixel === 0) return ".";
      for (let look = 0; look < 15; look++) {
        if (pixel === color(look)) return String.fromCharCode(65 + look);
        if (pixel === color(look, SUMMARY)) return String.fromCharCode(97 + look);
        if (pixel === color(look, DIMMED)) return "-";
      }
      return "?";
    })
    .join("");
}

describe("RowPainter", () => {
  it("writes slices as runs of whole px", () => {
    paint(
      [
        { lane: 0, start: 2, dur: 5, look: 3 },
        { lane: 0, start: 10, dur: 3, look: 4 },
      ],
      { row: 1 },
    );
    expect(drawn(1).slice(0, 16)).toBe("..DDDDD...EEE...");
    expect(drawn(0)).toBe(".".repeat(WIDTH));
  });

  it("begins and ends at the edges of the canvas", () => {
    paint(
      [
        { lane: 0, start: 100, dur: 110 },
        { lane: 0, start: 260, dur: 200 },
      ],
      { t0: 200 },
    );
    expect(drawn()).toBe(`${"A".repeat(10)}${".".repeat(50)}AAAA`);
  });

  it("draws two slices 1 ns apart apart at full zoom", () => {
    paint(
      [
        { lane: 0, start: 100, dur: 2 },
        { lane: 0, start: 103, dur: 2 },
      ],
      { t0: 99, pxPerNs: 10 },
    );
    expect(drawn()).toBe(
      `${".".repeat(10)}${"A".repeat(20)}${".".repeat(10)}${"A".repeat(20)}....`,
    );
  });

  it("parts two wide slices that touch, but not one slice that goes on in the next tile", () => {
    paint(
      [
        { lane: 0, start: 500, dur: 20, event: 1 },
        { lane: 0, start: 520, dur: 20, event: 2 },
      ],
      { t0: 490, ks: [0, 1] },
    );
    expect(drawn().slice(0, 52)).toBe(`..........${"A".repeat(20)}.${"A".repeat(19)}..`);
    expect(painter.labels).toMatchObject([
      { x0: 10, x1: 30, event: 1, row: 0 },
      { x0: 30, x1: 50, event: 2 },
    ]);
  });

  it("dims what is not lit", () => {
    const highlight: Highlight = {
      lanes: new Map([[0, Float64Array.of(12, 13)]]),
      groups: new Map(),
      events: new Set([4]),
    };
    paint(
      [
        { lane: 0, start: 0, dur: 5, event: 1 },
        { lane: 0, start: 10, dur: 5, event: 2 },
        { lane: 0, start: 20, dur: 5, event: 3, count: 4 },
        { lane: 0, start: 30, dur: 5, event: 4 },
      ],
      { highlight },
    );
    expect(drawn().slice(0, 36)).toBe("-----.....AAAAA.....-----.....AAAAA.");
  });

  it("parts nothing that is narrow, because gaps would be all that is left", () => {
    paint([
      { lane: 0, start: 0, dur: 3, event: 1 },
      { lane: 0, start: 3, dur: 3, event: 2 },
    ]);
    expect(drawn().slice(0, 8)).toBe("AAAAAA..");
  });

  it("keeps a gap of a px wherever it falls", () => {
    for (let shift = 0; shift < 1; shift += 0.07) {
      pixels.fill(0);
      paint(
        [
          { lane: 0, start: 10, dur: 10 },
          { lane: 0, start: 21, dur: 10 },
        ],
        { t0: shift },
      );
      expect(drawn().slice(8, 32)).toMatch(/A+\.A+/);
    }
  });

  it("shades a px by how much of it is busy, in the colour of what is longest", () => {
    paint(
      [
        { lane: 0, start: 0, dur: 2, look: 1 },
        { lane: 0, start: 3, dur: 5, look: 2 },
      ],
      { pxPerNs: 0.1 },
    );
    expect(pixels[0]).toBe(color(2, SINGLE, Math.floor(0.7 * (SHADES - 1))));
    expect(pixels[1]).toBe(0);
  });

  it("spreads a narrow slice over the two px that it lies on", () => {
    paint([{ lane: 0, start: 8, dur: 6 }], { pxPerNs: 0.1 });
    expect([pixels[0], pixels[1]]).toEqual([
      color(0, SINGLE, Math.floor(0.2 * 15)),
      color(0, SINGLE, Math.floor(0.4 * 15)),
    ]);
  });

  it.each([20, 26])(
    "shows the shortest slice in the emptiest tenth of a second, level %d",
    (level) => {
      paint([{ lane: 0, start: 5e8, dur: 1, look: 1 }], { pxPerNs: 1e-8, level });
      expect([pixels[5], drawn().replaceAll(".", "")]).toEqual([color(1, SINGLE, 0), "?"]);
    },
  );

  it("shows an event without length, at the very edge, too", () => {
    paint(
      [
        { lane: 0, start: 100, dur: 0, look: 2 },
        { lane: 0, start: 639, dur: 0, look: 2 },
      ],
      { pxPerNs: 0.1, level: 1 },
    );
    expect([pixels[10], pixels[63]]).toEqual([color(2, SINGLE, 9), color(2, SINGLE, 9)]);
  });

  it("shades a summary by its fill and sets it off from a single slice", () => {
    paint([
      { lane: 0, start: 0, dur: 10, count: 5, fill: 255 },
      { lane: 0, start: 20, dur: 10, count: 5, fill: 51 },
    ]);
    expect([drawn()[0], pixels[0], pixels[20]]).toEqual([
      "a",
      color(0, SUMMARY),
      color(0, SUMMARY, 3),
    ]);
    expect(color(0, SUMMARY)).not.toBe(color(0));
  });

  it("conserves what is busy: a hundred summaries in ten px come to their sum", () => {
    const slices = Array.from({ length: 100 }, (_, i) => ({
      lane: 0,
      start: i * 4,
      dur: 4,
      count: 2,
      fill: 110,
    }));
    paint(slices, { pxPerNs: 10 / 400 });
    for (let px = 0; px < 10; px++) expect(pixels[px]).toBe(color(0, SUMMARY, 6));
  });

  it("keeps within the stretch that was asked for: the rest is in another tile", () => {
    paint([{ lane: 0, start: 0, dur: 60 }], { clip: [10, 20] });
    expect(drawn().slice(0, 30)).toBe(`${".".repeat(10)}${"A".repeat(10)}${".".repeat(10)}`);
  });

  it("ends a slice at the edge that goes on for longer than the tile can say", () => {
    paint([{ lane: 0, start: 5, dur: 2 ** 45 }]);
    expect(drawn()).toBe(`.....${"A".repeat(59)}`);
  });

  it("dims what is no hit, and gives it no label", () => {
    paint(
      [
        { lane: 0, start: 0, dur: 25, name: 1 },
        { lane: 0, start: 30, dur: 25, name: 2 },
        { lane: 0, start: 60, dur: 2, name: 9 },
      ],
      { hits: new Uint8Array([0, 0, 1]) },
    );
    expect(drawn()).toBe(`${"-".repeat(25)}.....${"A".repeat(25)}.....--..`);
    expect(painter.labels.map((label) => label.name)).toEqual([2]);
  });

  it("labels one slice over several tiles once, from where it comes into sight", () => {
    paint([{ lane: 0, start: 100, dur: 1500, event: 7, name: 3 }], {
      t0: 480,
      pxPerNs: 0.05,
      ks: [0, 1, 2, 3],
    });
    expect(painter.labels).toMatchObject([{ x0: 0, x1: 56, event: 7, name: 3, count: 1 }]);
  });

  it("labels a slice whose first px are in a tile of their own", () => {
    paint([{ lane: 0, start: 505, dur: 40, event: 7 }], { t0: 500, ks: [0, 1] });
    expect(painter.labels).toMatchObject([{ x0: 5, x1: 45 }]);
  });

  it("is right on level 26, where times are shortened", () => {
    const second = 1e9;
    const slices = [{ lane: 0, start: 40 * second, dur: 10 * second, look: 3 }];
    paint(slices, { pxPerNs: 1 / second, level: 26, ks: [0, 1] });
    expect(drawn()).toBe(`${".".repeat(40)}${"D".repeat(10)}${".".repeat(14)}`);
  });

  it("starts every row afresh", () => {
    paint([{ lane: 0, start: 0, dur: 3 }], { pxPerNs: 0.1 });
    paint([], { row: 1 });
    expect(drawn(1)).toBe(".".repeat(WIDTH));
  });
});
