import { describe, expect, it } from "vitest";
import type { KernelPayload } from "../../api/types.gen";
import { kernelRows, kernels } from "../../testing/cases";
import { matrixTime, rowKey, partsByKernel, unattributed } from "./model";

function payload(over: Partial<KernelPayload["rows"]> = {}): KernelPayload {
  return kernels([], {
    rows: kernelRows(["void gemm<a>()", "void gemm<a>()", "copy", "graph_k"], {
      short_name: ["gemm", "gemm", "copy", "graph_k"],
      operator: ["aten::mm", "aten::bmm", null, null],
      no_operator: [null, null, "no_launch", "graph"],
      calls: [1, 2, 3, 4],
      total_ns: [10, 20, 30, 40],
      matrix: [1, 1, 0, 2],
      ...over,
    }),
    reasons: [
      { key: "no_launch", text: "no launch was recorded" },
      { key: "graph", text: "replayed by a graph launch" },
    ],
  });
}

const ALL = Uint32Array.of(0, 1, 2, 3);

describe("partsByKernel", () => {
  it("sums rows of one name over operators and properties", () => {
    expect(
      partsByKernel(payload(), ALL, "total_ns").map((p) => [p.label, p.title, p.value]),
    ).toEqual([
      ["graph_k", "graph_k", 40],
      ["copy", "copy", 30],
      ["gemm", "void gemm<a>()", 30],
    ]);
  });
});

describe("matrixTime", () => {
  it("has three values that sum to the whole", () => {
    expect(matrixTime(payload(), ALL)).toEqual({ yes: 30, no: 30, unknown: 40, total: 100 });
  });
  it("takes a value that it does not know for unknown", () => {
    expect(matrixTime(payload({ matrix: [7, 1, 0, 2] }), ALL)).toEqual({
      yes: 20,
      no: 30,
      unknown: 50,
      total: 100,
    });
  });
});

describe("unattributed", () => {
  it("sums calls and time by reason and leaves out what has an operator", () => {
    expect(unattributed(payload())).toEqual([
      { reason: "replayed by a graph launch", calls: 4, ns: 40 },
      { reason: "no launch was recorded", calls: 3, ns: 30 },
    ]);
  });
});

it("rowKey tells rows apart that differ in operator only", () => {
  expect(new Set([0, 1, 2, 3].map((row) => rowKey(payload(), row))).size).toBe(4);
});
