/** The Distributed page with a server that answers from fixtures. */

import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/preact";
import { beforeEach, expect, it } from "vitest";
import type {
  DistributedMapPayload,
  DistributedPayload,
  ProcessGroupsPayload,
} from "../../api/types.gen";
import { ALL_STEPS, type Params } from "../../state/view";
import { HOSTILE } from "../../testing/cases";
import { plainHeads, serve, show as draw, type Shown, text } from "../../testing/page";
import { blameItem, distributed, distributedMap, processGroups, worker } from "./fixtures";
import { mapRows as mapRowsOf, offered } from "./map_model";
import { DistributedView } from "./view";

let answers: DistributedPayload[];
let asked: number;
let map: Partial<DistributedMapPayload>;
let groups: Partial<ProcessGroupsPayload>;

beforeEach(() => {
  asked = 0;
  answers = [distributed()];
  map = {};
  groups = {};
  const answer = () => answers[asked - 1] ?? answers.at(-1);
  serve({
    distributed: () => ((asked += 1), answer()),
    "distributed/map": () => distributedMap(answer(), map),
    "distributed/groups": () => processGroups(3, groups),
    stragglers: { progress: 1, refused: "Too many events.", path: "run", slowdown: null, steps: 0 },
  });
});

const show = (params: Params = {}, steps = ALL_STEPS): Shown =>
  draw(DistributedView, params, {
    selection: { run: "r", worker: "host_100", span: "1" },
    steps,
    hrefOf: (view, more = {}, selection) =>
      `#${view}?${new URLSearchParams({ ...more, worker: selection?.worker ?? "" }).toString()}`,
  });

function open(name: string): void {
  const details = screen.getByRole("heading", { name }).closest("details");
  if (!details) throw new Error(`no fold ${name}`);
  details.open = true;
  fireEvent(details, new Event("toggle"));
}

it("says who holds the others back, with the map, the tables and the clock", async () => {
  show();
  await waitFor(() => expect(text()).toContain("Rank 1 holds the others back in 3 of 4 steps"));
  expect(
    await screen.findByRole("group", { name: /Late by rank and step: 3 rows, 4 columns/ }),
  ).toBeTruthy();
  // Whom each step waited for, what that costs, and a step that no verdict is on.
  expect(document.querySelectorAll(".heat-framed").length).toBe(3);
  expect(document.querySelectorAll(".heat-faint").length).toBe(1);
  expect(text()).toContain("11.0 ms 3 of 4 steps");
  for (const label of ["Who holds whom back", "Communication operations"])
    expect(screen.getByRole("grid", { name: label })).toBeTruthy();
  for (const name of ["Computation/communication overview", "Synchronizing/communication overview"])
    expect(screen.getByRole("heading", { name })).toBeTruthy();
  for (const part of [
    "12 collectives are matched",
    "0.8 µs remain unsure",
    "began 3.00 ms apart",
    "1 collective at the begin is left out",
  ])
    expect(text()).toContain(part);
  expect(plainHeads()).toEqual([]);
});

it("leads from a step to what takes longer, on the timeline of the worker that holds it back", async () => {
  answers = [distributed(3, 4, { blame: [blameItem(1, { also: [2] })] })];
  show();
  const grid = within(await screen.findByRole("grid", { name: "Who holds whom back" }));
  expect(
    grid.getAllByRole("link", { hidden: true }).map((link) => link.getAttribute("href")),
  ).toEqual(["#trace?sel=31&worker=host_101"]);
  expect(grid.getByText("rank 2")).toBeTruthy();
});

it("asks again while workers are read, and marks what it says as a first look", async () => {
  answers = [
    distributed(3, 4, {
      workers: [worker(0), worker(1, { state: "waiting" }), worker(2)],
      ready: 2,
      progress: 0.5,
    }),
    distributed(),
  ];
  show();
  await screen.findByText("first look");
  await waitFor(() => expect(screen.queryByText("first look")).toBeNull(), { timeout: 3000 });
  expect(asked).toBe(2);
});

it("says nothing of clocks before there are two to compare", async () => {
  answers = [distributed(3, 4, { blame: [], matched: 0, ready: 1, progress: 0.5 })];
  show();
  await screen.findByText("first look");
  expect(text()).not.toContain("collectives are matched");
});

it("shows one step, and the operations of one worker", async () => {
  const { setParam } = show({ worker_of: "host_101" }, { ...ALL_STEPS, first: 1, last: 1 });
  await waitFor(() => expect(text()).toContain("step 11, ProfilerStep"));
  const blame = within(screen.getByRole("grid", { name: "Who holds whom back" }));
  expect(blame.getAllByRole("row").length).toBe(2);
  const operations = within(screen.getByRole("grid", { name: "Communication operations" }));
  expect(operations.getAllByRole("row").length).toBe(2);
  expect(operations.getByText(/12\.5.GB\/s/)).toBeTruthy();
  fireEvent.change(screen.getByLabelText("Worker"), { target: { value: "host_102" } });
  expect(setParam.mock.calls).toEqual([["worker_of", "host_102"]]);
});

const mapRows = (): string[] =>
  [...document.querySelectorAll("[aria-label^=Late] .heat-rows text")].map(
    (label) => label.textContent,
  );

it("puts the latest worker on top of the map when asked", async () => {
  const { setParam } = show();
  await waitFor(() => expect(mapRows()).toEqual(["rank 0", "rank 1", "rank 2"]));
  fireEvent.change(screen.getByLabelText("Order"), { target: { value: "largest" } });
  expect(setParam.mock.calls).toEqual([["by", "largest"]]);
  cleanup();
  show({ by: "largest" });
  await waitFor(() => expect(mapRows()).toEqual(["rank 1", "rank 2", "rank 0"]));
});

it("leads from a cell to its worker and step, by the keys as by a click", async () => {
  const { setParam, setSteps } = show();
  const heat = await screen.findByRole("group", { name: /Late by rank and step/ });
  for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "Enter"])
    fireEvent.keyDown(heat, { key });
  expect(setParam.mock.calls).toEqual([
    ["at", "host_101"],
    ["step", "ProfilerStep#11"],
  ]);
  expect(setSteps).toHaveBeenCalledWith({ ...ALL_STEPS, first: 1, last: 1 });
  cleanup();
  show({ at: "host_101", step: "ProfilerStep#11" });
  await screen.findByText("rank 1, step 11: late 12.0 ms; its mean is 9.00 ms per step.");
  expect(screen.getByRole("link", { name: "Its timeline" }).getAttribute("href")).toBe(
    "#trace?worker=host_101",
  );
  expect(
    screen.getByRole("link", { name: "Its timeline beside the median's" }).getAttribute("href"),
  ).toBe("#trace?workers=1-2&worker=host_101");
});

it("names who is far above the others beside those that the verdict names", async () => {
  map = { outliers: [{ worker: 2, text: "Rank 2: 9.00 ms per step." }] };
  show();
  await waitFor(() => expect(text()).toContain("Far above the others: Rank 2: 9.00 ms per step."));
  expect(screen.getByRole("link", { name: "Show them on the timeline" }).getAttribute("href")).toBe(
    "#trace?workers=1-2&worker=host_101",
  );
});

it("of a thousand ranks shows those that stand out, quantiles of the others, and all in a table", async () => {
  answers = [distributed(1024, 12)];
  map = { outliers: [{ worker: 517, text: "Rank 517: 9.00 ms per step." }] };
  const { setParam } = show();
  const heat = await screen.findByRole("group", { name: /Late by rank and step: 5 rows/ });
  expect(mapRows()).toEqual([
    "rank 1",
    "rank 517",
    "others: highest 5 %",
    "others: median",
    "others: lowest 5 %",
  ]);
  expect(text()).toContain("2 ranks that stand out; of the other 1\u202f022 the quantiles");
  fireEvent.focus(heat);
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "Enter"])
    fireEvent.keyDown(heat, { key });
  expect(heat.parentElement?.querySelector("[role=status]")?.textContent).toContain(
    "others: highest 5 %, step 10: ",
  );
  expect(setParam).not.toHaveBeenCalled();
  open("Computation, synchronizing and communication overview");
  const figures = await screen.findByRole("grid", { name: "Figures per worker" });
  expect(figures.getAttribute("aria-rowcount")).toBe("1025");
});

it("has no quantile of what is not known, and a row for the rank that is chosen", () => {
  const payload = distributed(70, 2, { costs: [], blame: [] });
  const values_ns = payload.workers.map((_, at) => [at, null]);
  const rows = mapRowsOf(payload, { values_ns, outliers: [] }, [...values_ns.keys()], 33);
  expect(rows.order).toEqual([33, 70, 71, 72]);
  expect(rows.order.slice(1).map((at) => rows.values[at])).toEqual([
    [66, null],
    [35, null],
    [3, null],
  ]);
});

it("offers four measures, and the one of an older address", () => {
  expect(offered("waiting")).toEqual(["late", "waiting", "computation", "step"]);
  expect(offered("exposed").at(-1)).toBe("exposed");
});

it("shows the process groups beside their links, and who sends how much to whom", async () => {
  groups = { notes: ["5 calls are not in the matrix."] };
  show();
  const table = within(await screen.findByRole("grid", { name: "Process groups" }));
  open("Who sends how much to whom");
  for (const cell of ["default_pg", "0-2", "within a node", "NVLink 4"])
    expect(table.getByText(cell)).toBeTruthy();
  const matrix = await screen.findByRole("group", {
    name: /Bytes from each to each: 3 rows, 3 columns/,
  });
  fireEvent.focus(matrix);
  for (const key of ["ArrowDown", "ArrowRight"]) fireEvent.keyDown(matrix, { key });
  expect(document.querySelector(".tooltip")?.textContent).toContain("rank 0, to 1: 2.00 MiB");
  expect(text()).toContain("itself");
  expect(text()).not.toContain("not known");
  expect(text()).toContain("Every member sends every other one an equal part.");
  expect(text()).toContain("5 calls are not in the matrix.");
});

it("shows of one worker what can be known", async () => {
  const none = [[null, null, null, null]];
  answers = [
    distributed(1, 4, {
      matched: 0,
      headline: ["This is the recording of one worker."],
      blame: [],
      waiting: { waiting_ns: none, transfer_ns: none, unsplit_ns: none, late_ns: none },
      skew_ns: null,
    }),
  ];
  show();
  await waitFor(() => expect(text()).toContain("recording of one worker"));
  expect(screen.queryByRole("group", { name: /Late by/ })).toBeNull();
  expect(screen.getByRole("grid", { name: "Communication operations" })).toBeTruthy();
});

it("calls waiting no part of what could not be told apart, and draws none of what nobody did", async () => {
  const [nothing, some] = [[[0, 0]], [[5e6, 7e6]]];
  const one = (unsplit_ns: number[][]): DistributedPayload =>
    distributed(1, 2, {
      matched: 0,
      blame: [],
      waiting: { waiting_ns: nothing, transfer_ns: nothing, unsplit_ns, late_ns: nothing },
    });
  answers = [one(some)];
  show();
  const parts = (): (string | null)[] =>
    [
      ...(screen
        .queryByRole("figure", { name: "Waiting and transferring" })
        ?.querySelectorAll(".legend-line li") ?? []),
    ].map((item) => item.textContent);
  await waitFor(() => expect(parts()).toEqual(["Not told apart"]));
  cleanup();
  answers = [one(nothing)];
  show();
  await waitFor(() =>
    expect(screen.getByRole("figure", { name: "Computation and communication" })).toBeTruthy(),
  );
  expect(screen.queryByRole("figure", { name: "Waiting and transferring" })).toBeNull();
});

it("lists what is not matched, and draws names as text", async () => {
  answers = [
    distributed(2, 1, {
      unmatched: [{ kind: HOSTILE, group: null, counts: [3, 2], reason: "Counts differ." }],
      notes: [HOSTILE],
    }),
  ];
  show();
  const grid = within(
    await screen.findByRole("grid", { name: "Collectives that are not matched" }),
  );
  expect(grid.getByText("3 on rank 0; 2 on rank 1")).toBeTruthy();
  expect(plainHeads()).toEqual([]);
  expect(text()).toContain(HOSTILE);
  expect(document.querySelector("img")).toBeNull();
});
