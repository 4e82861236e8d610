/** The Diff page with a server that answers from fixtures. */

import { act, fireEvent, screen, waitFor, within } from "@testing-library/preact";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Aligned, DiffPayload, PeakChange } from "../../api/types.gen";
import { runsStore } from "../../state/runs";
import { type Params, stepsText } from "../../state/view";
import { step, stepsOf, HOSTILE } from "../../testing/cases";
import { plainHeads, queriesOf, serve, show as draw, type Shown, text } from "../../testing/page";
import { aligned, changes, diff, experiments, MS } from "./fixtures";
import { formatShare } from "../../base/units";
import { reply } from "../../testing/replies";
import { CompareMenu } from "../compare_menu";
import { DiffView } from "./view";
import { run, runsOf, span, worker } from "../../testing/runs";

let asked: URL[];
let answer: DiffPayload;
let alignedAnswer: Aligned | null;
let experimentsAnswer: ReturnType<typeof experiments>;
beforeEach(() => {
  answer = diff();
  alignedAnswer = aligned();
  experimentsAnswer = experiments();
  runsStore.set({
    payload: runsOf([run("r"), run("s")]),
    error: null,
  });
  asked = serve({
    diff: () => answer,
    "diff/aligned": () => ({ steps: alignedAnswer }),
    experiments: () => experimentsAnswer,
    steps: { source: "ProfilerStep", median: 2, steps: stepsOf([0, 1, 2, 3].map((i) => step(i))) },
  });
});
afterEach(() => {
  runsStore.set({ payload: null, error: null });
});

const show = (params: Params = {}, View = DiffView): Shown =>
  draw(View, params, {
    selection: { run: "r", worker: "w", span: "1" },
    steps: { first: 1, last: 2, skipCold: true },
    hrefOf: (view, more = {}, selection, steps) =>
      `#${view}?${new URLSearchParams({ ...more, run: selection?.run ?? "", ...(steps ? { steps: stepsText(steps) } : {}) }).toString()}`,
  });
const query = (): Record<string, string> | undefined => queriesOf(asked, "diff")[0];

/** Until the answer and the steps are there. */
async function settled(): Promise<void> {
  await waitFor(() => expect(text()).toContain("A step takes 187 ms"));
  await waitFor(() => expect(text()).toContain("How sure that is"));
}

/** Unfolds a part of the page. */
function unfold(name: RegExp): void {
  const summary = screen.getByText(name, { selector: "summary h2" });
  const fold = summary.closest("details");
  if (fold) {
    fold.open = true;
    fireEvent(fold, new Event("toggle"));
  }
}

const B = { run2: "s", worker2: "w", span2: "1" };

it("draws both steps on one axis, the rest of the shorter one hatched, and lists what changed", async () => {
  show(B);
  await settled();
  const [before, after] = document.querySelectorAll(".aligned .glyph");
  const { glyph } = reply("diff/aligned", "slow").steps!.after;
  expect(before?.textContent).toContain("Before");
  expect(
    within(after as HTMLElement)
      .getByRole("group")
      .getAttribute("aria-label"),
  ).toBe(`After: 187 ms, GPU busy ${formatShare(glyph.busy)}`);
  expect([before, after].map((side) => side?.querySelector(".glyph-rest")?.textContent)).toEqual([
    undefined,
    "−25.0 ms",
  ]);
  expect(text()).toMatch(/GPU computegemm: −30\.0 ms150 ms120 ms−30\.0 ms/);
  expect(text()).toContain("The step212 ms187 ms−25.0 ms");
  expect(document.querySelectorAll(".dots circle").length).toBe(8);
  expect(document.querySelectorAll(".dots .dots-hollow").length).toBe(2);
});

it("draws nothing where a side has no step, and says so", async () => {
  alignedAnswer = null;
  show(B);
  await settled();
  expect(text()).toContain("no step");
  expect(document.querySelector(".glyph")).toBeNull();
});

it("compares nothing until B is chosen: it suggests one and says why, and lists the runs", async () => {
  show();
  const suggested = await screen.findByRole("link", { name: "Compare with s" });
  expect(text()).toContain("Previous recording of the same program: 2 h earlier.");
  expect(suggested.getAttribute("href")).toBe(
    "#diff?run2=s&worker2=w&span2=1&steps2=&skip_cold2=&run=",
  );
  expect(asked.some((url) => url.pathname.endsWith("/diff"))).toBe(false);
  const grid = within(screen.getByRole("grid", { name: "Experiments" }));
  const rows = grid.getAllByRole("row").slice(1);
  expect(rows.map((row) => row.textContent.includes("chosen"))).toEqual([true, false, false]);
  expect(rows[1]?.textContent).toContain("+25.0");
  expect(rows[2]?.textContent).toContain("reading …");
  // The base and what is still read lead nowhere.
  expect(grid.getAllByRole("link", { hidden: true }).map((link) => link.textContent)).toEqual([
    "compare",
    "choose",
  ]);
});

it("tells recordings of one run apart by their workers", async () => {
  experimentsAnswer = experiments();
  experimentsAnswer.rows.run = ["r", "r", "r"];
  experimentsAnswer.rows.worker = ["eager", "compiled", "other"];
  show();
  expect(await screen.findByRole("link", { name: "Compare with compiled" })).toBeTruthy();
  expect(screen.getByRole("grid", { name: "Experiments" }).textContent).toContain("eager");
});

it("asks for both sides", async () => {
  show(B);
  await settled();
  expect(plainHeads()).toEqual([]);
  expect(query()).toEqual({
    run: "r",
    worker: "w",
    span: "1",
    steps: "1-2",
    skip_cold: "1",
    run2: "s",
    worker2: "w",
    span2: "1",
    earlier_first: "1",
  });
});

it("asks for the B of the address, and links the files of the same question", async () => {
  show({ run2: "r", worker2: "w", span2: "1", steps2: "3", table: "operator" });
  await settled();
  expect(query()).toMatchObject({ run2: "r", steps2: "3" });
  const file = new URL(
    screen.getByRole("link", { name: "All as Markdown" }).getAttribute("href") ?? "",
  );
  expect(file.pathname.endsWith("/diff/file")).toBe(true);
  expect(Object.fromEntries(file.searchParams)).toEqual({ ...query(), format: "markdown" });
});

it("sets every key of the other side when another run is chosen", async () => {
  const { setParam } = show({ run2: "s", worker2: "w", span2: "1", steps2: "3" });
  await settled();
  unfold(/Other recording/);
  fireEvent.click(await screen.findByRole("button", { name: "Run compared with: s" }));
  fireEvent.click(screen.getByRole("button", { name: "r" }));
  expect(Object.fromEntries(setParam.mock.calls as [string, string][])).toEqual({
    run2: "r",
    worker2: "w",
    span2: "",
    steps2: "",
    skip_cold2: "",
  });
});

it("asks again when B changes, as it does for A", async () => {
  show(B);
  await settled();
  const count = (): number => asked.filter((url) => url.pathname.endsWith("/diff")).length;
  expect(count()).toBe(1);
  const changed = run("s", [worker("w", null, [span("1", "ready", { bytes: 2 })])]);
  void act(() =>
    runsStore.set({
      payload: runsOf([run("r"), changed], { version: "2" }),
      error: null,
    }),
  );
  await waitFor(() => expect(count()).toBe(2));
});

it("says of a B that is not there that it is not, and asks nothing", async () => {
  show({ run2: "gone", worker2: "w" });
  await waitFor(() => expect(text()).toContain("gone · w is not there"));
  expect(asked).toEqual([]);
});

it("compares parts of the recording itself from the line: its halves, and a step with the median one", async () => {
  show({}, (props) => <CompareMenu {...props} view="kernel" />);
  const links = await waitFor(() => [
    screen.getByRole("link", { name: "The last steps beside the first ones" }).getAttribute("href"),
    screen
      .getByRole("link", { name: "The median step beside the longest one" })
      .getAttribute("href"),
  ]);
  expect(links).toEqual([
    "#kernel?run2=r&worker2=w&span2=1&steps2=2-3&skip_cold2=&run=r&steps=0-1",
    "#kernel?run2=r&worker2=w&span2=1&steps2=0&skip_cold2=&run=r&steps=2",
  ]);
});

it("leads from each row to both timelines: to an event, or to the name where none is known", async () => {
  answer = diff({
    changes: changes(
      [
        ["operator", "aten::mm", "changed", 2 * MS, MS],
        ["operator", "aten::new", "new", null, MS],
      ],
      { event_a: [7, null], event_b: [null, 9] },
    ),
  });
  show({ ...B, table: "operator" });
  const grid = within(await screen.findByRole("grid", { name: "Changes of operators" }));
  const links = grid
    .getAllByRole("link", { hidden: true })
    .map((link) => link.getAttribute("href"));
  expect(links).toEqual([
    "#trace?sel=7&run=run",
    "#trace?q=%5Eaten%3A%3Amm%24&re=1&run=other",
    "#trace?sel=9&run=other",
  ]);
});

it("shows only the rows of the chosen table and status, and says how many there are", async () => {
  show({ ...B, table: "operator", status: "gone" });
  const grid = within(await screen.findByRole("grid", { name: "Changes of operators" }));
  expect(grid.getAllByRole("row").length).toBe(2);
  expect(text()).toContain("new 1");
  expect(text()).toContain("105 ms → 80.0 ms per step in all");
});

it("shows the tree by device time, or by host time", async () => {
  show({ ...B, time: "host" });
  const tree = within(await screen.findByRole("treegrid", { name: "Call tree of both sides" }));
  expect(tree.getByRole("columnheader", { name: /Host before/ })).toBeTruthy();
  expect(tree.getByText(/aten::mm → aten::matmul/)).toBeTruthy();
  expect(tree.getByText("backward")).toBeTruthy();
});

it("shows what two memory snapshots hold at their peaks, by line and by operator", async () => {
  const MIB = 1 << 20;
  const peak = (device: string): PeakChange => ({
    device,
    before_bytes: 64 * MIB,
    after_bytes: 112 * MIB,
  });
  answer = {
    ...diff(),
    headline: ["GPU 0 peaks at 112 MiB, 48.0 MiB more than before (64.0 MiB; +75.0 %)."],
    notes: ["Only the recording after has GPU 1."],
    memory: {
      devices: [peak("GPU 0")],
      rows: {
        table: ["line", "operator"],
        device: ["GPU 0", "GPU 0"],
        name: ["/srv/model.py(31): attention", HOSTILE],
        delta_bytes: [48 * MIB, 48 * MIB],
        before_bytes: [16 * MIB, 16 * MIB],
        after_bytes: [64 * MIB, 64 * MIB],
        delta_blocks: [0, 0],
      },
      verdict: answer.verdict,
      notes: [],
    },
  };
  alignedAnswer = null;
  show(B);
  await waitFor(() => expect(text()).toContain("Alive at the peak by operator"));
  expect(text()).toContain("Before run peak 64.0 MiB");
  expect(text()).toContain("After other peak 112 MiB");
  expect(text()).toContain("Only the recording after has GPU 1.");
  expect(text()).toContain("/srv/model.py(31): attention");
  expect(text()).not.toContain("no step");
  expect(text()).not.toContain("Step-time breakdown");
  expect(document.querySelector("img")).toBeNull();
});
