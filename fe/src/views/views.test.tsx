/** The five pages with a server that answers from fixtures: what they ask for, and what they do with the address bar. */

import { cleanup, fireEvent, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CallersPayload } from "../api/types.gen";
import { runsStore } from "../state/runs";
import { ALL_STEPS, type ViewProps } from "../state/view";
import { DiagnosisView } from "./diagnosis/view";
import {
  file,
  findings,
  HOSTILE,
  lacking,
  kernelRows,
  kernels,
  operatorRows,
  operators,
  overview,
  step,
  stepsOf,
  filesOf,
} from "../testing/cases";
import { type Answers, queriesOf, serve, show, text } from "../testing/page";
import { CPU, GPU, reply } from "../testing/replies";
import { run, runsOf, worker } from "../testing/runs";
import { KernelView } from "./kernel/view";
import { OperatorView } from "./operator/view";
import { Breakdown } from "./overview/breakdown";
import { Longest } from "./overview/longest";
import { CopyMessage } from "./overview/message";
import { OverviewView } from "./overview/view";
import { event, timeline } from "./trace/fixtures";
import { TraceView } from "./trace/view";

// There is no canvas here; what is drawn is tested in timeline/ and in a browser.
vi.mock("../timeline/Timeline", () => ({ Timeline: () => null }));

let asked: URL[];
let answers: Answers;
const callers: CallersPayload = {
  rows: {
    name: ["src/net.py(3): forward", "main.py(9): main"],
    parent: [-1, 0],
    kind: ["line", "line"],
    layers: ["Linear ×48", null],
    calls: [7, 7],
    device_self_ns: [1000, 1000],
    device_total_ns: [1000, 1000],
    host_self_ns: [1, 1],
    host_total_ns: [1, 1],
    total_ns: [null, null],
  },
  missing: [],
};
const missing = lacking({
  key: "device",
  what: "Accelerator activity",
  why: "It was not recorded.",
});

beforeEach(() => {
  answers = {
    overview: overview(),
    findings: findings(),
    operator: operators(),
    callers,
    kernel: kernels(),
    trace: reply("trace", GPU),
  };
  answers.diagnosis = {
    version: "1",
    logdirs: ["/logs"],
    notes: [],
    cluster: null,
    live: [],
    files: filesOf([file("a"), file("b", { state: "failed", reason: HOSTILE })]),
  };
  asked = serve(answers);
});
afterEach(() => {
  localStorage.clear();
});

it("a view asks for its trace, its steps and its grouping", async () => {
  show(KernelView, { group: "properties" }, { steps: { ...ALL_STEPS, skipCold: true } });
  await waitFor(() => expect(text()).toContain("in kernels."));
  expect(queriesOf(asked, "kernel")[0]).toEqual({
    run: "r",
    worker: "w",
    span: "s",
    skip_cold: "1",
    group: "properties",
  });
});

const Overview = (props: ViewProps) => (
  <OverviewView
    {...props}
    later={{
      ...{ Breakdown, CopyMessage, Longest },
      FirstMemory: () => <p>What holds the memory</p>,
      Steps: ({ ranks }) => <p>Each step by cause, of {ranks}</p>,
    }}
  />
);

async function unfold(): Promise<void> {
  const title = await screen.findByText("Step-time breakdown");
  const fold = title.closest("details")!;
  fold.open = true;
  fireEvent(fold, new Event("toggle"));
}

describe("OverviewView", () => {
  it("shows everything of a GPU trace", async () => {
    show(Overview);
    await waitFor(() => expect(text()).toContain("Trace health"));
    for (const part of [
      "note, configuration",
      "Tensor Cores 44.9 % of kernel time",
      "GPU summary",
      "Each step by cause",
      "Step-time breakdown",
      "Loading data takes 8.79 ms of each 58.7 ms step.",
      "Prepare batches in worker processes",
      "Trace health: 1 notice, 1 info",
    ])
      expect(text()).toContain(part);
  });

  it.each([
    ["this rank", "w", "critical_path", "critical_path/ranks", "own"],
    ["the job", "w and w1", "critical_path/ranks", "critical_path", "all"],
  ])(
    "draws below an answer about %s path and steps of that",
    async (_, ranks, drawn, other, of) => {
      const workers = ["w", "w1"].map((name, rank) => worker(name, rank));
      runsStore.set({ payload: runsOf([run("r", workers)]), error: null });
      const told = findings();
      const subject = { ...told.subject, ranks: "w" };
      answers.findings = {
        ...told,
        subject,
        told: { ...told.told, subject: { ...subject, ranks } },
      };
      show(Overview, { all: "1" });
      await waitFor(() => expect(queriesOf(asked, drawn).length).toBe(1));
      expect(queriesOf(asked, other)).toEqual([]);
      expect(text()).toContain(`Each step by cause, of ${of}`);
      runsStore.set({ payload: null, error: null });
    },
  );

  it("draws of what recurs a step that has it", async () => {
    const told = findings();
    const subject = { ...told.subject, steps: "2" };
    answers.findings = { ...told, median: 1, told: { ...told.told, subject } };
    show(Overview);
    await waitFor(() => expect(queriesOf(asked, "critical_path")).toHaveLength(1));
    expect(queriesOf(asked, "critical_path")[0]?.steps).toBe("2");
  });

  it("chooses between kinds of steps, of which the one with most time leads", async () => {
    const kinds = [
      { name: "decode", steps: 9, median: 5, median_ns: 18_900_000 },
      { name: "prefill", steps: 1, median: 0, median_ns: 89_200_000 },
    ];
    answers.overview = overview({ kinds });
    const { setSteps } = show(Overview);
    const prefill = await screen.findByRole("button", { name: "Prefill · 89.2 ms" });
    const lead = screen.getByRole("button", { name: "Decode · 9 × 18.9 ms" });
    expect([lead, prefill].map((one) => one.getAttribute("aria-pressed"))).toEqual([
      "true",
      "false",
    ]);
    fireEvent.click(prefill);
    fireEvent.click(lead);
    const warm = { first: null, last: null, skipCold: true };
    expect(setSteps.mock.calls).toEqual([[{ ...warm, kind: "prefill" }], [warm]]);
    cleanup();
    show(Overview, {}, { steps: { ...warm, kind: "prefill" } });
    const pressed = await screen.findByRole("button", { pressed: true });
    expect(pressed.textContent).toContain("Prefill");
    expect(asked.at(-1)?.searchParams.get("step_kind")).toBe("prefill");
  });

  it("lists the longest kernels of a single step, else what to record", async () => {
    answers.overview = overview({ steps: stepsOf([step(0)]) });
    show(Overview);
    await waitFor(() => expect(text()).toContain("Longest kernels"));
    cleanup();
    answers.overview = overview({ steps: stepsOf([step(0)]), missing: [missing], devices: [] });
    show(Overview);
    await waitFor(() => expect(text()).toContain("What would tell more"));
  });

  it("chooses a step by its bar and lets go of it by the same", async () => {
    const { setSteps } = show(Overview);
    await unfold();
    await waitFor(() => expect(document.querySelector("[data-bar='2']")).toBeTruthy());
    fireEvent.click(document.querySelector("[data-bar='2']")!);
    expect(setSteps).toHaveBeenCalledWith({ first: 2, last: 2, skipCold: false });
  });

  it("says what a CPU-only trace lacks, with the call that records it", async () => {
    answers.overview = reply("overview", CPU);
    show(Overview);
    await waitFor(() => expect(text()).toContain("Not recorded: accelerator activity"));
    expect(text()).toContain("ProfilerActivity.CUDA");
    expect(text()).not.toContain("Utilization");
  });

  it("stands a trace without any step", async () => {
    answers.overview = overview({
      steps: stepsOf([]),
      average: null,
      devices: [],
      configuration: [],
    });
    show(Overview);
    await waitFor(() => expect(text()).toContain("There is no step"));
  });
});

describe("OperatorView", () => {
  it("a pressed slice filters the table to exactly that operator", async () => {
    const { setParam } = show(OperatorView);
    fireEvent.click(await screen.findByRole("button", { name: "Charts" }));
    await waitFor(() =>
      expect(screen.getAllByRole("button", { name: "aten::mm" }).length).toBeGreaterThan(0),
    );
    fireEvent.click(screen.getAllByRole("button", { name: "aten::mm" })[0]!);
    expect(setParam.mock.calls).toEqual([
      ["regex", "1"],
      ["search", "^aten::mm$"],
    ]);
  });

  it("groups through the address bar, and leaves the start value out of it", async () => {
    const { setParam } = show(OperatorView, { group: "shape" });
    await waitFor(() =>
      expect(screen.getByLabelText("Operator", { selector: "input" })).toBeTruthy(),
    );
    fireEvent.click(screen.getByLabelText("Operator", { selector: "input" }));
    expect(setParam.mock.calls).toEqual([["group", null]]);
  });

  it("shows the order from the start, and charts of the rows that a search leaves", async () => {
    show(OperatorView, { search: "add" });
    fireEvent.click(await screen.findByRole("button", { name: "Charts" }));
    await waitFor(() => expect(text()).toContain("GPU self time"));
    const sorted = document.querySelector('[aria-sort="descending"]');
    expect(sorted?.textContent).toBe("GPU self");
    expect(document.querySelectorAll(".legend-row")).toHaveLength(2);
    fireEvent.click(screen.getByRole("button", { name: "Charts" }));
    expect(document.querySelector(".grid-aside")).toBeNull();
  });

  it("opens a row to its callers, in the columns of the table", async () => {
    answers.operator = operators(["aten::mm"], {
      rows: operatorRows(["aten::mm"], { has_stack: [true] }),
    });
    show(OperatorView);
    await waitFor(() => expect(text()).toContain("aten::mm"));
    fireEvent.click(screen.getByRole("button", { name: "Details of aten::mm" }));
    await waitFor(() => expect(text()).toContain("net.py:3 forward"));
    const [line, main] = document.querySelectorAll(".beneath-row");
    expect(line?.textContent).toContain("Linear ×48");
    expect(main?.textContent).toContain("main.py:9 main");
    const columns = document.querySelectorAll('[role="columnheader"]').length;
    expect(line?.children).toHaveLength(columns);
    expect(line?.children[2]?.textContent).toBe("7");
    fireEvent.click(screen.getByRole("button", { name: /Callers of src/ }));
    expect(document.querySelectorAll(".beneath-row")).toHaveLength(1);
  });

  it("says why there is no operator, with the call that records one", async () => {
    answers.operator = operators([], { missing: [missing] });
    show(OperatorView);
    await waitFor(() => expect(text()).toContain("No operators in the selected steps"));
    expect(text()).toContain("It was not recorded.");
  });

  it("offers the missing shapes while it shows the rest", async () => {
    answers.operator = operators(undefined, {
      group: "shape",
      missing: [{ ...missing, key: "shapes", what: "Input shapes" }],
    });
    show(OperatorView, { group: "shape" });
    await waitFor(() => expect(text()).toContain("Not recorded: Input shapes."));
    expect(text()).toContain("GPU self");
  });

  it("shows the server's reason instead of an endless wait", async () => {
    answers.operator = {
      error: {
        code: "import_failed",
        message: `The import failed: ${HOSTILE}`,
        hint: "Record again.",
      },
    };
    show(OperatorView);
    await waitFor(() => expect(text()).toContain("Record again."));
    expect(document.querySelector("img")).toBeNull();
  });
});

describe("KernelView", () => {
  it("says why there is no kernel", async () => {
    answers.kernel = kernels([], { missing: [missing] });
    show(KernelView);
    await waitFor(() => expect(text()).toContain("This trace has no kernels"));
    expect(text()).toContain("profile(with_stack=True)");
  });

  const measured = (counters: number) => ({
    name: ["gemm", "relu"],
    short_name: ["gemm", "relu"],
    calls: [7, 5],
    counters: Array.from({ length: counters }, (_, at) => ({
      name: `c${at}`,
      label: `Counter ${at}`,
      unit: "",
    })),
    values: Array.from({ length: counters }, (_, at) => [1001 + at, null]),
  });

  it("shows counters where they were recorded in place of times", async () => {
    answers.kernel = kernels([], { missing: [], measured: measured(9) });
    show(KernelView);
    await waitFor(() =>
      expect(text()).toContain("Counters were measured in 12 launches of 2 kernels."),
    );
    expect(text()).toContain("Counter 3");
    expect(text()).not.toContain("Counter 4");
    expect(text()).toContain("1\u202f001");
  });

  it.each([
    [2, true],
    [9, false],
  ])("has a column for each of %i counters, shown at first: %s", async (counters, shown) => {
    answers.kernel = kernels(["relu", "gemm"], { measured: measured(counters) });
    show(KernelView);
    await waitFor(() => expect(text()).toContain("Total"));
    expect(text().includes("Counter 1")).toBe(shown);
  });

  it("does not say that the trace holds no kernel where only the steps hold none", async () => {
    answers.kernel = kernels([], { missing: [] });
    show(KernelView);
    await waitFor(() => expect(text()).toContain("No kernels in the selected steps"));
  });

  it("lists kernels without operator by reason", async () => {
    const rows = kernelRows(["a", "b"], {
      operator: [null, "aten::mm"],
      no_operator: ["no_launch", null],
      calls: [2, 2],
      total_ns: [2000, 1000],
    });
    const reasons = [{ key: "no_launch", text: "no launch recorded" }];
    answers.kernel = kernels([], { group: "properties", rows, reasons });
    show(KernelView, { group: "properties" });
    await waitFor(() =>
      expect(text()).toContain("Operator unknown, by reason:no launch recorded 2 calls, 2.00 µs"),
    );
  });
});

describe("TraceView", () => {
  beforeEach(() => {
    answers["trace/timeline"] = timeline();
    answers["trace/event"] = event(7);
    answers["trace/search"] = {
      total: 3,
      kind: "device",
      kinds: [{ kind: "device", count: 3 }],
      names: { name: ["gemm"], look: [3], count: [3], total_ns: [30] },
      names_total: 1,
      hits: { event: [], lane: [], name: [], start_ns: [], dur_ns: [] },
    };
    answers["trace/search/next"] = { hit: event(7).ref, index: 0, total: 3 };
  });
  const askedFor = (route: string): URL[] =>
    asked.filter((url) => url.pathname.endsWith(`/${route}`));

  it("links to the whole file, and to a window by ns", async () => {
    show(TraceView, { part: "whole" });
    await waitFor(() => expect(screen.getByText("Download the file")).toBeTruthy());
    expect(new URL(screen.getByText("Download the file").closest("a")?.href ?? "").search).toBe(
      "?run=r&worker=w&span=s",
    );
    cleanup();
    show(TraceView, { part: "window", from: "1.5 ms", to: "2 ms" });
    await waitFor(() => expect(screen.getByText("Download this part")).toBeTruthy());
    expect(screen.getByText("Download this part").closest("a")?.href).toContain(
      "t0=1500000&t1=2000000",
    );
  });

  it("offers nothing for a window that is none", async () => {
    show(TraceView, { part: "window", from: "9 ms", to: "2 ms" });
    await waitFor(() => expect(text()).toContain("ends before it begins"));
    expect(document.querySelector("a[download]")).toBeNull();
  });

  it("shows the event of the link, and its ways to the other pages", async () => {
    const { setParam } = show(TraceView, { sel: "7", t: "0,1000" });
    await waitFor(() => expect(text()).toContain("3rd slowest"));
    expect(Object.fromEntries(askedFor("trace/event")[0]?.searchParams ?? [])).toEqual({
      run: "r",
      worker: "w",
      span: "s",
      id: "content",
      event: "7",
    });
    expect(screen.getByText("Show in Kernel view").getAttribute("href")).toContain(
      "#kernel?search=%5Egemm%24",
    );
    fireEvent.click(screen.getByText("cudaLaunchKernel"));
    expect(setParam).toHaveBeenCalledWith("sel", "2");
  });

  it("opens on the first hit of a link that names what is looked for", async () => {
    const { setParam } = show(TraceView, { q: "gemm" });
    await waitFor(() => expect(setParam).toHaveBeenCalledWith("sel", "7"), { timeout: 3000 });
    expect(askedFor("trace/search")[0]?.searchParams.get("q")).toBe("gemm");
  });

  it("says why there is nothing to draw, or that it failed", async () => {
    answers["trace/timeline"] = timeline({ events: 0, groups: [] });
    show(TraceView);
    await waitFor(() => expect(text()).toContain("This trace has no timeline"));
    cleanup();
    answers["trace/timeline"] = {
      error: { code: "import_failed", message: `It broke: ${HOSTILE}`, hint: "Record again." },
    };
    show(TraceView);
    await waitFor(() => expect(text()).toContain("Record again."));
    expect(document.querySelector("img")).toBeNull();
  });

  it("shows all workers of the run with what is known of their clocks", async () => {
    const worker = (rank: number) => ({
      worker: `w${rank}`,
      span: "s",
      rank,
      ready: true,
      offset_ns: rank * 10,
      method: "collectives",
      error_ns: 2000,
      matched: 48,
    });
    answers["trace/alignment"] = {
      workers: [worker(0), worker(1)],
      workers_chosen: 2,
      workers_total: 2,
      span_ns: 1_000_010,
    };
    show(TraceView, { workers: "all" });
    await waitFor(() => expect(screen.getByText("Workers: all (2)")).toBeTruthy());
    await waitFor(() =>
      expect(askedFor("trace/timeline").map((url) => url.searchParams.get("worker"))).toEqual([
        "w0",
        "w1",
      ]),
    );
    await waitFor(() => expect(screen.getByText("Table")).toBeTruthy());
    fireEvent.click(screen.getByText("Workers: all (2)"));
    expect(text()).toContain("aligned by 48 collectives, ± 2.00 µs left");
  });
});

describe("DiagnosisView", () => {
  it("filters by state through the address bar", async () => {
    const { setParam } = show(DiagnosisView);
    await waitFor(() => expect(text()).toContain("Failed 1"));
    fireEvent.click(screen.getByText(/^Failed/, { selector: "button" }));
    expect(setParam).toHaveBeenCalledWith("state", "failed");
  });

  it("says what to record when no file was found", async () => {
    answers.diagnosis = {
      version: "1",
      logdirs: ["/logs"],
      notes: [],
      cluster: null,
      live: [],
      files: filesOf([]),
    };
    show(DiagnosisView);
    await waitFor(() => expect(text()).toContain("No file was found"));
    expect(text()).toContain("torch_tb_profiler.record(");
  });
});

it("operators of a trace with 100,000 rows are drawn as a page, not as rows", async () => {
  const names = Array.from({ length: 100_000 }, (_, i) => `op${i}`);
  answers.operator = operators([], { rows: operatorRows(names), pooled: 0 });
  show(OperatorView);
  fireEvent.click(await screen.findByRole("button", { name: "Charts" }));
  await waitFor(() => expect(text()).toContain("other (99995)"), { timeout: 10_000 });
  expect(document.querySelectorAll("[role=row]").length).toBeLessThan(500);
}, 20_000);
