import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/preact";
import { beforeEach, expect, it } from "vitest";
import type { Params } from "../../state/view";
import { findings, rowsOf, lacking } from "../../testing/cases";
import {
  type Answers,
  plainHeads,
  queriesOf,
  serve,
  show as draw,
  type Shown,
  text,
} from "../../testing/page";
import { CPU, GPU, reply } from "../../testing/replies";
import { alive, device, memory } from "./fixtures";
import { FirstMemory, MemoryView } from "./view";
import { runsStore } from "../../state/runs";
import { run, runsOf, worker } from "../../testing/runs";

let asked: URL[];
let answers: Answers;

beforeEach(() => {
  answers = {
    findings: findings(),
    "memory/curve": reply("memory/curve?n=16", GPU),
    "memory/alive": alive(),
    "memory/blocks": reply("memory/blocks", GPU),
    "memory/statistics": reply("memory/statistics", CPU),
    "memory/changes": reply("memory/changes", CPU, { before_bytes: 1 << 20 }),
    "memory/map": reply("memory/map?n=16", "snapshot"),
    "memory/source": { functions: [], unit: "bytes", notes: [] },
    memory: memory(),
  };
  asked = serve(answers);
});

const show = (params: Params = {}): Shown["setParam"] => draw(MemoryView, params).setParam;
const askedFor = (route: string): Record<string, string> | undefined =>
  queriesOf(asked, route).at(-1);
const ready = (): Promise<void> =>
  waitFor(() => expect(text()).toContain("Besides 3.91 GiB in 279 smaller blocks"));

it("shows the peak, the curve, what is alive and the blocks", async () => {
  show();
  await ready();
  for (const part of [
    "GPU 2 peaked at 3.05 GiB of 79.2 GiB (3.07 GiB reserved).",
    "It was at 9.39 ms.",
    "A note.",
    "Alive at the peak",
    "What holds 3.05 GiB at the peak",
    "16.0 MiB (0.5 %)",
  ])
    expect(text()).toContain(part);
  expect(askedFor("memory/curve")).toEqual({
    run: "r",
    worker: "w",
    span: "s",
    device: "0",
    n: "1024",
  });
  expect(askedFor("memory/alive")).toEqual({ run: "r", worker: "w", span: "s", device: "0" });
  expect(askedFor("memory/blocks")).toEqual({ run: "r", worker: "w", span: "s", device: "0" });
  expect(plainHeads()).toEqual([]);
});

it("shows at the side of each source line what it holds at the instant", async () => {
  answers["memory/source"] = {
    ...{ unit: "bytes", notes: [] },
    functions: [
      {
        ...{ file: "optim.py", name: "step", first: 81, was: -1, cut: 0, heat: 3 << 20 },
        ...{ lines: ["a", "b", "c"], share: 0.5, line_heat: [0, 3 << 20, 1 << 20] },
      },
    ],
  };
  show({ t: "500" });
  await ready();
  expect(askedFor("memory/source")?.t).toBe("500");
  const shown = screen.getByLabelText("step, from line 81");
  expect(shown.textContent).toBe("             81  a\n  3.00 MiB   82  b\n  1.00 MiB   83  c\n");
  const sides = [...shown.querySelectorAll("span")].map(({ style }) => style.backgroundSize);
  expect(sides.map(parseFloat)).toEqual([0, 23, 23 / 3]);
});

it("says nothing of reserved memory where the allocator reserves none", async () => {
  answers["memory/alive"] = alive({ reserved_bytes: null, fragmented_bytes: null });
  show();
  await ready();
  expect([...document.querySelectorAll(".totals dt")].map((term) => term.textContent)).toEqual([
    "Allocated",
  ]);
});

it("leads from a block to its call on the timeline, its operator and its module", async () => {
  show();
  await ready();
  const table = screen.getByRole("grid", { name: "Memory: Blocks" });
  const hrefs = within(table)
    .getAllByRole("link")
    .map((link) => link.getAttribute("href"));
  expect(hrefs).toContain("#trace?sel=341");
  expect(hrefs).toContain("#module?search=%5ECrossEntropyLoss_0%24&regex=1");
  expect(hrefs.some((href) => href?.startsWith("#operator?"))).toBe(true);
});

it("asks for the window and the instant of the address, and leads back from both", async () => {
  const setParam = show({ t0: "100", t1: "900", t: "300", device: "1" });
  await ready();
  expect(askedFor("memory/curve")).toMatchObject({ t0: "100", t1: "900", device: "1" });
  expect(askedFor("memory/blocks")).toMatchObject({ t0: "100", t1: "900", device: "1" });
  expect(askedFor("memory/alive")).toMatchObject({ t: "300", device: "1" });
  fireEvent.click(screen.getByText("Whole recording"));
  expect(setParam.mock.calls).toEqual([
    ["t0", null],
    ["t1", null],
  ]);
  fireEvent.click(screen.getByText("At the peak"));
  expect(setParam).toHaveBeenLastCalledWith("t", null);
});

it("keeps the chart's choices in the address", async () => {
  const setParam = show();
  await ready();
  const chart = screen.getByRole("slider");
  fireEvent.keyDown(chart, { key: "Enter" });
  expect(setParam).toHaveBeenLastCalledWith("t", "9386621");
  fireEvent.keyDown(chart, { key: "+" });
  expect(setParam).toHaveBeenCalledWith("t0", "4693311");
  expect(setParam).toHaveBeenLastCalledWith("t1", "48779196");
  fireEvent.change(screen.getByLabelText("Device"), { target: { value: "1" } });
  expect(setParam).toHaveBeenCalledWith("device", "1");
});

it("counts by operator, the pooled rest last and without a link", async () => {
  const setParam = show({ table: "operator" });
  await waitFor(() => expect(text()).toContain("Besides 1.41 KiB outside any known operator"));
  expect(askedFor("memory/statistics")).toMatchObject({ group: "operator" });
  const table = screen.getByRole("grid", { name: "Memory: By operator" });
  expect(
    within(table)
      .getAllByRole("link")
      .map((link) => link.textContent),
  ).toEqual(reply("memory/statistics", CPU).rows.name.slice(0, -1));
  expect(table.textContent).toContain("−114 MiB");
  fireEvent.click(screen.getByLabelText("By module"));
  expect(setParam).toHaveBeenLastCalledWith("table", "module");
});

it("stacks the categories of a timeline and offers no table that it cannot fill", async () => {
  const { devices } = memory();
  answers.memory = memory({
    source: "timeline",
    categories: ["parameter", "unknown"],
    devices: devices.slice(1).map((cpu) => ({ ...cpu, blocks: 0 })),
    has_modules: false,
  });
  answers["memory/curve"] = reply("memory/curve?n=16", GPU, {
    categories_bytes: [
      [1, 2],
      [3, 4],
    ],
    rows: rowsOf(reply("memory/curve?n=16", GPU).rows, [0, 1], { reserved_bytes: [null, null] }),
  });
  show();
  await waitFor(() =>
    expect(screen.getByRole("slider").getAttribute("aria-valuetext")).toContain(
      "parameter 2 B, unknown 4 B",
    ),
  );
  expect(screen.getByRole("slider").getAttribute("aria-valuetext")).not.toContain("reserved");
  expect(screen.queryByText("What was allocated and released")).toBeNull();
  expect(screen.queryByLabelText("Device")).toBeNull();
});

it("says what to record where there is no record", async () => {
  answers.memory = memory({
    devices: [],
    missing: [lacking({ key: "memory" })],
  });
  show();
  await waitFor(() => expect(text()).toContain("They were not recorded."));
  expect(text()).toContain("profile(with_stack=True)");
});

it("shows an allocation that failed to scale, and what was held then", async () => {
  const [failure] = reply("memory", "snapshot").failures;
  answers.memory = memory({ failures: [failure!] });
  const setParam = show();
  await ready();
  const [told] = screen.getAllByRole("region", { name: "In short" });
  expect(told?.textContent).toContain(`${failure!.sentence}${failure!.why[0]}`);
  expect(screen.getByRole("figure", { name: "Out of memory" })).toBeTruthy();
  expect(askedFor("memory/alive")).toMatchObject({ t: String(failure!.time_ns) });
  expect(text()).toMatch(/What held .* then/);
  fireEvent.click(screen.getByRole("button", { name: "At the peak" }));
  expect(setParam).toHaveBeenCalledWith("t", "9386621");
});

it("begins an overview of snapshots, of all ranks", async () => {
  const ranks = [0, 1].map((rank) => worker(`w${rank}`, rank));
  runsStore.set({ payload: runsOf([run("r", ranks)]), error: null });
  draw(FirstMemory, {}, { selection: { run: "r", worker: "w0", span: "1" } });
  await waitFor(() => expect(text()).toContain("What holds 3.05 GiB at the peak"));
  await waitFor(() => expect(text()).toContain("Rank 1 · w1: the same."));
  runsStore.set({ payload: null, error: null });
});

it("tells equal failures of ranks once, and counts the ranks", async () => {
  const [failure] = reply("memory", "snapshot").failures;
  answers.memory = memory({ failures: [failure!] });
  const ranks = [0, 1, 2, 3].map((rank) => worker(`w${rank}`, rank));
  runsStore.set({ payload: runsOf([run("r", ranks)]), error: null });
  draw(FirstMemory, {}, { selection: { run: "r", worker: "w0", span: "1" } });
  await waitFor(() =>
    expect(text()).toContain(
      "3 other ranks: rank 1 · w1, rank 2 · w2, rank 3 · w3: the same.All blocks",
    ),
  );
  runsStore.set({ payload: null, error: null });
});

it("asks for the map of a device that has one, at the instant and closer", async () => {
  answers.memory = memory({ source: "snapshot", devices: [device({ has_map: true })] });
  const setParam = show({ map: "t", t: "300", pool: "0, 1|7", b0: "0", b1: "99" });
  await ready();
  await waitFor(() => expect(text()).toContain("57.8 %"));
  expect(askedFor("memory/map")).toMatchObject({ t: "300", pool: "0, 1", stream: "7", b1: "99" });
  fireEvent.click(screen.getByRole("button", { name: "Whole map" }));
  expect(setParam).toHaveBeenCalledWith("b0", null);
  expect(setParam).toHaveBeenCalledWith("pool", "0, 1|7");
});

it("compares the ends of the window, else the beginning with the instant, or another recording", async () => {
  show({ t0: "100", t1: "900" });
  await ready();
  await waitFor(() => expect(askedFor("memory/changes")).toMatchObject({ t: "100", t2: "900" }));
  cleanup();
  show({ of: "operator" });
  await waitFor(() =>
    expect(askedFor("memory/changes")).toMatchObject({ t: "0", t2: "9386621", by: "operator" }),
  );
  cleanup();
  show({ run2: "other", worker2: "w", span2: "s", t: "500" });
  await waitFor(() =>
    expect(askedFor("memory/changes")).toMatchObject({ run2: "other", earlier_first: "1" }),
  );
  // Between the peaks, whatever moment is shown below.
  expect(askedFor("memory/changes")).not.toHaveProperty("t");
  const told = await screen.findByRole("region", { name: "In short" });
  expect(told.textContent).toMatch(/allocated, .* than before\./);
  expect(screen.getByRole("note").textContent).toMatch(/alone/);
});
