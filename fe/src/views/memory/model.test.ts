import { describe, expect, it } from "vitest";
import type { Params } from "../../state/view";
import { OTHER } from "../../widgets";
import { alive, device, memory } from "./fixtures";
import { aliveBy, aliveParts, groupsOf, readDevice, readTime, readWindow, tablesOf } from "./model";

it("folds what is alive by a group, and says of it what all of its rows share", () => {
  const { rows } = alive();
  const [first, second, third] = rows.bytes;
  expect(aliveBy(rows, "operator")).toEqual({
    operator: ["aten::addmm", null],
    parent: [null, null],
    module: [null, null],
    line: [null, null],
    category: ["activation", "activation"],
    known_by: ["held through backward", "held through backward"],
    bytes: [(first ?? 0) + (second ?? 0), third],
    blocks: [2, 1],
    largest_bytes: [first, third],
    oldest_ns: [rows.oldest_ns[0], rows.oldest_ns[2]],
  });
  expect(aliveBy(rows, "module").module).toEqual([null, "Linear_5"]);
});

describe("the address bar", () => {
  it("gives a window inside the recording, or none", () => {
    expect(readWindow({ t0: "5", t1: "50" }, 100)).toEqual({ t0: 5, t1: 50 });
    expect(readWindow({ t0: "5", t1: "500" }, 100)).toEqual({ t0: 5, t1: 100 });
    const all: Params[] = [
      {},
      { t0: "5" },
      { t0: "50", t1: "5" },
      { t0: "x", t1: "9" },
      { t0: "-1", t1: "9" },
      { t0: "100", t1: "200" },
      { t0: "1e3", t1: "2000" },
    ];
    for (const wrong of all) expect(readWindow(wrong, 100)).toBeNull();
  });
  it("gives an instant, or none", () =>
    expect(["12", "", undefined, "1.5", "9".repeat(16)].map(readTime)).toEqual([
      12,
      null,
      null,
      null,
      null,
    ]));
  it("gives a device, the first one where it names none", () => {
    const { devices } = memory();
    expect(
      [readDevice(devices, "1"), readDevice(devices, "7"), readDevice(devices, undefined)].map(
        (found) => found?.name,
      ),
    ).toEqual(["CPU", "GPU 2", "GPU 2"]);
    expect(readDevice([], "1")).toBeNull();
  });
});

describe("what is alive", () => {
  it("is grouped by what at least one block knows", () =>
    expect(groupsOf(alive().rows)).toEqual(["operator", "parent", "module", "line", "category"]));
  it("adds up to what was allocated", () => {
    const payload = alive({ pooled: 4, pooled_bytes: 0 });
    for (const group of groupsOf(payload.rows))
      expect(aliveParts(payload, group).reduce((sum, part) => sum + part.value, 0)).toBe(
        payload.allocated_bytes,
      );
  });
  it("has parts for what is not known, each by its reason", () => {
    const parts = aliveParts(alive({ pooled: 4, pooled_bytes: 9 }), "operator");
    expect(parts.map(({ key, label }) => [key, label])).toEqual([
      ["=aten::addmm", "aten::addmm"],
      ["", "not known"],
      ["before", "from before the recording"],
      [OTHER, "4 smaller ones"],
    ]);
  });
  it("names lines without their folders, and keeps the whole", () => {
    const [, line] = aliveParts(alive(), "line");
    expect(aliveParts(alive(), "line").find((part) => part.key.startsWith("="))).toMatchObject({
      label: "linear.py(130): forward",
      title: "torch/nn/modules/linear.py(130): forward",
    });
    expect(line).toBeDefined();
  });
  it("draws nothing for sums that contradict each other", () =>
    expect(
      aliveParts(alive({ unknown_bytes: -5 }), "operator").map((part) => part.key),
    ).not.toContain("before"));
});

it("offers the tables that have something", () => {
  expect(tablesOf(memory(), device())).toEqual(["blocks", "operator", "module"]);
  expect(tablesOf(memory({ has_modules: false }), device({ blocks: 0 }))).toEqual(["operator"]);
  expect(tablesOf(memory({ source: "snapshot" }), device())).toEqual(["blocks"]);
  expect(tablesOf(memory({ source: "timeline" }), device({ blocks: 0 }))).toEqual([]);
});
