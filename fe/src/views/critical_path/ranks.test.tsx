import { fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RanksPathPayload, RanksRowsPayload, StragglersPayload } from "../../api/types.gen";
import { runsStore } from "../../state/runs";
import type { Params } from "../../state/view";
import { rowsOf } from "../../testing/cases";
import { GPU, reply } from "../../testing/replies";
import { serve, showLive, text, viewProps } from "../../testing/page";
import { payload as ownPath, rows as ownRows, strip } from "./fixtures";
import { onTimeline } from "./on_rank";
import { Stragglers } from "./stragglers";
import { CriticalPathView } from "./view";
import { whatIf } from "./what_if_fixtures";
import { run, runsOf, worker } from "../../testing/runs";

const RECORDED = reply("critical_path/ranks", GPU);
const parts = rowsOf(RECORDED.parts, [0, 3], { path_ns: [80, 20], share: [0.8, 0.2] });

/** A short path that goes from rank 0 to rank 5 and back. */
const ranks = (over: Partial<RanksPathPayload> = {}): RanksPathPayload => ({
  ...RECORDED,
  workers: [
    { worker: "w", span: "s", rank: 0, shift_ns: 1000 },
    { worker: "v", span: "t", rank: 5, shift_ns: -7 },
  ],
  parts,
  strips: [
    {
      ...{ step: 3, name: "ProfilerStep#9", start_ns: 100, end_ns: 200 },
      glyph: {
        ...strip({
          ...{
            lane: ["host", "device", "device"],
            category: ["python", "compute", "communication"],
          },
          ...{ start_ns: [100, 120, 180], end_ns: [120, 180, 200], segments: [1, 1, 1] },
          ...{ name: ["relu", "gemm", "all_reduce"], line: [null, null, null], worker: [0, 1, 0] },
        }).glyph,
        ranks: [
          { worker: 0, start_ns: 100, end_ns: 120 },
          { worker: 1, start_ns: 120, end_ns: 180 },
          { worker: 0, start_ns: 180, end_ns: 200 },
        ],
      },
    },
  ],
  ...over,
});

const recordedRows = reply("critical_path/ranks/rows", GPU);
const rows: RanksRowsPayload = {
  ...recordedRows,
  rows: rowsOf(recordedRows.rows, [0, 1], {
    name: ["gemm", "all_reduce"],
    worker: [1, 0],
    event: [17, 4],
  }),
};

const stragglers = (over: Partial<StragglersPayload> = {}): StragglersPayload =>
  reply("stragglers", GPU, over);

let answer: RanksPathPayload;
let slow: StragglersPayload;
let asked: URL[];
beforeEach(() => {
  answer = ranks();
  slow = stragglers();
  asked = serve({
    "critical_path/ranks": () => answer,
    "critical_path/ranks/rows": rows,
    stragglers: () => slow,
    "critical_path/rows": ownRows(),
    what_if: whatIf(),
    critical_path: ownPath(),
    "critical_path/steps": ownPath(),
  });
});
afterEach(() => {
  runsStore.set({ payload: null, error: null });
});

const link = (name: string): string | null =>
  screen.getByRole("link", { name }).getAttribute("href");
const hrefOf = vi.fn((view: string, params: Params = {}, selection?: { worker: string }) => {
  const query = new URLSearchParams(params).toString();
  return `#${view}@${selection?.worker ?? ""}?${query}`;
});

const show = (start: Params = {}) => showLive(CriticalPathView, start, { hrefOf });

/** A run with so many workers. */
function listRun(count: number): void {
  const workers = Array.from({ length: count }, (_, i) => worker(i ? `w${i}` : "w", i));
  runsStore.set({ payload: runsOf([run("r", workers)]), error: null });
}

describe("the choice", () => {
  it("stands where the run has several ranks, and asks for the path through all of them", async () => {
    listRun(2);
    show({ t0: "1000", t1: "1010", by: "track" });
    fireEvent.click(screen.getByRole("radio", { name: "All ranks" }));
    await waitFor(() => expect(text()).toContain("Rank 5 holds all others back"));
    const keys = (): string[][] =>
      asked
        .filter(({ pathname }) => pathname.endsWith("ranks/rows"))
        .map(({ searchParams }) => [...searchParams.keys()]);
    await waitFor(() => expect(keys()).toEqual([["run", "worker", "span", "by"]]));
    fireEvent.click(screen.getByRole("radio", { name: "This rank" }));
    await waitFor(() => expect(text()).toContain("Waiting for a rank takes 4.52 ms"));
  });

  it("is not there for a single rank", async () => {
    listRun(1);
    show({});
    await waitFor(() => expect(text()).toContain("Waiting for a rank takes 4.52 ms"));
    expect(screen.queryByRole("radio", { name: "All ranks" })).toBeNull();
  });
});

describe("the path through all ranks", () => {
  it("names the rank of each stretch and leads to that rank's timeline", async () => {
    show({ ranks: "all", by: "event" });
    await waitFor(() => expect(screen.getByRole("grid", { name: "On the path" })).toBeTruthy());
    expect(text()).toContain("rests on all 8 ranks");
    expect(text()).toContain("The clocks are aligned on the ends of 28 collectives.");
    const path = screen.getByRole("group", { name: /^Step 9/ });
    fireEvent.keyDown(path, { key: "ArrowRight" });
    fireEvent.keyDown(path, { key: "ArrowRight" });
    expect(path.querySelector("[aria-live]")?.textContent).toBe(
      "rank 5, GPU compute, 20 ns to 80 ns, gemm",
    );
    expect(link("On the timeline of rank 5")).toBe("#trace@v?path=1&t=113%2C60");
    expect(link("gemm")).toBe("#trace@v?sel=17&path=1");
    expect(link("rank 0")).toBe("#critical_path@w?");
  });

  it("waits for the workers", async () => {
    answer = ranks({ progress: 0.5, strips: [], parts: { ...parts, kind: [] } });
    show({ ranks: "all" });
    await waitFor(() => expect(text()).toContain("Reading the ranks"));
  });

  it("shows a part on the rank that has most of it", () => {
    expect(onTimeline(ranks(), { t0: 100, t1: 125 })).toMatchObject({
      worker: { rank: 0 },
      params: { t: "1100,20" },
    });
    expect(onTimeline(ranks({ strips: [] }), null)).toBeNull();
  });
});

describe("without stragglers", () => {
  const show = (): void => {
    const props = viewProps({}, { setParam: vi.fn(), setSteps: vi.fn() });
    render(<Stragglers {...props} />);
  };

  it("is simulated by itself, and says what they cost and only what makes the run longer", async () => {
    show();
    await waitFor(() =>
      expect(text()).toContain("All stragglers together cost about 2.1 ms of a step."),
    );
    expect(text()).toContain("× 1.203");
    const list = screen.getByRole("list", { name: "With only this rank as it was" });
    expect(list.textContent).toBe("rank 5× 1.203");
  });

  it("says why a run is not simulated, and the command that does it", async () => {
    slow = stragglers({ refused: "The traces hold too many events.", slowdown: null });
    show();
    await waitFor(() => expect(text()).toContain("The traces hold too many events."));
    expect(text()).toContain("torch-tb-profiler whatif . --change no-stragglers");
  });
});
