import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RunsPayload, SpanState } from "../api/types.gen";
import { EMPTY_PAGE, pageStore, startLocation } from "../state/location";
import { runsStore } from "../state/runs";
import { App } from "./App";
import { Boundary } from "./App";
import { groupNote, stateNote, workerOptions } from "../views/run_options";

const span = (name: string, state: SpanState = "ready", progress = 1) => ({
  name,
  label: `span ${name}`,
  state,
  progress,
  message: "cut at byte 7",
  bytes: 1,
});
const worker = (name: string, rank: number | null, ...spans: ReturnType<typeof span>[]) => ({
  name,
  rank,
  rank_source: "order" as const,
  world_size: null,
  job: 0,
  spans,
});
const RUNS: RunsPayload = {
  version: "1",
  scanning: false,
  logdirs: ["/logs"],
  runs: [
    {
      name: "good",
      synthetic: true,
      provisional: false,
      remarks: [],
      workers: [worker("w0", 0, span("1"), span("2")), worker("w1", 1, span("1"))],
    },
    {
      name: "bad",
      synthetic: false,
      provisional: false,
      remarks: [],
      workers: [worker("w0", null, span("1", "failed"))],
    },
  ],
};

/** Everything but the catalogue stays without an answer, so views stay in their first state. */
function serve(runs: RunsPayload): void {
  vi.stubGlobal("fetch", (url: string) =>
    new URL(url).pathname.endsWith("/runs")
      ? Promise.resolve(new Response(JSON.stringify(runs)))
      : new Promise(() => undefined),
  );
}

describe("the page", () => {
  let end: () => void;
  beforeEach(() => {
    history.replaceState(null, "", "/");
    localStorage.setItem("pytorch_profiler.tour", "done");
    pageStore.set(EMPTY_PAGE);
    runsStore.set({ payload: null, error: null });
    end = startLocation();
  });
  afterEach(() => {
    cleanup();
    end();
    vi.unstubAllGlobals();
  });

  it("chooses the first trace and puts it into the URL", async () => {
    serve(RUNS);
    render(<App />);
    await vi.waitFor(() => expect(location.hash).toBe("#view=overview&run=good&worker=w0&span=1"));
    expect(screen.getByRole("link", { name: "Overview" }).getAttribute("aria-current")).toBe(
      "page",
    );
    expect(document.title).toBe("Overview · good · PyTorch Profiler");
    expect(screen.getByText("synthetic")).toBeTruthy();
  });

  it("chooses steps beside the trace that they are of, and leaves the line of the views to them", async () => {
    const steps = {
      step: [0, 1],
      name: ["ProfilerStep#0", "ProfilerStep#1"],
      wall_ns: [5, 5],
      cold: [false, false],
      odd: [false, false],
    };
    vi.stubGlobal("fetch", (url: string) =>
      Promise.resolve(
        new Response(JSON.stringify(new URL(url).pathname.endsWith("/runs") ? RUNS : { steps })),
      ),
    );
    pageStore.set({ ...EMPTY_PAGE, view: "diagnosis" });
    render(<App />);
    await screen.findByLabelText("Worker");
    expect(screen.queryByRole("radiogroup", { name: "Steps" })).toBeNull();
    pageStore.set({ ...pageStore.get(), view: "overview" });
    const chooser = await screen.findByRole("radiogroup", { name: "Steps" });
    expect(chooser.closest(".trace-choice")?.contains(screen.getByLabelText("Worker"))).toBe(true);
    expect(screen.getByRole("navigation", { name: "Views" }).contains(chooser)).toBe(false);
  });

  it("changes the view by its tab, with a history entry", async () => {
    serve(RUNS);
    render(<App />);
    await screen.findByLabelText("Worker");
    const push = vi.spyOn(history, "pushState");
    fireEvent.click(screen.getByRole("link", { name: "Kernel" }));
    await vi.waitFor(() =>
      expect(screen.getByRole("main").getAttribute("aria-label")).toBe("Kernel"),
    );
    expect(push.mock.calls[0]?.[2]).toContain("#view=kernel&run=good");
  });

  it("keeps the rank when the run changes, and starts with all steps", async () => {
    serve(RUNS);
    render(<App />);
    await screen.findByLabelText("Worker");
    pageStore.set({ ...pageStore.get(), steps: { first: 2, last: 3, skipCold: true } });
    fireEvent.change(screen.getByLabelText("Run"), { target: { value: "bad" } });
    expect(pageStore.get()).toMatchObject({
      selection: { run: "bad", worker: "w0", span: "1" },
      steps: { first: null, last: null, skipCold: true },
    });
  });

  it("says why a trace failed", async () => {
    serve(RUNS);
    pageStore.set({ ...EMPTY_PAGE, selection: { run: "bad", worker: "", span: "" } });
    render(<App />);
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("cut at byte 7");
    expect(await screen.findByText("The trace of w0 could not be imported")).toBeTruthy();
  });

  it("says that a run is gone instead of jumping to another", async () => {
    serve(RUNS);
    pageStore.set({ ...EMPTY_PAGE, selection: { run: "gone", worker: "w", span: "1" } });
    render(<App />);
    expect(await screen.findByText("The run gone is not there")).toBeTruthy();
    expect(pageStore.get().selection.run).toBe("gone");
  });

  it("has no steps to choose for a run that is gone, and none found is no empty box", async () => {
    const asked: string[] = [];
    vi.stubGlobal("fetch", (url: string) => {
      asked.push(new URL(url).pathname);
      return new URL(url).pathname.endsWith("/runs")
        ? Promise.resolve(new Response(JSON.stringify({ ...RUNS, runs: [] })))
        : new Promise(() => undefined);
    });
    render(<App />);
    expect(await screen.findByRole("option", { name: "none found" })).toBeTruthy();
    pageStore.set({ ...EMPTY_PAGE, selection: { run: "gone", worker: "w", span: "1" } });
    expect(await screen.findByText("The run gone is not there")).toBeTruthy();
    expect(screen.queryByRole("option", { name: "none found" })).toBeNull();
    expect(asked.some((path) => path.endsWith("/steps"))).toBe(false);
  });

  it("says how to record when there is no trace at all", async () => {
    serve({ ...RUNS, runs: [] });
    render(<App />);
    expect(await screen.findByText("No traces yet")).toBeTruthy();
    expect(screen.getByText(/torch_tb_profiler\.record\("\/logs"\)/)).toBeTruthy();
    expect(screen.getByRole("link", { name: /all files/ }).getAttribute("href")).toContain(
      "#view=diagnosis",
    );
  });
});

it("shows an error of a view instead of a blank page, and gives another view a chance", () => {
  const Broken = (): never => {
    throw new Error("no such column");
  };
  const { rerender } = render(
    <Boundary reset="a">
      <Broken />
    </Boundary>,
  );
  expect(screen.getByRole("alert").textContent).toContain("no such column");
  rerender(
    <Boundary reset="b">
      <p>fine</p>
    </Boundary>,
  );
  expect(screen.getByText("fine")).toBeTruthy();
  cleanup();
});

describe("remarks in the selects", () => {
  it("tell the state of one trace", () => {
    expect([
      stateNote(span("1", "importing", 0.437)),
      stateNote(span("1", "growing")),
      stateNote(span("1")),
    ]).toEqual(["importing 43 %", "still being written", ""]);
  });
  it("sum up several", () => {
    expect(
      groupNote([
        span("1"),
        span("2", "importing", 0.5),
        span("3", "failed"),
        span("4", "waiting"),
      ]),
    ).toBe("importing 62 %, 1 of 4 failed");
    expect(groupNote([span("1", "failed"), span("2", "failed")])).toBe("failed");
  });
  it("name ranks where there are several", () => {
    expect(workerOptions(RUNS.runs[0]!.workers).map((option) => option.label)).toEqual([
      "rank 0 · w0",
      "rank 1 · w1",
    ]);
    expect(
      workerOptions([worker("rank0", 0, span("1")), worker("rank2", 1, span("1"))]).map(
        (option) => option.label,
      ),
    ).toEqual(["rank 0", "rank 1 · rank2"]);
    expect(workerOptions([worker("solo", 0, span("1"))])[0]?.label).toBe("solo");
  });
});
