import { cleanup, fireEvent, render, screen, within } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RunsPayload } from "../api/types.gen";
import { changePage, EMPTY_PAGE, pageStore, startLocation } from "../state/location";
import { runsStore } from "../state/runs";
import { VIEW_IDS, type ViewId } from "../state/view";
import { App, Boundary } from "./App";
import { placeOf, PLACES } from "./registry";
import { groupNote, stateNote, workerOptions } from "../views/run_options";
import { run, runsOf, span, worker } from "../testing/runs";

const FAILED = span("1", "failed", { message: "cut at byte 7" });
const RUNS = runsOf(
  [
    run("good", [worker("w0", 0, [span("1"), span("2")]), worker("w1", 1)], {
      ...{ synthetic: true, kind: "training", recorded: "8 June 2021" },
    }),
    run("bad", [worker("w0", null, [FAILED])]),
  ],
  { logdirs: ["/logs"] },
);

const STEPS = {
  source: "ProfilerStep",
  steps: {
    step: [0, 1],
    steps: [1, 1],
    name: ["ProfilerStep#0", "ProfilerStep#1"],
    wall_ns: [5, 5],
    cold: [false, false],
    odd: [false, false],
  },
  median: 0,
  iterations: 0,
  missing: [],
};
const first = (steps: typeof STEPS.steps) =>
  Object.fromEntries(Object.entries(steps).map(([key, values]) => [key, values.slice(0, 1)]));

/** Everything but the catalogue and the steps stays without an answer, so views stay in their first state. */
function serve(
  runs: RunsPayload,
  steps: object | null = null,
  others: Readonly<Record<string, object>> = {},
): void {
  vi.stubGlobal("fetch", (url: string) => {
    const answer = { ...others, runs, steps }[new URL(url).pathname.split("/").at(-1) ?? ""];
    return answer
      ? Promise.resolve(new Response(JSON.stringify(answer)))
      : new Promise(() => undefined);
  });
}

const placeLinks = (): HTMLElement[] =>
  within(screen.getByRole("navigation", { name: "Places" })).getAllByRole("link");

const shown = (label: string): Promise<void> =>
  vi.waitFor(() => expect(screen.getByRole("main").getAttribute("aria-label")).toBe(label));

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
    end();
  });

  it("chooses the first trace and puts it into the URL", async () => {
    serve(RUNS);
    render(<App />);
    await vi.waitFor(() =>
      expect(location.hash).toBe("#view=overview&run=good&worker=w0&span=1&skip_cold=1&all=1"),
    );
    expect(placeLinks()[0]?.getAttribute("aria-current")).toBe("page");
    expect(document.title).toBe("Overview · good · PyTorch Profiler");
    fireEvent.click(screen.getByRole("button", { name: "Run: good" }));
    expect(screen.getByRole("button", { name: /^good / }).textContent).toBe(
      "good training, 2 ranks, 8 June 2021, synthetic",
    );
  });

  it.each([
    ["as it stands where it names a worker", "w1", "&worker=w1&span=1"],
    ["as one to all ranks where it names none", "", "&worker=w0&span=1&all=1"],
  ])("takes a link to a run %s", async (_, worker, selected) => {
    serve(RUNS);
    pageStore.set({ ...EMPTY_PAGE, selection: { run: "good", worker, span: "" } });
    render(<App />);
    await vi.waitFor(() => expect(location.hash).toBe(`#view=overview&run=good${selected}`));
  });

  it("has steps in the line, and none to choose where they mean nothing", async () => {
    serve(RUNS, STEPS);
    pageStore.set({ ...EMPTY_PAGE, view: "sql" });
    render(<App />);
    await screen.findByText("all steps");
    expect(screen.queryByRole("button", { name: /^Steps: / })).toBeNull();
    pageStore.set({ ...pageStore.get(), view: "overview" });
    expect(await screen.findByRole("button", { name: "Steps: All 2 steps" })).toBeTruthy();
  });

  it.each(VIEW_IDS.map((id) => [id] as const))(
    "lights the place and the section of %s",
    async (id) => {
      serve(RUNS);
      pageStore.set({ ...EMPTY_PAGE, view: id });
      render(<App />);
      await screen.findByLabelText("Worker");
      const { place, section } = placeOf(id);
      const lit = placeLinks().filter((link) => link.hasAttribute("aria-current"));
      expect(lit.map((link) => PLACES[placeLinks().indexOf(link)])).toEqual(
        PLACES.includes(place) ? [place] : [],
      );
      const sections = screen.queryByRole("navigation", { name: /^Sections of/ });
      expect(sections?.querySelector("[aria-current]")?.textContent ?? section.label).toBe(
        section.label,
      );
      // Comparing is a mode: Overview alone has no second section to choose.
      expect(sections === null).toBe(place.sections.length === 1 || id === "overview");
    },
  );

  it("opens the section of a place that was used last, with its choices; each with a history entry", async () => {
    serve(RUNS);
    render(<App />);
    await screen.findByLabelText("Worker");
    const push = vi.spyOn(history, "pushState");
    fireEvent.click(placeLinks()[4]!);
    await shown("Operator and shape");
    fireEvent.click(screen.getByRole("link", { name: "Kernel" }));
    await shown("Kernel");
    await vi.waitFor(() => {
      changePage((state) => ({ ...state, params: { search: "gemm" } }), "replace");
      expect(screen.getByRole("link", { name: "Kernel" }).getAttribute("href")).toContain("gemm");
    });
    fireEvent.click(placeLinks()[5]!);
    await shown("Memory");
    fireEvent.click(placeLinks()[4]!);
    await shown("Kernel");
    expect(pageStore.get().params).toEqual({ search: "gemm" });
    expect(push).toHaveBeenCalledTimes(4);
  });

  it("means all ranks everywhere until one is chosen, and says which one a section shows", async () => {
    serve(RUNS, STEPS);
    render(<App />);
    const choose = (value: string): void => {
      fireEvent.change(screen.getByLabelText("Worker"), { target: { value } });
    };
    await vi.waitFor(() => expect(screen.getByDisplayValue("All 2 ranks")).toBeTruthy());
    expect(screen.queryByRole("note")).toBeNull();
    fireEvent.click(placeLinks()[4]!);
    await shown("Operator and shape");
    expect(screen.getByDisplayValue("All 2 ranks")).toBeTruthy();
    expect(screen.getByRole("note").textContent).toBe(
      "Rank 0 · w0 of 2: Operator and shape shows one at a time. ",
    );
    fireEvent.click(placeLinks()[0]!);
    await shown("Overview");
    expect(screen.getByDisplayValue("All 2 ranks")).toBeTruthy();
    fireEvent.click(placeLinks()[4]!);
    await shown("Operator and shape");
    choose("w1");
    await vi.waitFor(() => expect(screen.getByDisplayValue("rank 1")).toBeTruthy());
    expect(pageStore.get().params).toEqual({});
    expect(screen.queryByRole("note")).toBeNull();
    fireEvent.click(placeLinks()[0]!);
    await shown("Overview");
    expect(screen.getByDisplayValue("rank 1")).toBeTruthy();
    choose("");
    await vi.waitFor(() => expect(screen.getByDisplayValue("All 2 ranks")).toBeTruthy());
  });

  it("names the rank that the verdict names, and keeps all ranks meant where it is shown", async () => {
    const one = { worker: "w1", span: "1", rank: 1 };
    serve(RUNS, STEPS, {
      distributed: { workers: [{ ...one, worker: "w0", rank: 0 }, one], costs: [{ worker: 1 }] },
    });
    pageStore.set({
      ...EMPTY_PAGE,
      view: "kernel",
      selection: { run: "good", worker: "w0", span: "1" },
      params: { all: "1", group: "family" },
    });
    render(<App />);
    fireEvent.click(await screen.findByRole("link", { name: "Rank 1 holds the others back" }));
    await vi.waitFor(() =>
      expect(screen.getByRole("note").textContent).toBe(
        "Rank 1 · w1 of 2: it holds the others back. ",
      ),
    );
    expect(pageStore.get()).toMatchObject({
      view: "kernel",
      selection: { worker: "w1" },
      params: { all: "1", group: "family" },
    });
    expect(screen.getByDisplayValue("All 2 ranks")).toBeTruthy();
  });

  it("dims places without data, which say what is missing, and names one after the run", async () => {
    const memory = { key: "memory", what: "Memory records", why: "It was off.", call: "profile()" };
    const run = { ...RUNS.runs[0]!, workers: RUNS.runs[0]!.workers.slice(0, 1) };
    serve(
      { ...RUNS, runs: [run] },
      { ...STEPS, steps: first(STEPS.steps), missing: [memory], iterations: 0 },
    );
    render(<App />);
    await vi.waitFor(() =>
      expect(placeLinks().map((link) => link.textContent)).toEqual([
        "Overview",
        "Trace",
        "Steps (not recorded)",
        "Operators",
        "Kernels",
        "Memory (not recorded)",
      ]),
    );
    fireEvent.pointerEnter(placeLinks()[5]!.parentElement!);
    expect((await screen.findByRole("tooltip")).textContent).toBe(
      "Not recorded: Memory records. It was off.profile()",
    );
  });

  it("dims sections without data, too, and opens a place at one with some", async () => {
    const lacks = ["device_times", "host"].map((key) => ({
      key,
      what: key,
      why: "Off.",
      call: "",
    }));
    serve(RUNS, { ...STEPS, missing: lacks });
    render(<App />);
    await screen.findByLabelText("Worker");
    const dimmed = (): (string | null)[] =>
      [
        ...screen.getByRole("navigation", { name: /^Sections of/ }).querySelectorAll(".lacking"),
      ].map((link) => link.textContent);
    await screen.findByRole("button", { name: /^Steps: / });
    fireEvent.click(placeLinks()[4]!);
    // Counters of kernels are there where their times are not.
    await shown("Kernel");
    expect(dimmed()).toEqual(["Operator and shape (not recorded)"]);
    fireEvent.click(placeLinks()[3]!);
    await shown("API Calls");
    fireEvent.click(placeLinks()[2]!);
    await shown("Distributed");
    expect(dimmed()).toEqual(["Iterations (not recorded)"]);
    fireEvent.pointerEnter(screen.getByText("Iterations").parentElement!);
    expect((await screen.findByRole("tooltip")).textContent).toBe(
      "Not recorded: Iterations. The trace has no iterations of an inference server.",
    );
  });

  it.each([
    [1, 3, "Iterations"],
    [2, 0, "Ranks"],
    [2, 3, "Ranks · Iterations"],
    [1, 0, "Steps"],
  ])("names the third place after %i ranks and %i iterations", async (ranks, iterations, name) => {
    const run = { ...RUNS.runs[0]!, workers: RUNS.runs[0]!.workers.slice(0, ranks) };
    serve({ ...RUNS, runs: [run] }, { ...STEPS, iterations });
    render(<App />);
    await vi.waitFor(() => expect(placeLinks()[2]?.textContent).toBe(name));
  });

  const COMPARED = { run2: "good", worker2: "w1" };
  const compare = (view: ViewId, params: object = {}): void => {
    serve(RUNS, STEPS);
    pageStore.set({
      ...EMPTY_PAGE,
      view,
      selection: { run: "good", worker: "w0", span: "1" },
      params: { ...COMPARED, ...params },
    });
    render(<App />);
  };

  it.each(VIEW_IDS.map((id) => [id] as const))(
    "says in %s what it is compared with, and ends that there",
    async (id) => {
      compare(id);
      expect(
        await screen.findByRole("button", { name: "Comparison: with rank 1 · w1" }),
      ).toBeTruthy();
      // A place that cannot compare says so.
      expect(screen.queryAllByRole("note").map((note) => note.textContent)).toEqual(
        // Steps and Ranks are of all ranks of the run, so of both sides.
        placeOf(id).section.compared === null || id === "iterations"
          ? [`${placeOf(id).section.label} of rank 0 · w0 alone. What changed`]
          : [],
      );
      const pushed = vi.spyOn(history, "pushState");
      fireEvent.click(screen.getByRole("link", { name: "End the comparison" }));
      await screen.findByRole("button", { name: "Comparison: Compare with …" });
      expect(pageStore.get().view).toBe(id === "diff" ? "overview" : id);
      expect(location.hash).not.toContain("2=");
      // So Back undoes it.
      expect(pushed).toHaveBeenCalledOnce();
    },
  );

  it("keeps the comparison from place to place, in the sections that show it, each with what was chosen there", async () => {
    compare("module", { time: "host" });
    await screen.findByRole("button", { name: /^Steps: / });
    const opened = [];
    for (const place of [0, 1, 2, 4, 5, 3]) {
      fireEvent.click(placeLinks()[place]!);
      opened.push(pageStore.get().view);
      expect(pageStore.get().params).toMatchObject(COMPARED);
    }
    expect(opened).toEqual(["diff", "trace", "distributed", "kernel", "memory", "module"]);
    expect(pageStore.get().params).toEqual({ ...COMPARED, time: "host" });
    fireEvent.click(screen.getByRole("link", { name: "End the comparison" }));
    await screen.findByRole("button", { name: "Comparison: Compare with …" });
    fireEvent.click(placeLinks()[0]!);
    expect(pageStore.get().view).toBe("overview");
    expect(pageStore.get().params).toEqual({});
  });

  it("goes over to the other side where that is chosen, and stays compared", async () => {
    compare("kernel", { steps2: "1", span2: "1" });
    fireEvent.change(await screen.findByLabelText("Worker"), { target: { value: "w1" } });
    expect(pageStore.get()).toMatchObject({
      selection: { run: "good", worker: "w1", span: "1" },
      steps: { first: 1, last: 1 },
      params: { run2: "good", worker2: "w0", span2: "1" },
    });
    expect(screen.getByRole("button", { name: "Comparison: with rank 0 · w0" })).toBeTruthy();
  });

  it("keeps the theme that is chosen, and says how to save a report", async () => {
    serve(RUNS);
    render(<App />);
    fireEvent.click(screen.getByRole("button", { name: "More" }));
    fireEvent.click(screen.getByRole("radio", { name: "Dark" }));
    expect(document.documentElement.dataset.theme).toBe("dark");
    fireEvent.click(screen.getByRole("radio", { name: "As TensorBoard" }));
    await screen.findByText("3 read, 1 failed");
    fireEvent.click(screen.getByRole("button", { name: "Save a report" }));
    expect(
      await screen.findByText('torch-tb-profiler report "/logs/good" -o report.html'),
    ).toBeTruthy();
    expect(screen.queryByRole("radio", { name: "Dark" })).toBeNull();
  });

  it("finds one of many runs by the keyboard, and of a few by its first letter", async () => {
    const named = (name: string) => ({ ...RUNS.runs[0]!, name });
    serve({ ...RUNS, runs: ["alpha", "beta", "gamma"].map(named) });
    const { unmount } = render(<App />);
    const button = await screen.findByRole("button", { name: "Run: alpha" });
    fireEvent.click(button);
    expect(screen.queryByRole("searchbox")).toBeNull();
    fireEvent.keyDown(button, { key: "g" });
    expect(document.activeElement?.textContent).toMatch(/^gamma/);
    fireEvent.keyDown(document.activeElement!, { key: "ArrowUp" });
    expect(document.activeElement?.textContent).toMatch(/^beta/);
    fireEvent.keyDown(document.activeElement!, { key: "Escape" });
    expect(screen.queryByText(/^gamma/)).toBeNull();
    expect(document.activeElement).toBe(button);
    unmount();

    serve({ ...RUNS, runs: Array.from({ length: 11 }, (_, i) => named(`run ${i}`)) });
    runsStore.set({ payload: null, error: null });
    pageStore.set(EMPTY_PAGE);
    render(<App />);
    fireEvent.click(await screen.findByRole("button", { name: "Run: run 0" }));
    const field = screen.getByRole("searchbox", { name: "Find a run" });
    expect(document.activeElement).toBe(field);
    fireEvent.input(field, { target: { value: " UN 1" } });
    fireEvent.keyDown(field, { key: "ArrowDown" });
    fireEvent.keyDown(document.activeElement!, { key: "ArrowDown" });
    expect(document.activeElement?.textContent).toMatch(/^run 10/);
    fireEvent.click(document.activeElement!);
    expect(pageStore.get().selection.run).toBe("run 10");
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Run: run 10" }));
  });

  it("keeps the rank when the run changes, and starts with all steps", async () => {
    serve(RUNS);
    render(<App />);
    await screen.findByLabelText("Worker");
    pageStore.set({ ...pageStore.get(), steps: { first: 2, last: 3, skipCold: true } });
    fireEvent.click(screen.getByRole("button", { name: "Run: good" }));
    fireEvent.click(screen.getByRole("button", { name: "bad failed" }));
    expect(pageStore.get()).toMatchObject({
      selection: { run: "bad", worker: "w0", span: "1" },
      steps: { first: null, last: null, skipCold: true },
    });
    expect(pageStore.get().params).toEqual({});
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
    expect(await screen.findByRole("button", { name: "Run: none found" })).toBeTruthy();
    pageStore.set({ ...EMPTY_PAGE, selection: { run: "gone", worker: "w", span: "1" } });
    expect(await screen.findByText("The run gone is not there")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Run: gone (not found)" })).toBeTruthy();
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
      stateNote(span("1", "importing", { progress: 0.437 })),
      stateNote(span("1", "growing")),
      stateNote(span("1")),
    ]).toEqual(["importing", "still being written", ""]);
  });
  it("sum up several", () => {
    expect(
      groupNote([
        span("1"),
        span("2", "importing", { progress: 0.5 }),
        span("3", "failed"),
        span("4", "waiting"),
      ]),
    ).toBe("1 importing, 1 of 4 failed");
    expect(groupNote([span("1", "failed"), span("2", "failed")])).toBe("failed");
  });
  it("name ranks where there are several", () => {
    expect(workerOptions(RUNS.runs[0]!.workers).map((option) => option.label)).toEqual([
      "rank 0",
      "rank 1",
    ]);
    // Two recordings of a rank are told apart by their names.
    expect(workerOptions([worker("a", 0), worker("b", 0)]).map((option) => option.label)).toEqual([
      "rank 0 · a",
      "rank 0 · b",
    ]);
    expect(workerOptions([worker("solo", 0)])[0]?.label).toBe("solo");
  });
});
