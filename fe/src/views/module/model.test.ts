import { describe, expect, it } from "vitest";
import { flameRows, moduleRows, modules } from "./fixtures";
import {
  byClass,
  frameOfKey,
  kindsOf,
  kindText,
  keyOfFrame,
  mergeLayers,
  pathsOf,
  readMetric,
  totalParts,
  valuesOf,
} from "./model";

describe("byClass", () => {
  const flat = byClass(moduleRows());

  it("adds up what runs directly in the modules of a class", () => {
    expect(flat.kind).toEqual(["Net", "Block", "Linear"]);
    expect(flat.modules).toEqual([1, 2, 1]);
    expect(flat.calls).toEqual([6, 12, 12]);
    expect(flat.forward_device_self_ns).toEqual([200, 500, 300]);
  });

  it("counts a module inside another one of its class once", () => {
    expect(flat.forward_host_total_ns).toEqual([100, 80, 30]);
    expect(flat.backward_device_total_ns).toEqual([500, 400, 150]);
  });

  it("keeps the unknown unknown, and adds what is known", () => {
    expect(flat.allocated_bytes).toEqual([null, 30, null]);
    expect(flat.increase_bytes).toEqual([null, 0, null]);
  });

  it("leads to the longest of the class", () => expect(flat.event).toEqual([10, 11, -1]));
});

describe("mergeLayers", () => {
  // Net_0 ▸ Block_0 ▸ Linear_0, Block_1 ▸ Linear_1, Block_2 (empty), Norm_0
  const alike = moduleRows({
    name: ["Net_0", "Block_0", "Linear_0", "Block_1", "Linear_1", "Block_2", "Norm_0"],
    kind: ["Net", "Block", "Linear", "Block", "Linear", "Block", "Norm"],
    parent: [-1, 0, 1, 0, 3, 0, 0],
    calls: [1, 2, 3, 4, 5, 6, 7],
    forward_host_total_ns: [9, 2, 1, 4, 3, 1, 1],
    allocated_bytes: [1, null, 1, 5, 1, 1, 1],
    event: [10, 11, 12, 13, 14, 15, 16],
  });
  const { rows, summary } = mergeLayers(alike);
  const row = rows.name.indexOf("Block ×2");

  it("puts siblings of one class and one structure beneath a row of their sums", () => {
    expect(summary.filter(Boolean)).toHaveLength(1);
    expect(summary[row]).toBe(true);
    expect([rows.calls[row], rows.allocated_bytes[row], rows.kind[row]]).toEqual([6, 5, "Block"]);
    const around = (name: string): string | undefined =>
      rows.name[rows.parent[rows.name.indexOf(name)] ?? -1];
    expect(["Block_0", "Block_1", "Block_2", "Linear_1", "Block ×2"].map(around)).toEqual([
      "Block ×2",
      "Block ×2",
      "Net_0",
      "Block_1",
      "Net_0",
    ]);
  });
  it("leads to the longest of them", () => expect(rows.event[row]).toBe(13));
  it("keeps every module, each behind the one around it", () => {
    expect(rows.name).toHaveLength(8);
    rows.parent.forEach((up, at) => expect(up).toBeLessThan(at));
  });
  it("merges no modules whose class is not known", () => {
    const unknown = { ...alike, kind: alike.kind.map(() => "") };
    expect(mergeLayers(unknown).rows.name).toEqual(
      expect.arrayContaining(["Block_0", "Block_1", "Norm_0"]),
    );
    expect(mergeLayers(unknown).summary).not.toContain(true);
  });
});

it("pathsOf tells modules of one name apart by where they are", () => {
  expect(pathsOf(moduleRows({ name: ["Net_0", "a", "b", "b"], parent: [-1, 0, 0, 1] }))).toEqual([
    "/Net_0",
    "/Net_0/a",
    "/Net_0/b",
    "/Net_0/a/b",
  ]);
});

describe("totalParts", () => {
  it("says where the time is, and what became of the backward pass", () => {
    const parts = totalParts({ ...modules(), has_backward: true });
    expect(parts.map(({ label, text }) => `${label}: ${text}`)).toEqual([
      "In modules: 150 ns host, 1.50 µs GPU",
      "Outside modules: 30 ns host, 300 ns GPU",
      "Launched by no recorded call: 40 ns GPU",
      "Backward operators: 234 at their module, 2 of a forward outside modules",
    ]);
  });

  it("says nothing of a device that was not recorded", () => {
    const parts = totalParts({ ...modules({ has_device: false }), has_backward: false });
    expect(parts.map(({ text }) => text)).toEqual(["150 ns host", "30 ns host"]);
  });
});

describe("frames", () => {
  it("are told apart by kind; one of another version is like the rest", () => {
    expect([
      ...kindsOf(flameRows({ kind: ["module", "line", "of another version", "rest"] })),
    ]).toEqual([0, 3, 4, 4]);
    expect(kindText(flameRows(), 2)).toBe("operator, backward");
  });

  it("are as wide as the device's time, or the host's where it is asked for or there is no device", () => {
    expect(valuesOf(flameRows(), readMetric(undefined, true))).toEqual([1000, 700, 200, null]);
    expect(valuesOf(flameRows(), readMetric("host", true))).toEqual([100, 40, 20, 5]);
    expect(readMetric(undefined, false)).toBe("host");
  });

  it("are found by their event, and lines, which have none, by the names that lead to them", () => {
    expect(["22", "99", undefined, "x"].map((key) => frameOfKey(flameRows(), key))).toEqual([
      2, -1, -1, -1,
    ]);
    const lines = flameRows({
      name: ["main", "f", "g", "f"],
      parent: [-1, 0, 0, 2],
      event: [-1, -1, -1, -1],
    });
    const keys = lines.name.map((_, row) => keyOfFrame(lines, row));
    expect(new Set(keys).size).toBe(4);
    expect(keys.map((key) => frameOfKey(lines, key ?? ""))).toEqual([0, 1, 2, 3]);
    expect([keyOfFrame(flameRows(), 2), keyOfFrame(flameRows(), -1)]).toEqual(["22", null]);
  });
});
