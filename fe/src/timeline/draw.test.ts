import { describe, expect, it } from "vitest";
import { paper, surfaces, type Paper } from "./canvas_fixtures";
import { Painter, type DrawStats } from "./draw";
import { frameOf, laneRow, settled, sourceOf, type Drawn } from "./tile_fixtures";
import { TileStore } from "./tile_store";
import type { Frame, Row, Source } from "./types";

const SLICES: Drawn[] = [
  { lane: 0, start: 0, dur: 900, event: 1, name: 1, look: 1 },
  { lane: 1, start: 100, dur: 450, event: 2, name: 2, look: 3 },
  { lane: 1, start: 700, dur: 0, event: 3, name: 3 },
];

interface Rig {
  page: Paper;
  made: ReturnType<typeof surfaces>["made"];
  store: TileStore;
  sources: Source[];
  draw: (frame: Frame) => DrawStats;
  frame: (rows: readonly Row[], more?: Partial<Frame>) => Frame;
}

/** A painter over 1000 ns, 1 ns per px, with the tiles fetched. */
async function rig(slices: readonly Drawn[] = SLICES, fetched = true): Promise<Rig> {
  const page = paper();
  const { made, surface } = surfaces();
  const sources = [sourceOf(slices, { span: 1000, lanes: 2 })];
  const store = new TileStore(sources, () => undefined);
  const painter = new Painter(page.canvas, "11px sans-serif", surface);
  if (fetched) {
    store.want({ t0: 0, t1: 1000 }, 1, new Map([[0, [0, 1]]]));
    await settled();
  }
  const frame: Rig["frame"] = (rows, more) =>
    frameOf({ t0: 0, t1: 1000 }, sources, rows, { width: 1000, ...more });
  return { page, made, store, sources, frame, draw: (one) => painter.draw(one, store) };
}

const ROWS = [laneRow(0, 0), laneRow(1, 20)];

describe("Painter", () => {
  it("stretches one row of px per lane over its row, with a line left free below", async () => {
    const { page, made, draw, frame } = await rig();
    const stats = draw(frame(ROWS));
    expect(stats).toMatchObject({ rows: 2, slices: 5, labels: 2, stoodIn: 0, missing: 0 });
    expect([page.canvas.width, page.canvas.height]).toEqual([1000, 100]);
    expect(page.of("drawImage").map((call) => call.args.slice(1))).toEqual([
      [0, 0, 1000, 1, 0, 0, 1000, 19],
      [0, 1, 1000, 1, 0, 20, 1000, 19],
    ]);
    const row = [...made[0]!.pixels.subarray(1000, 2000)];
    expect(row.flatMap((pixel, x) => (pixel ? [x] : []))).toEqual([
      ...Array.from({ length: 450 }, (_, i) => 100 + i),
      700,
    ]);
    expect(page.texts()).toEqual(["name 1", "name 2"]);
  });

  it("draws px of the screen, wherever rows begin", async () => {
    const { page, draw, frame } = await rig();
    draw(frame([laneRow(0, 5), laneRow(1, 25)], { ratio: 1.5, scroll: 2 }));
    expect([page.canvas.width, page.canvas.height]).toEqual([1500, 150]);
    expect(page.of("drawImage").map((call) => call.args.slice(5))).toEqual([
      [0, 5, 1500, 28],
      [0, 35, 1500, 28],
    ]);
  });

  it("draws pinned rows over those that scroll, each within its own part", async () => {
    const { page, draw, frame } = await rig();
    draw(
      frame([laneRow(1, 0, { pinned: true, key: "pin" }), laneRow(0, 0), laneRow(1, 20)], {
        pinnedHeight: 20,
        scroll: 10,
      }),
    );
    const order = page.calls
      .filter((call) => ["rect", "clip", "drawImage"].includes(call.name))
      .map((call) => [call.name, ...call.args.slice(-4)]);
    expect(order).toEqual([
      ["rect", 0, 20, 1000, 80],
      ["clip"],
      ["drawImage", 0, -10, 1000, 19],
      ["drawImage", 0, 10, 1000, 19],
      ["rect", 0, 0, 1000, 20],
      ["clip"],
      ["drawImage", 0, 0, 1000, 19],
    ]);
  });

  it("shows the strip of the frame before nowhere", async () => {
    const { made, draw, frame } = await rig();
    draw(frame(ROWS));
    draw(frame(ROWS, { view: { t0: 2000, t1: 3000 } }));
    expect(made).toHaveLength(1);
    expect(made[0]!.pixels.every((pixel) => pixel === 0)).toBe(true);
  });

  it("tells of rows whose tiles are missing, and draws the rest", async () => {
    const { page, draw, frame } = await rig(SLICES, false);
    expect(draw(frame(ROWS))).toMatchObject({ missing: 2, slices: 0, labels: 0 });
    expect(page.of("fillRect").length).toBeGreaterThan(0);
  });

  it("tells of rows in which another level stands in", async () => {
    const { draw, frame } = await rig();
    expect(draw(frame(ROWS, { view: { t0: 0, t1: 10_000 } }))).toMatchObject({ missing: 0 });
    const narrow = await rig([{ lane: 0, start: 0, dur: 900 }], false);
    narrow.store.want({ t0: 0, t1: 1000 }, 2 ** 9, new Map());
    await settled();
    expect(narrow.draw(narrow.frame(ROWS))).toMatchObject({ missing: 0, stoodIn: 2 });
  });

  it("says how many events a wide summary holds, on a ground of its own", async () => {
    const { page, draw, frame } = await rig([
      { lane: 0, start: 100, dur: 800, count: 1234, fill: 30 },
    ]);
    draw(frame(ROWS));
    expect(page.texts()).toEqual(["1\u202f234 events"]);
    const plate = page.of("fillRect").at(-1)!;
    expect([plate.fillStyle, plate.alpha]).toEqual([frame([]).palette.ground, 0.85]);
  });

  it("writes no label where it does not fit, is not known yet, or the row is too low", async () => {
    const { page, draw, frame, sources } = await rig([
      { lane: 0, start: 0, dur: 33 },
      { lane: 0, start: 50, dur: 40 },
      { lane: 1, start: 0, dur: 100, name: 9 },
    ]);
    sources[0]!.name = (n) => (n === 9 ? undefined : "a long name");
    expect(draw(frame(ROWS)).labels).toBe(1);
    expect(page.texts()).toEqual(["a lo…"]);
    expect(draw(frame(ROWS.map((row) => ({ ...row, height: 8 })))).labels).toBe(0);
  });

  it("dims what is no hit of the search", async () => {
    const { page, draw, frame } = await rig();
    draw(frame(ROWS, { hits: [new Set([2])] }));
    expect(page.texts()).toEqual(["name 2"]);
    draw(frame(ROWS, { hits: [new Set()] }));
    expect(page.texts()).toEqual(["name 2"]);
  });

  it("takes the colours of a new palette at once", async () => {
    const { made, draw, frame } = await rig();
    draw(frame(ROWS));
    const before = made[0]!.pixels[5];
    draw(frame(ROWS, { palette: { ...frame([]).palette, looks: ["#010203", "#040506"] } }));
    expect([before === 0xff060504, made[0]!.pixels[5]]).toEqual([false, 0xff060504]);
  });

  it("frames the hovered and the selected slice on every row that shows them, the tiniest too", async () => {
    const { page, draw, frame } = await rig();
    const rows = [laneRow(1, 0, { pinned: true, key: "pin" }), laneRow(0, 20), laneRow(1, 40)];
    draw(
      frame(rows, {
        pinnedHeight: 20,
        selected: { source: 0, event: 3, lane: 1, start: 700, end: 700 },
      }),
    );
    const accent = frame([]).palette.accent;
    const frames = page
      .of("strokeRect")
      .filter((call) => call.strokeStyle === accent)
      .map((call) => call.args);
    expect(frames).toContainEqual([696.5, 39, 7, 21]);
    expect(frames).toContainEqual([696.5, -1, 7, 21]);
  });

  it("marks steps, marks and the area through all rows", async () => {
    const { page, draw, frame } = await rig();
    const { palette } = frame([]);
    draw(
      frame(ROWS, {
        boundaries: [
          { name: "a", of: "host", about: [], start: 0, end: 400 },
          { name: "b", of: "host", about: [], start: 400, end: 800 },
          { name: "c", of: "host", about: [], start: 800, end: 802 },
        ],
        marks: [
          { key: "m", label: "", start: 500, end: 500, kind: "person" },
          { key: "d", label: "", start: 600, end: 650, kind: "defect" },
          { key: "gone", label: "", start: 5000, end: 6000, kind: "defect" },
        ],
        area: { t0: 100, t1: 200 },
      }),
    );
    const rects = (style: string): unknown[] =>
      page
        .of("fillRect")
        .filter((call) => call.fillStyle === style)
        .map((call) => call.args);
    expect(rects(palette.band)).toEqual([[0, 0, 400, 100]]);
    expect(rects(palette.muted)).toEqual([
      [0, 0, 1, 100],
      [400, 0, 1, 100],
      [800, 0, 1, 100],
    ]);
    expect(rects(palette.accent)).toEqual([
      [499.5, 0, 1.5, 100],
      [100, 0, 100, 100],
      [100, 0, 1, 100],
      [199, 0, 1, 100],
    ]);
    expect(rects(palette.warn)).toEqual([
      [600, 0, 50, 100],
      [599.5, 0, 1.5, 100],
      [649.5, 0, 1.5, 100],
    ]);
  });

  it("sets overlap rows off with hatching and an edge, headers with a ground", async () => {
    const { page, draw, frame } = await rig();
    const { palette } = frame([]);
    draw(frame([laneRow(0, 0, { kind: "group" }), laneRow(1, 20, { overlap: true })]));
    expect(
      page
        .of("fillRect")
        .filter((call) => call.fillStyle === palette.warn)
        .map((call) => call.args),
    ).toEqual([[0, 20, 3, 19]]);
    expect(page.of("moveTo").length).toBeGreaterThan(100);
    expect(
      page
        .of("fillRect")
        .filter((call) => call.fillStyle === palette.grid)
        .map((call) => call.args),
    ).toEqual([
      [0, 0, 1000, 20],
      [0, 19, 1000, 1],
    ]);
  });
});
