import { describe, expect, it, vi } from "vitest";
import { TileStore } from "./tile_store";
import { settled, sourceOf, type Asked, type Drawn } from "./tile_fixtures";
import type { Source } from "./types";

const SLICES: Drawn[] = Array.from({ length: 400 }, (_, i) => ({
  lane: i % 2,
  start: i * 300,
  dur: 200,
  event: i,
}));
const SPAN = 120_000;

interface Rig {
  store: TileStore;
  asked: Asked[];
  onChange: ReturnType<typeof vi.fn>;
  want: (t0: number, t1: number, lanes?: number[], width?: number) => void;
  pauses: { fn: () => void; pause: number }[];
}

function rig(more: Partial<Source> = {}): Rig {
  const asked: Asked[] = [];
  const pauses: Rig["pauses"] = [];
  const onChange = vi.fn();
  const later = (fn: () => void, pause: number): (() => void) => {
    const entry = { fn, pause };
    pauses.push(entry);
    return () => void pauses.splice(pauses.indexOf(entry), 1);
  };
  const source = sourceOf(SLICES, { span: SPAN, levelMax: 9, lanes: 2, ...more }, asked);
  const store = new TileStore([source], onChange, later);
  const want: Rig["want"] = (t0, t1, lanes = [0, 1], width = 1024) =>
    store.want({ t0, t1 }, (t1 - t0) / width, new Map([[0, lanes]]));
  return { store, asked, onChange, want, pauses };
}

const about = ({ level, ks, lanes }: Asked): unknown => [level, [...ks], [...lanes]];

/** A rig whose first request, the coarsest level of everything, was answered. */
async function begun(): Promise<Rig> {
  const made = rig();
  made.want(0, SPAN, []);
  await made.asked[0]!.answer();
  made.asked.length = 0;
  made.onChange.mockClear();
  return made;
}

describe("TileStore", () => {
  it("asks for the coarsest level of all lanes before anything else", () => {
    const { asked, want } = rig();
    want(0, 1024, [1]);
    expect(asked.map(about)).toEqual([[9, [0], [0, 1]]]);
  });

  it("begins with the lanes in sight where nobody said how many there are", () => {
    const { asked, want } = rig({ lanes: undefined });
    want(0, 1024, [1]);
    expect(asked.map(about)).toEqual([[9, [0], [1]]]);
  });

  it("asks for what is in sight, then the level above, then half a view on each side, one at a time", async () => {
    const { asked, want, onChange, store } = await begun();
    want(2048, 4096);
    expect(asked.map(about)).toEqual([[1, [2, 3], [0, 1]]]);
    await asked[0]!.answer();
    expect(asked.slice(1).map(about)).toEqual([[2, [1], [0, 1]]]);
    await asked[1]!.answer();
    expect(asked.slice(2).map(about)).toEqual([[1, [1, 4], [0, 1]]]);
    await asked[2]!.answer();
    expect(asked).toHaveLength(3);
    expect(onChange).toHaveBeenCalledTimes(3);
    expect(asked.some(({ signal }) => signal.aborted)).toBe(false);
    expect([store.busy, store.problem]).toEqual([false, null]);
  });

  it("asks only for lanes that it lacks", async () => {
    const { asked, want } = await begun();
    want(2048, 4096, [1]);
    await asked[0]!.answer();
    await asked[1]!.answer();
    await asked[2]!.answer();
    want(2048, 4096, [1, 0, 1]);
    expect(about(asked[3]!)).toEqual([1, [2, 3], [0]]);
  });

  it("goes from the newest view, not through those between", async () => {
    const { asked, want } = await begun();
    want(0, 1024);
    for (let i = 1; i <= 20; i++) want(i * 10, 1024 + i * 10);
    expect(asked.map(about)).toEqual([[0, [0, 1], [0, 1]]]);
    want(0, 900);
    await asked[0]!.answer();
    expect(about(asked[1]!)).toEqual([1, [0], [0, 1]]);
  });

  it("calls off what no longer helps: tiles too fine, elsewhere, or of rows that went away", async () => {
    for (const move of [
      (r: Rig) => r.want(0, 64_000),
      (r: Rig) => r.want(100_000, 101_024),
      (r: Rig) => r.want(0, 1024, [7]),
    ]) {
      const made = await begun();
      made.want(0, 1024);
      const [first] = made.asked;
      move(made);
      expect(first!.signal.aborted).toBe(true);
      expect(made.asked).toHaveLength(2);
      await settled();
      expect(made.asked.map(({ signal }) => signal.aborted)).toEqual([true, false]);
      expect(made.store.busy).toBe(true);
      expect(made.store.problem).toBeNull();
    }
  });

  it("keeps on its way what can stand in for what is wanted now", async () => {
    const made = await begun();
    made.want(0, 4096);
    made.want(0, 1024);
    made.want(300, 1324);
    expect(made.asked.map((asked) => asked.signal.aborted)).toEqual([false]);
  });

  it("shows a coarser tile at once and the exact one when it came", async () => {
    const made = await begun();
    made.want(0, 1024);
    expect(made.store.visit(0, 0, 0, { t0: 0, t1: 1024 }, () => undefined)).toBe("coarser");
    await made.asked[0]!.answer();
    const events: number[] = [];
    const found = made.store.visit(0, 0, 0, { t0: 0, t1: 1024 }, (tile, from, to) =>
      events.push(...tile.event.slice(from, to)),
    );
    expect([found, [...new Set(events)]]).toEqual(["exact", [0, 2]]);
  });

  it("tells of a failure, waits longer each time, and forgets it when it is over", async () => {
    const made = await begun();
    made.want(0, 1024);
    await made.asked[0]!.fail(new Error("no network"));
    expect(made.store.problem).toMatchObject({ message: "no network" });
    expect(made.onChange).toHaveBeenCalledTimes(1);
    made.want(10, 1034);
    expect(made.asked).toHaveLength(1);
    expect(made.pauses.map((p) => p.pause)).toEqual([500]);
    made.pauses.pop()!.fn();
    await made.asked[1]!.fail(new Error("no network"));
    expect(made.pauses.map((p) => p.pause)).toEqual([1000]);
    made.pauses.pop()!.fn();
    await made.asked[2]!.answer();
    expect(made.store.problem).toBeNull();
  });

  it("takes bytes that are no tiles for a failure, not for an end", async () => {
    const made = await begun();
    const load = (): Promise<ArrayBuffer> => Promise.resolve(new ArrayBuffer(5));
    const store = new TileStore(
      [sourceOf(SLICES, { span: SPAN, load })],
      () => undefined,
      () => () => undefined,
    );
    store.want({ t0: 0, t1: 1024 }, 1, new Map([[0, [0]]]));
    await settled();
    expect(store.problem).toMatchObject({
      message: expect.stringContaining("5 bytes are left") as string,
    });
    made.store.dispose();
  });

  it("asks again at once when a person wants it", async () => {
    const made = await begun();
    made.want(0, 1024);
    await made.asked[0]!.fail(new Error("no network"));
    made.store.retry();
    expect([made.asked.length, made.pauses.length]).toEqual([2, 0]);
  });

  it("has no more than its number of requests on their way over all sources", async () => {
    const asked: Asked[] = [];
    const sources = Array.from({ length: 9 }, () =>
      sourceOf(SLICES, { span: SPAN, lanes: 2 }, asked),
    );
    const store = new TileStore(sources, () => undefined);
    store.want({ t0: 0, t1: 1024 }, 1, new Map(sources.map((_, i) => [i, [0]])));
    expect(asked).toHaveLength(6);
    await asked[0]!.answer();
    expect(asked).toHaveLength(7);
    store.dispose();
  });

  it("asks for no more tiles times lanes than the server gives", () => {
    const asked: Asked[] = [];
    const store = new TileStore(
      [sourceOf([], { span: 2 ** 40, levelMax: 10, lanes: 1000 }, asked)],
      () => undefined,
    );
    store.want({ t0: 0, t1: 2 ** 40 }, 2 ** 30, new Map());
    expect([asked[0]!.ks.length, asked[0]!.lanes.length]).toEqual([16, 1000]);
    store.dispose();
  });

  it("does nothing more when it ends", async () => {
    const made = rig();
    made.want(0, 1024);
    const [first] = made.asked;
    made.store.dispose();
    expect(first!.signal.aborted).toBe(true);
    await first!.answer();
    made.want(0, 1024);
    expect([made.asked.length, made.onChange.mock.calls.length]).toEqual([1, 0]);
  });
});
