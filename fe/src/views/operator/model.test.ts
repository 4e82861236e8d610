import { describe, expect, it } from "vitest";
import type { OperatorPayload } from "../../api/types.gen";
import { operatorRows, operators } from "../../testing/cases";
import { chartsOf, framesOf, rowKey, splitFrame, stackLabel, stackTexts } from "./model";

const payload = (over: Partial<OperatorPayload> = {}): OperatorPayload =>
  operators([], {
    group: "shape",
    rows: operatorRows(["aten::mm", "aten::mm", "aten::add"], {
      input_shapes: ["[[2,3],[3,4]]", "[[5,5],[5,5]]", null],
      calls: [1, 2, 3],
      device_self_ns: [100, 50, 50],
      host_self_ns: [1, 2, 3],
    }),
    stacks: [null, null, 3],
    ...over,
  });

describe("chartsOf", () => {
  const all = Uint32Array.of(0, 1, 2);
  const durations = (sortedBy: string, over: Partial<OperatorPayload> = {}): string[] =>
    chartsOf(payload(over), all, sortedBy).map((chart) => chart.summed);
  it("sums the shapes of one operator into one part", () => {
    const parts = chartsOf(payload(), all, "")[0]?.parts;
    expect(parts?.map((part) => [part.label, part.value])).toEqual([
      ["aten::mm", 150],
      ["aten::add", 50],
    ]);
  });
  it("counts the rows that were found, and no other", () => {
    const charts = chartsOf(payload(), Uint32Array.of(1), "");
    expect(charts.map(({ parts }) => parts.map((part) => part.value))).toEqual([[50], [2]]);
  });
  it.each([
    ["", ["device_self", "host_self"]],
    ["calls", ["calls"]],
    ["device_self_ns", ["device_self", "host_self"]],
    ["device_total_ns", ["device_total", "host_total"]],
    ["matrix_total_share", ["device_total", "host_total"]],
    ["matrix_self_share", ["device_self", "host_self"]],
    ["host_self_ns", ["host_self", "device_self"]],
    ["host_total_ns", ["host_total", "device_total"]],
    ["host_mean_ns", ["host_self", "device_self"]],
  ])("follows the column %s", (key, expected) => expect(durations(key)).toEqual(expected));
  it("shows the host alone where no device was recorded", () => {
    expect(durations("", { has_device: false })).toEqual(["host_self"]);
    expect(durations("host_total_ns", { has_device: false })).toEqual(["host_total"]);
  });
});

describe("splitFrame", () => {
  it.each([
    [
      "torch/nn/modules/module.py(1501): _call_impl",
      "torch/nn/modules/module.py",
      1501,
      "_call_impl",
    ],
    ["C:\\code (1)\\net.py(7): forward", "C:\\code (1)\\net.py", 7, "forward"],
    [
      "<frozen importlib._bootstrap>(1007): <lambda>",
      "<frozen importlib._bootstrap>",
      1007,
      "<lambda>",
    ],
    [
      "<built-in method conv2d of type object at 0x7f>",
      "",
      null,
      "<built-in method conv2d of type object at 0x7f>",
    ],
    ["nn.Module: Linear_0", "", null, "nn.Module: Linear_0"],
    ["", "", null, ""],
  ])("%s", (text, file, line, func) => expect(splitFrame(text)).toEqual({ file, line, func }));
});

describe("framesOf", () => {
  const tree = { parent: [-1, 0, 1], frame: ["main", "train", "step"] };
  it("walks from the innermost frame outwards", () =>
    expect(framesOf(tree, 2)).toEqual(["step", "train", "main"]));
  it("is empty for no stack and for one outside the tree", () => {
    expect(framesOf(tree, null)).toEqual([]);
    expect(framesOf(tree, 99)).toEqual([]);
  });
  it("ends on a damaged tree that runs in a circle", () => {
    expect(framesOf({ parent: [1, 0], frame: ["a", "b"] }, 0)).toEqual(["a", "b"]);
  });
});

describe("stackLabel", () => {
  it("names the innermost source line", () => {
    expect(
      stackLabel([
        "<built-in method mm>",
        "/home/u/project/net.py(12): forward",
        "main.py(3): <module>",
      ]),
    ).toBe("project/net.py:12 forward");
  });
  it("falls back to the innermost frame", () => {
    expect(stackLabel(["nn.Module: Net_0"])).toBe("nn.Module: Net_0");
    expect(stackLabel([])).toBe("");
  });
});

describe("stackTexts", () => {
  const tree = {
    parent: [-1, 0, 1, 2, -1],
    frame: [
      "main.py(3): <module>",
      "a/net.py(12): forward",
      "nn.Module: Linear_0",
      "<built-in mm>",
      "<built-in x>",
    ],
  };
  it("agrees with walking each stack", () => {
    const { full, short } = stackTexts(tree);
    tree.frame.forEach((_, stack) => {
      expect(full[stack]).toBe(framesOf(tree, stack).join("; "));
      expect(short[stack]?.split(" ← ")[0]).toBe(stackLabel(framesOf(tree, stack)));
    });
  });
  it("tells apart where the same line was reached from: the module, else the line that is not of PyTorch", () => {
    expect(stackTexts(tree).short).toEqual([
      "main.py:3 <module>",
      "a/net.py:12 forward",
      "a/net.py:12 forward ← Linear_0",
      "a/net.py:12 forward ← Linear_0",
      "<built-in x>",
    ]);
    const lines = [
      "/home/me/net.py(7): forward",
      "site-packages/torch/nn/functional.py(2103): softmax",
    ];
    expect(stackTexts({ parent: [-1, 0], frame: lines }).short[1]).toBe(
      "nn/functional.py:2103 softmax ← me/net.py:7 forward",
    );
  });
  it("stands a tree whose callers come later or in a circle", () => {
    expect(stackTexts({ parent: [1, -1], frame: ["in.py(1): f", "out.py(2): g"] }).full[0]).toBe(
      "in.py(1): f; out.py(2): g",
    );
    expect(stackTexts({ parent: [1, 0], frame: ["a", "b"] }).full).toHaveLength(2);
  });
});

describe("rowKey", () => {
  it("tells rows apart that differ in shape or stack only", () => {
    const keys = [0, 1, 2].map((row) => rowKey(payload(), row));
    expect(new Set(keys).size).toBe(3);
  });
});
