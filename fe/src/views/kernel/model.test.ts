import { describe, expect, it } from "vitest";
import type { KernelPayload } from "../../api/types.gen";
import { declaredTable, NAMED_BY } from "../fixtures";
import { matrixTime, rowKey, partsByKernel, unattributed } from "./model";

function payload(over: Partial<KernelPayload["rows"]> = {}, pooled = 0): KernelPayload {
  return {
    group: "properties",
    over: "",
    vocabulary: { device: "GPU", multiprocessor: "SM", matrix_cores: "Tensor Cores" },
    rows: declaredTable("kernels", 4, {
      name: ["void gemm<a>()", "void gemm<a>()", "copy", "graph_k"],
      short_name: ["gemm", "gemm", "copy", "graph_k"],
      operator: ["aten::mm", "aten::bmm", null, null],
      no_operator: [null, null, "no_launch", "graph"],
      grid: ["[1,1,1]", "[1,1,1]", null, null],
      block: ["[32,1,1]", "[32,1,1]", null, null],
      registers: [32, 32, null, null],
      shared_memory_bytes: [0, 0, null, null],
      calls: [1, 2, 3, 4],
      total_ns: [10, 20, 30, 40],
      mean_ns: [10, 10, 10, 10],
      min_ns: [1, 1, 1, 1],
      max_ns: [20, 20, 20, 20],
      blocks_per_sm: [null, null, null, null],
      occupancy: [null, null, null, null],
      matrix: [1, 1, 0, 2],
      matrix_eligible: [1, 1, 2, 2],
      communication: [false, false, false, false],
      ...over,
    }),
    measured: { name: [], short_name: [], calls: [], counters: [], values: [] },
    reasons: [
      { key: "no_launch", text: "no launch was recorded" },
      { key: "graph", text: "replayed by a graph launch" },
    ],
    pooled,
    attribution: { device_events: 12, kernels: 10, with_launch: 7, with_operator: 3, by: NAMED_BY },
    missing: [],
  };
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
