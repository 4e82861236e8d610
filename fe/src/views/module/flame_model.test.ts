import { describe, expect, it } from "vitest";
import type { FlameTable } from "../../api/types.gen";
import { flameRows } from "./fixtures";
import {
  coloursOf,
  functionsOf,
  layerName,
  mergedRows,
  plainName,
  readColouring,
  sandwichOf,
} from "./flame_model";

// Net_0 ─┬ Linear_0 ─ aten::mm
//        └ Linear_1 ─ aten::mm ─ aten::mm
const ROWS: FlameTable = {
  name: ["Net_0", "Linear_0", "aten::mm", "Linear_1", "aten::mm", "aten::mm"],
  parent: [-1, 0, 1, 0, 3, 4],
  kind: ["module", "module", "operator", "module", "operator", "operator"],
  backward: [false, false, false, false, false, false],
  calls: [2, 2, 2, 4, 4, 8],
  host_ns: [100, 30, 20, 60, 50, 40],
  device_ns: [1000, 300, 300, null, null, null],
  first_ns: [0, 50, 55, 10, -1, 12],
  event: [1, 2, 3, 4, 5, 6],
};

describe("mergedRows", () => {
  it("gives a class of layers one frame with how many there are, the longest as its link", () => {
    const merged = mergedRows(ROWS, "host", { layers: true, recursion: true });
    expect(merged).toMatchObject({
      name: ["Net", "Linear ×2", "aten::mm"],
      parent: [-1, 0, 1],
      calls: [2, 6, 6],
      host_ns: [100, 90, 70],
      device_ns: [1000, 300, 300],
      first_ns: [0, 10, 55],
      event: [1, 4, 5],
    });
    expect(plainName(merged, 1)).toBe("Linear");
  });

  it("leaves the frames as they are where nothing is to be merged", () => {
    expect(mergedRows(ROWS, "host", { layers: false, recursion: false })).toBe(ROWS);
  });
});

it("a layer's name loses its number, a built-in function its address, others nothing", () => {
  const rows = flameRows({
    name: [
      "Block_12 (backward)",
      "aten::layer_2",
      "nn.Module: Linear_3",
      "<built-in method neg of Tensor object at 0x7ed6e00c62a0>",
    ],
    kind: ["module", "operator", "line", "line"],
  });
  expect(rows.name.map((_, row) => layerName(rows, row))).toEqual([
    "Block (backward)",
    "aten::layer_2",
    "nn.Module: Linear",
    "<built-in method neg of Tensor object>",
  ]);
});

it("a sandwich has what leads to a function above and what it calls below", () => {
  const { callers, callees } = sandwichOf(ROWS, "host", true, "aten::mm");
  expect(callers).toMatchObject({
    name: ["aten::mm", "Linear ×2", "Net"],
    host_ns: [70, 70, 70],
  });
  expect(callees).toMatchObject({ name: ["aten::mm", "aten::mm"], host_ns: [70, 40] });
  expect(sandwichOf(ROWS, "host", true, "gone").callers.name).toEqual([]);
});

it("functions stand once, their recursion within their total", () => {
  expect(functionsOf(ROWS, "host", true)).toEqual([
    { name: "aten::mm", own: 70, total: 70, calls: 14 },
    { name: "Linear", own: 20, total: 90, calls: 6 },
    { name: "Net", own: 10, total: 100, calls: 2 },
  ]);
});

describe("colours", () => {
  it("are by the module around a frame, by file, or by the time of a call", () => {
    const byModule = coloursOf(ROWS, "host", "module")!;
    expect(byModule.labels).toEqual(["Linear", "Net"]);
    expect([...(byModule.of as number[])]).toEqual([1, 0, 0, 0, 0, 0]);
    const lines = flameRows({
      name: ["a/train.py(3): step", "nn.Module: Net_0", "a/train.py(9): loss", "x"],
    });
    const byFile = coloursOf(lines, "host", "file")!;
    expect(byFile.labels).toEqual(["a/train.py"]);
    expect([...(byFile.of as number[])]).toEqual([0, 1, 0, 1]);
    // 50, 15, 10, 15, 12.5 and 5 ns a call: the logarithm in six equal parts of log 10.
    expect([...(coloursOf(ROWS, "host", "time")!.of as number[])]).toEqual([6, 3, 2, 3, 2, 0]);
    expect(coloursOf(ROWS, "host", "kind")).toBeNull();
  });

  it("a link with one of the other tree means the kind", () => {
    expect([readColouring("file", false), readColouring("file", true)]).toEqual(["kind", "file"]);
  });
});
