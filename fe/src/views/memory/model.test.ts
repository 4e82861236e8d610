import { describe, expect, it } from "vitest";
import type { Params } from "../../state/view";
import { reply } from "../../testing/replies";
import type { MemoryFailure } from "../../api/types.gen";
import { alive, device, memory } from "./fixtures";
import {
  aliveBy,
  framesOf,
  groupsOf,
  readDevice,
  readTime,
  readWindow,
  shortageOf,
  tablesOf,
} from "./model";

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
});

describe("frames of what is held", () => {
  const frames = {
    parent: [-1, -1, 1, -1],
    name: ["before the history", "/w/train.py(7): train", "/w/model.py(12): forward", "no stack"],
    kind: ["rest", "line", "line", "rest"],
    bytes: [5 << 20, 3 << 20, 2 << 20, 1 << 20],
    blocks: [1, 2, 1, 1],
  };
  it("have a line's place before its function, and what no call is known of last", () => {
    const { layout, name, describe } = framesOf(frames);
    expect(name[1]).toBe("train.py:7 train  3.00 MiB");
    expect([...layout.left].map((at) => at / 2 ** 20)).toEqual([3, 0, 0, 8]);
    expect(layout.total).toBe(9 << 20);
    expect(describe(2)).toEqual(["/w/model.py(12): forward", "2.00 MiB, 22.2 % of all"]);
  });
});

describe("a failed request", () => {
  const [failure] = reply("memory", "snapshot").failures;
  const made = (over: Partial<MemoryFailure>) => shortageOf({ ...failure!, ...over });
  const known = { requested_bytes: 100, free_bytes: 60, allocated_bytes: 300, unused_bytes: 90 };
  it("is drawn on one scale with what was free and the pieces, and sticks out by what is missing", () => {
    const drawn = made({ ...known, pieces_bytes: [40, 20], pieces: 9 })!;
    expect(drawn.free * 150).toBeCloseTo(60);
    expect(drawn.asked * 150).toBeCloseTo(100);
    // Pieces that are not told stand together.
    expect(drawn.pieces.map((share) => Math.round(share * 150))).toEqual([40, 20, 30]);
    expect(drawn.missing).toBe(40);
    expect(drawn.device.map((share) => Math.round(share * 450))).toEqual([300, 90, 60]);
  });
  it("is not drawn where the file does not say how much was free", () => {
    expect(made({ ...known, free_bytes: null })).toBeNull();
    expect(made({ ...known, unused_bytes: null, pieces_bytes: null })?.pieces).toEqual([]);
    expect(made({ ...known, requested_bytes: 10 })?.missing).toBe(0);
  });
});

it("offers the tables that have something", () => {
  expect(tablesOf(memory(), device())).toEqual(["blocks", "operator", "module"]);
  expect(tablesOf(memory({ has_modules: false }), device({ blocks: 0 }))).toEqual(["operator"]);
  expect(tablesOf(memory({ source: "snapshot" }), device())).toEqual(["blocks"]);
  expect(tablesOf(memory({ source: "timeline" }), device({ blocks: 0 }))).toEqual([]);
});
