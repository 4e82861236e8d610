import { describe, expect, it } from "vitest";
import { sliceAt } from "./hit";
import { frameOf, laneRow, settled, sourceOf, type Drawn } from "./tile_fixtures";
import { TileStore } from "./tile_store";
import type { Frame, TimeRange } from "./types";

async function rig(
  slices: readonly Drawn[],
  view: TimeRange,
  more: Partial<Frame> = {},
  offset = 0,
  levels: { levelMax?: number } = {},
): Promise<{ frame: Frame; store: TileStore }> {
  const sources = [sourceOf(slices, { lanes: 3, offset, ...levels })];
  const store = new TileStore(sources, () => undefined);
  const frame = frameOf(view, sources, [laneRow(0, 0), laneRow(1, 20), laneRow(2, 40)], {
    width: 1000,
    ...more,
  });
  store.want(view, (view.t1 - view.t0) / 1000, new Map([[0, [0, 1, 2]]]));
  for (let i = 0; i < 5; i++) await settled();
  return { frame, store };
}

const SLICES: Drawn[] = [
  { lane: 0, start: 100, dur: 800, event: 1, name: 5, look: 3 },
  { lane: 1, start: 150, dur: 100, event: 2 },
  { lane: 1, start: 300, dur: 50, event: 3 },
  { lane: 1, start: 350, dur: 50, event: 4 },
  { lane: 1, start: 800, dur: 0, event: 6 },
  { lane: 2, start: 310, dur: 5, event: 5 },
];
const VIEW = { t0: 0, t1: 1000 };

describe("sliceAt", () => {
  it("finds the slice under the pointer, over two tiles too", async () => {
    const { frame, store } = await rig(SLICES, VIEW);
    expect(sliceAt(frame, store, 600, 5)).toEqual({
      source: 0,
      lane: 0,
      event: 1,
      start: 100,
      end: 900,
      name: 5,
      count: 1,
      busy: 1,
      look: 3,
    });
    expect(sliceAt(frame, store, 320, 25)?.event).toBe(3);
    expect(sliceAt(frame, store, 312, 45)?.event).toBe(5);
  });

  it("finds nothing between slices, beside rows and on rows without a lane", async () => {
    const { frame, store } = await rig(SLICES, VIEW);
    expect(sliceAt(frame, store, 500, 25)).toBeNull();
    expect(sliceAt(frame, store, 500, 90)).toBeNull();
    const header = { ...frame, rows: [laneRow(-1, 0, { kind: "group" })] };
    expect(sliceAt(header, store, 600, 5)).toBeNull();
  });

  it("takes the later one of two that touch, from its first ns on", async () => {
    const { frame, store } = await rig(SLICES, VIEW);
    expect([349, 350, 351].map((x) => sliceAt(frame, store, x, 25)?.event)).toEqual([3, 4, 4]);
  });

  it("tells slices of 1 ns apart that are 1 ns apart", async () => {
    const tiny: Drawn[] = [
      { lane: 0, start: 1000, dur: 1, event: 1 },
      { lane: 0, start: 1002, dur: 1, event: 2 },
      { lane: 0, start: 1003, dur: 1, event: 3 },
    ];
    const { frame, store } = await rig(tiny, { t0: 1000, t1: 1010 });
    const at = (ns: number): number | undefined =>
      sliceAt(frame, store, (ns - 1000) * 100, 5)?.event;
    expect([1000.5, 1001.5, 1002.5, 1003, 1003.5, 1005].map(at)).toEqual([
      1,
      undefined,
      2,
      3,
      3,
      undefined,
    ]);
  });

  it("lets the pointer miss what is narrow by little", async () => {
    const { frame, store } = await rig(SLICES, VIEW);
    expect([796, 798, 800, 802, 804].map((x) => sliceAt(frame, store, x, 25)?.event)).toEqual([
      undefined,
      6,
      6,
      6,
      undefined,
    ]);
  });

  it("finds rows where they are scrolled to, pinned ones first", async () => {
    const { frame, store } = await rig(SLICES, VIEW);
    const rows = [laneRow(2, 0, { pinned: true, key: "pin" }), laneRow(0, 0), laneRow(1, 20)];
    const moved = { ...frame, rows, pinnedHeight: 20, scroll: -10 };
    expect(sliceAt(moved, store, 312, 15)?.lane).toBe(2);
    expect(sliceAt(moved, store, 600, 25)?.lane).toBe(0);
    expect(sliceAt(moved, store, 320, 35)?.lane).toBe(1);
  });

  it("reckons with the source's offset", async () => {
    const { frame, store } = await rig(SLICES, { t0: 5000, t1: 6000 }, {}, 5000);
    expect(sliceAt(frame, store, 320, 25)).toMatchObject({ event: 3, start: 5300, end: 5350 });
  });

  it("knows begin and end of a slice that is far longer than the tile under the pointer", async () => {
    const long: Drawn[] = [{ lane: 0, start: 12_345, dur: 60_000_000_000, event: 9 }];
    const { frame, store } = await rig(long, { t0: 30e9, t1: 30e9 + 1000 });
    const found = sliceAt(frame, store, 500, 5);
    expect(found).toMatchObject({ event: 9, count: 1 });
    // Coarse tiles shorten times: the begin is right to a thousandth of a px of theirs.
    expect(Math.abs(found!.start - 12_345)).toBeLessThan(2 ** 7);
    expect(Math.abs(found!.end - 60_000_012_345)).toBeLessThan(2 ** 7);
  });

  it("knows the begin on an earlier tile of the view where coarser ones do not tell it", async () => {
    const { frame, store } = await rig(SLICES, VIEW, {}, 0, { levelMax: 0 });
    expect(sliceAt(frame, store, 800, 5)).toMatchObject({ event: 1, start: 100, end: 900 });
  });

  it("says what a summary holds", async () => {
    const { frame, store } = await rig(
      [{ lane: 0, start: 100, dur: 90, count: 37, fill: 51, event: 4, name: 2 }],
      VIEW,
    );
    expect(sliceAt(frame, store, 120, 5)).toMatchObject({
      count: 37,
      busy: 0.2,
      start: 100,
      end: 190,
      name: 2,
    });
  });
});
