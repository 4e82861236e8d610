import { describe, expect, it } from "vitest";
import type { TrackNode } from "../../timeline/props";
import { group, timeline } from "./fixtures";
import { trackLabel } from "./labels";
import { counterKey, treeOf, type Planted } from "./tree";

const planted = (over: Partial<Planted> = {}): Planted => ({
  key: "",
  label: "w",
  note: "",
  timeline: timeline(),
  ...over,
});
const counter = {
  key: "mem",
  name: "Memory",
  process_key: "0",
  unit: "bytes",
  mean: false,
  lowest: 0,
  highest: 2 ** 30,
  samples: 2,
};
const picture = (nodes: readonly TrackNode[], indent = ""): string[] =>
  nodes.flatMap((node) => [
    `${indent}${node.kind} ${node.label}`,
    ...picture(node.children, `${indent}  `),
  ]);

describe("treeOf", () => {
  it("goes from the process over the thread to its kinds of events", () => {
    expect(picture(treeOf([planted()]))).toEqual([
      "process GPU 0",
      "  group stream 7",
      "    group Work",
      "process python 1",
      "  group main thread",
      "    group Calls",
    ]);
  });

  it("stands under its worker where there are several, with keys of its own", () => {
    const tree = treeOf([
      planted({ key: "0", label: "rank 0" }),
      planted({ key: "1", label: "rank 1", note: "aligned" }),
    ]);
    expect(tree.map((node) => [node.kind, node.label, node.note, node.source])).toEqual([
      ["source", "rank 0", "", 0],
      ["source", "rank 1", "aligned", 1],
    ]);
    const keys = tree.flatMap(function all(node): string[] {
      return [node.key, ...node.children.flatMap(all)];
    });
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("keeps only devices open among several workers, without their counters", () => {
    const both = timeline({ counters: [counter] });
    const [worker] = treeOf([
      planted({ key: "0", timeline: both }),
      planted({ key: "1", timeline: both }),
    ]);
    expect(worker?.children.map((node) => [node.label, node.foldedByDefault])).toEqual([
      ["GPU 0", false],
      ["python 1", true],
    ]);
    expect(worker?.children[0]?.children.at(-1)).toMatchObject({
      label: "Counters",
      foldedByDefault: true,
    });
  });

  it("puts what people come for first, and folds Python frames", () => {
    const python = group({
      key: "1/1/python",
      kind: "python",
      lane: 3,
      lanes: 1,
      depth: [0],
      sub: [0],
    });
    const [process] = treeOf([planted({ timeline: timeline({ groups: [python, group()] }) })]);
    expect(
      process?.children[0]?.children.map((node) => [node.label, node.bare, node.foldedByDefault]),
    ).toEqual([
      ["Calls", true, false],
      ["Python frames", false, true],
    ]);
  });

  it("puts what the profiler wrote about itself last, folded", () => {
    const spans = group({
      key: "s",
      process_key: "Spans",
      pid: "Spans",
      tid: "PyTorch Profiler",
      process: "",
      thread: "",
    });
    const tree = treeOf([planted({ timeline: timeline({ groups: [spans, group()] }) })]);
    expect(tree.map((node) => [node.label, node.foldedByDefault])).toEqual([
      ["python 1", false],
      ["Profiler, spans", true],
    ]);
  });

  it("keeps several of the profiler's own processes in one row", () => {
    const own = (pid: string, lane: number) =>
      group({
        key: pid,
        process_key: pid,
        pid,
        tid: "x",
        process: "",
        thread: "",
        lane,
        lanes: 1,
        depth: [0],
        sub: [0],
        kind: "instant",
      });
    const tree = treeOf([
      planted({
        timeline: timeline({ groups: [own("Spans", 4), group(), own("Traces", 5), own("", 6)] }),
      }),
    ]);
    expect(tree.map((node) => [node.label, node.foldedByDefault, node.children.length])).toEqual([
      ["python 1", false, 1],
      ["Profiler overhead", true, 3],
    ]);
  });

  it("a kind that is alone on its thread is not hidden below it", () => {
    const [process] = treeOf([
      planted({ timeline: timeline({ groups: [group({ kind: "sync" })] }) }),
    ]);
    expect(process?.children[0]?.children.map((node) => [node.bare, node.foldedByDefault])).toEqual(
      [[true, false]],
    );
  });

  it("marks lanes of what overlaps", () => {
    const [process] = treeOf([
      planted({
        timeline: timeline({
          groups: [group({ overlapping: 4, lanes: 3, depth: [0, 0, 1], sub: [0, 1, 0] })],
        }),
      }),
    ]);
    const calls = process?.children[0]?.children[0];
    expect([calls?.lanes, calls?.overlapping]).toEqual([
      [
        { lane: 0, depth: 0, overlap: false },
        { lane: 1, depth: 0, overlap: true },
        { lane: 2, depth: 1, overlap: false },
      ],
      4,
    ]);
  });

  it("lets the busiest stream stand for its folded process", () => {
    const stream = (tid: string, lane: number, events: number) =>
      group({
        key: `0/${tid}/work`,
        kind: "work",
        tid,
        lane,
        lanes: 1,
        depth: [0],
        sub: [0],
        events,
      });
    const [process] = treeOf([
      planted({
        timeline: timeline({
          groups: [group({ events: 999 }), stream("7", 4, 5), stream("20", 5, 50)],
        }),
      }),
    ]);
    expect(process?.standingLane).toBe(5);
  });

  it("puts counters at the end of their process, and those of no process at the end of all", () => {
    const tree = treeOf([
      planted({
        timeline: timeline({
          counters: [counter, { ...counter, key: "x", name: "Loose", process_key: "" }],
        }),
      }),
    ]);
    expect(picture(tree).filter((line) => line.includes("counter"))).toEqual([
      "  counter Memory",
      "counter Loose",
    ]);
    expect(tree.at(-1)?.counter).toBe(1);
    expect(tree.at(-1)?.key).toBe(counterKey("", { ...counter, key: "x" }));
  });
});

it.each([
  ["bytes", 0, 2 ** 20 - 1, true],
  ["bytes", 0, 2 ** 20, false],
  ["bytes", -(2 ** 21), 0, false],
  ["share", 0, 0, true],
  ["share", 0, 0.001, false],
])("folds a curve of %s from %d to %d: %s", (unit, lowest, highest, folded) => {
  const flat = { ...counter, unit, lowest, highest };
  const tree = treeOf([planted({ timeline: timeline({ counters: [flat] }) })]);
  const folds = tree.flatMap(({ children }) =>
    children.map(({ foldedByDefault }) => foldedByDefault),
  );
  expect(folds.includes(true)).toBe(folded);
});

it("has the critical path of each recording before all tracks", () => {
  const tree = treeOf([planted({ key: "0" }), planted({ key: "1" })], "process", true);
  expect(tree.slice(0, 3).map(({ kind, source }) => [kind, source])).toEqual([
    ["path", 0],
    ["path", 1],
    ["source", 0],
  ]);
});

describe("labels", () => {
  const named = (process: string, thread: string, pid: string, tid: string, device = false) =>
    trackLabel({ process, thread, pid, tid, device });
  it.each([
    [named("GPU 0 · python3", "stream 7 ", "0", "7", true), "GPU 0 · stream 7"],
    [named("CPU · python3", "thread 542 (python3)", "542", "542"), "python3 542 · main thread"],
    [
      named("CPU · python3", "thread 639 (pt_autograd_0)", "542", "639"),
      "python3 542 · pt_autograd_0 639",
    ],
    [named("CPU · python3", "thread 640 (python3)", "542", "640"), "python3 542 · thread 640"],
    [named("CPU · python3", "", "542", "-9"), "python3 542 · thread -9"],
    [named("", "", "851", "851"), "Process 851 · thread 851"],
    [named("", "", "2", "0", true), "Device 2 · stream 0"],
    [named("", "", "Spans", "PyTorch Profiler"), "Profiler, spans · PyTorch Profiler"],
    [named("", "", "", ""), "No process · No thread"],
  ])("%s", (label, wanted) => expect(label).toBe(wanted));
});

describe("groupings", () => {
  const ranks = ["0", "1"].map((key) =>
    planted({ key, label: `rank ${key}`, timeline: timeline({ counters: [counter] }) }),
  );
  it("put the devices of all workers before their hosts", () => {
    const tree = treeOf(ranks, "device");
    expect(
      tree.map(({ label, children }) => [label, ...children.map((child) => child.label)]),
    ).toEqual([
      ["Devices", "rank 0 · GPU 0", "rank 1 · GPU 0"],
      ["Hosts", "rank 0 · python 1", "rank 1 · python 1"],
    ]);
  });
  it("put events of a kind together, whatever thread they are of", () => {
    const tree = treeOf(ranks, "kind");
    expect(
      tree.map(({ label, children }) => [label, ...children.map((child) => child.label)]),
    ).toEqual([
      ["Work", "rank 0 · stream 7", "rank 1 · stream 7"],
      ["Calls", "rank 0 · main thread", "rank 1 · main thread"],
      ["Counters", "rank 0 · Memory", "rank 1 · Memory"],
    ]);
    expect(
      tree[0]?.children.map(({ source, lanes, note }) => [source, lanes[0]?.lane, note]),
    ).toEqual([
      [0, 2, "GPU 0"],
      [1, 2, "GPU 0"],
    ]);
  });
  it("keep the keys of rows, so that what is pinned stays so", () => {
    const keysOf = (nodes: readonly TrackNode[]): string[] =>
      nodes.flatMap(({ key, children }) => [key, ...keysOf(children)]);
    const all = keysOf(treeOf([planted()]));
    for (const by of ["device", "kind"] as const) {
      const keys = keysOf(treeOf([planted()], by));
      expect(new Set(keys).size).toBe(keys.length);
      expect(keys.filter((key) => !key.startsWith("by ")).every((key) => all.includes(key))).toBe(
        true,
      );
    }
  });
});
