import { describe, expect, it } from "vitest";
import type { AlignedSide, RunsPayload, WorkerItem } from "../../api/types.gen";
import { aligned, changes, diff, MS, ROWS, side, tree } from "./fixtures";
import {
  bothNames,
  changeRows,
  counterpart,
  dotsOf,
  halves,
  readStatus,
  readTable,
  sideNames,
  statusCounts,
  swapped,
  tablesOf,
  testText,
  treeDelta,
} from "./model";
import { otherSide } from "../../state/runs";
import { ALL_STEPS, sideParams } from "../../state/view";
import { run, runsOf, worker } from "../../testing/runs";

const runs = (...found: readonly (readonly [string, readonly WorkerItem[]])[]): RunsPayload =>
  runsOf(found.map(([name, workers]) => run(name, workers)));
const at = (
  run: string,
  name: string,
  span = "1",
): { run: string; worker: string; span: string } => ({ run, worker: name, span });

describe("what A is compared with", () => {
  const two = runs(
    ["a", [worker("w0", 0), worker("w1", 1)]],
    ["b", [worker("x0", 0), worker("x1", 1)]],
    ["c", [worker("w1")]],
  );
  it("is nothing until it is chosen", () => {
    expect(otherSide(two, {})).toBeNull();
  });
  it("is, of another run, the same worker by its name, else by its rank, else the first one", () => {
    expect(counterpart(two, "b", at("a", "w1"))).toEqual(at("b", "x1"));
    expect(counterpart(two, "c", at("b", "x1"))).toEqual(at("c", "w1"));
    expect(counterpart(two, "b", at("c", "w1"))).toEqual(at("b", "x0"));
  });
  it("is what the address names, completed; unknown names stay, so that the server says so", () => {
    expect(otherSide(two, { run2: "c", steps2: "2-4", skip_cold2: "1" })).toEqual({
      selection: at("c", "w1"),
      steps: { first: 2, last: 4, skipCold: true },
    });
    expect(otherSide(two, { run2: "gone" })?.selection.run).toBe("gone");
  });
  it("goes into the address as it came", () => {
    const params = { run2: "b", worker2: "x0", span2: "1", steps2: "3", skip_cold2: "" };
    const { selection, steps } = otherSide(two, params)!;
    expect(sideParams(selection, steps)).toEqual(params);
  });
});

it.each([
  [10, [0, 4], [5, 9]],
  [5, [0, 1], [3, 4]],
  [2, [0, 0], [1, 1]],
])("%d steps have two halves of the same size", (count, first, second) => {
  expect(halves(count).map((steps) => [steps.first, steps.last])).toEqual([first, second]);
});

describe("rows of the changes", () => {
  const found = changes(ROWS, { rest: [false, false, false, false, true, false] });
  it("are those of a table and a status; what pools the rest has none", () => {
    expect([
      changeRows(found, "operator", null),
      changeRows(found, "operator", "gone"),
      changeRows(found, "operator", "new"),
    ]).toEqual([[2, 3, 4], [3], []]);
    expect(statusCounts(found, "operator")).toEqual({ changed: 1, new: 0, gone: 1, same: 0 });
  });
  it("begin with the first table that has some", () => {
    expect([
      readTable(undefined, tablesOf(found)),
      readTable("kernel", tablesOf(found)),
      readTable("module", tablesOf(found)),
      readTable("x", tablesOf(changes([["category", "a", "same", 1, 1]]))),
    ]).toEqual(["operator", "kernel", "operator", "category"]);
    // A place has its own tables only.
    expect(readTable("operator", tablesOf(found, ["kernel"]))).toBe("kernel");
    expect(readTable("operator", tablesOf(found, ["module"]))).toBeUndefined();
    expect([readStatus("new"), readStatus("x"), readStatus(undefined)]).toEqual([
      "new",
      null,
      null,
    ]);
  });
});

describe("the tree", () => {
  it("has differences of the chosen measure, and none where a side has no value", () => {
    expect(treeDelta(tree(), true)).toEqual([-30 * MS, -25 * MS, -5 * MS]);
    expect(treeDelta(tree(), false)).toEqual([-3 * MS, MS, -4 * MS]);
    expect(treeDelta(tree({ device_b_ns: [null, 0, 0] }), true)[0]).toBeNull();
  });
  it.each([
    ["a", "a", "a"],
    ["a", "b", "a → b"],
    [null, "b", "b"],
    ["a", null, "a"],
  ])("%s and %s are named %s", (a, b, name) => expect(bothNames(a, b)).toBe(name));
});

it("names the test with its p", () => {
  const { verdict } = diff();
  expect(testText({ ...verdict, p: 0.0004 })).toBe(`${verdict.test}; p < 0.001`);
  expect(testText({ ...verdict, p: 0.126 })).toContain("p = 0.126");
  expect(testText({ ...verdict, p: null })).toBe(verdict.test);
});

it("steps are dots, hollow where they are not compared, with the reason", () => {
  const dots = dotsOf("A", side());
  expect(dots.map(({ hollow }) => hollow)).toEqual([false, false, false, true]);
  expect(dots[3]?.title).toBe("A, ProfilerStep#3: 300 ms (cold, not compared)");
});

describe("the aligned steps", () => {
  it("are called before and after, or by what tells them apart", () => {
    const one = aligned();
    const { before } = one;
    const other = (over: Partial<AlignedSide>) =>
      sideNames({ ...one, after: { ...before, ...over } });
    expect([
      sideNames(null),
      sideNames(one),
      other({ worker: "worker1" }),
      other({ span: "2" }),
      other({ step: 7, step_name: "step 9" }),
    ]).toEqual([
      ["Before", "After"],
      ["Before", "After"],
      ["worker0", "worker1"],
      ["Before", "After"],
      ["Step 0", "Step 9"],
    ]);
  });
  it.each([
    ["r", "the header's side is shown before", [2, 1]],
    ["other", "the header's side is shown after", [1, 2]],
  ])("of header %s are swapped: %s", (run, _, order) => {
    const top = { selection: { run, worker: "w", span: "1" }, steps: ALL_STEPS };
    const b = { selection: { run: "b", worker: "w", span: "1" }, steps: ALL_STEPS };
    const payload = diff({ a: side({ run: "r", worker: "w", span: "1" }) });
    expect(swapped(payload, top, b)).toEqual(order[0] === 1 ? [top, b] : [b, top]);
  });
});
