import { describe, expect, it, vi } from "vitest";
import { alignmentSummary, alignmentText, arrivalText } from "./workers";
import { mergedKinds, readKind } from "./kinds";
import { recording, ref } from "./fixtures";
import { spanOf } from "./recordings";
import { extentOfName, mergedHeat, mergedNames, nearest, nextHit, type Wish } from "./search";
import { resultText } from "./found";
import { arrowText, workerCount } from "./toolbar";

const WISH: Wish = { text: "mm", regex: false, args: false, kind: "all" };

function serve(answer: (url: URL) => unknown): URL[] {
  const asked: URL[] = [];
  vi.stubGlobal("fetch", (address: string) => {
    const url = new URL(address);
    asked.push(url);
    return Promise.resolve(new Response(JSON.stringify(answer(url))));
  });
  return asked;
}

describe("nearest", () => {
  const answer = (source: number, start: number | null, offset = 0) => ({
    source,
    at: { offset },
    payload: { hit: start === null ? null : ref(start, { start_ns: start }), index: 0, total: 1 },
  });
  it("is the next on the common clock, not on a worker's own", () => {
    expect(nearest([answer(0, 500), answer(1, 100, 350)], 400, "next")?.source).toBe(1);
  });
  it("goes round where all hits lie behind", () => {
    expect(nearest([answer(0, 50), answer(1, 20)], 400, "next")?.ref.start_ns).toBe(20);
    expect(nearest([answer(0, 500), answer(1, 700)], 400, "previous")?.ref.start_ns).toBe(700);
  });
  it("is nothing where nothing was found", () =>
    expect(nearest([answer(0, null)], 0, "next")).toBeNull());
});

describe("nextHit", () => {
  it("goes on from the selected event, and from its time in other workers' traces", async () => {
    const asked = serve(() => ({ hit: null, index: 0, total: 0 }));
    const recordings = [recording(), recording({ offset: 200 })];
    await nextHit(
      recordings,
      WISH,
      { event: { source: 0, event: 7, start: 900 }, time: 0 },
      "previous",
      new AbortController().signal,
    );
    expect(
      asked.map((url) => [
        url.searchParams.get("before"),
        url.searchParams.get("t"),
        url.searchParams.get("dir"),
      ]),
    ).toEqual([
      ["7", null, null],
      [null, "700", "previous"],
    ]);
  });
  it("asks for an exact name from both ends, whatever signs it has", async () => {
    const asked = serve((url) => ({
      hit: ref(url.searchParams.get("dir") === "next" ? 1 : 9),
      index: 0,
      total: 2,
    }));
    const extent = await extentOfName(
      [recording()],
      "void f<int>(a*)",
      new AbortController().signal,
    );
    expect(asked.map((url) => url.searchParams.get("q"))).toEqual([
      "^void f<int>\\(a\\*\\)$",
      "^void f<int>\\(a\\*\\)$",
    ]);
    expect([extent?.range, extent?.first.ref.event]).toEqual([{ t0: 1000, t1: 9100 }, 1]);
  });
});

it("mergedNames adds up workers and keeps kinds apart", () => {
  const names = (count: number, look: number) => ({
    total: 0,
    names_total: 1,
    kind: "all" as const,
    order: "time" as const,
    kinds: [],
    names: { name: ["mm"], look: [look], count: [count], total_ns: [count * 10] },
    hits: { event: [], lane: [], name: [], look: [], start_ns: [], dur_ns: [] },
  });
  expect(mergedNames([names(2, 1), null, names(3, 1), names(9, 3)])).toEqual({
    name: ["mm", "mm"],
    look: [3, 1],
    count: [9, 5],
    total_ns: [90, 50],
  });
});

describe("kinds", () => {
  it("are added up over workers, in the order in which people look for them", () =>
    expect(
      mergedKinds([
        [{ kind: "python", count: 4 }],
        [
          { kind: "python", count: 1 },
          { kind: "device", count: 2 },
        ],
      ]),
    ).toEqual([
      { kind: "device", count: 2 },
      { kind: "python", count: 5 },
    ]));
  it("are read from links that anybody may have written", () =>
    expect([readKind("python"), readKind("all"), readKind("<b>"), readKind(undefined)]).toEqual([
      "python",
      "all",
      "first",
      "first",
    ]));
});

it("mergedHeat loses no hit", () => {
  const heat = mergedHeat(
    [
      { counts: [1, 2], at: { offset: 0 }, length: 100 },
      { counts: [4], at: { offset: 300 }, length: 100 },
    ],
    { t0: 0, t1: 400 },
  );
  expect(heat.reduce((a, b) => a + b)).toBe(7);
  expect(heat.slice(1000).reduce((a, b) => a + b)).toBe(4);
});

it("resultText counts, and says when there is none", () => {
  const found = { idle: false, busy: false, error: null, total: 340 };
  expect(resultText(found, 11)).toBe("12 of 340");
  expect(resultText(found, null)).toBe("340");
  expect(resultText({ ...found, total: 0 }, null)).toBe("no match");
  expect(resultText({ ...found, idle: true }, null)).toBe("");
});

it("workerCount says when there are more than are drawn", () => {
  expect([workerCount(8, 8), workerCount(64, 128)]).toEqual(["all (8)", "64 of 128"]);
});

it("arrowText says what is left out", () => {
  expect(arrowText(1, 2000, 31_234)).toMatch(/^2.000 of 31.234 flows in view shown/);
  expect(arrowText(1, 5, 5)).toContain("All 5");
});

describe("alignment in words", () => {
  const worker = {
    worker: "w",
    span: "",
    rank: 0,
    ready: true,
    offset_ns: 0,
    method: "collectives" as const,
    error_ns: 12_000,
    matched: 48,
  };
  it("says by what and what is left", () => {
    expect(alignmentText(worker)).toBe("aligned by 48 collectives, ± 12.0 µs left");
    expect(alignmentText({ ...worker, method: "clock", error_ns: null })).toBe(
      "aligned by system clocks only",
    );
  });
  it("says why a worker is still loading", () => {
    const resource = {
      state: "importing" as const,
      data: null,
      error: null,
    };
    expect(arrivalText(resource)).toBe("importing");
  });
  it("sums up all of them", () => {
    const part = (data: unknown, method: "collectives" | "clock") =>
      ({ wanted: { worker: { ...worker, method } }, resource: { data } }) as unknown as Parameters<
        typeof alignmentSummary
      >[0][number];
    expect(
      alignmentSummary([part({}, "collectives"), part({}, "clock"), part(null, "clock")]),
    ).toBe(
      "2 workers; aligned by collectives, ± 12.0 µs left at most; 1 aligned by system clocks only; 1 still loading",
    );
  });
});

it("spanOf reaches over all workers", () => {
  const at = (offset: number) => recording({ offset });
  expect(spanOf([at(-500), at(2000)])).toEqual({ t0: -500, t1: 1_002_000 });
  expect(spanOf([])).toEqual({ t0: 0, t1: 1 });
});
