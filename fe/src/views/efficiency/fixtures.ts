/** Payloads of the Efficiency page for tests: a product, an addition and a sort that is not modelled, on a known device. */

import type { EfficiencyTable, EfficiencyPayload } from "../../api/types.gen";
import { GPU_WORDS, declaredTable } from "../../testing/cases";

export function rows(more: Partial<EfficiencyTable> = {}): EfficiencyTable {
  return declaredTable("efficiency", 3, {
    name: ["aten::mm", "aten::add", "aten::sort"],
    kernel: ["void gemm<1>()", "void add()", "sort"],
    short_name: ["gemm", "add", "sort"],
    input_shapes: ["[[788, 768], [768, 768]]", "[[788, 768], [788, 768]]", "[[9]]"],
    input_dtypes: ["bf16, bf16", "float, float", "float"],
    parameters: ["M=788, N=768, K=768", null, null],
    family: ["gemm", "elementwise", null],
    calls: [4, 2, 1],
    time_ns: [8000, 2000, 500],
    flops: [929_562_624, 605_184, null],
    bytes: [3_600_384, 7_262_208, null],
    intensity: [258.2, 0.083, null],
    flops_rate: [4.6e14, 6.05e11, null],
    bytes_rate: [1.8e12, 7.26e12, null],
    fast: [false, false, false],
    unit: ["matrix", "vector", null],
    precision: ["bf16", "fp32", null],
    peak: [9.894e14, 6.7e13, null],
    flops_share: [0.47, 0.009, null],
    bytes_share: [0.54, 0.9, null],
    bound: ["compute", "memory", "unknown"],
    roof: ["memory", "memory", null],
    of_roof: [0.54, 0.9, null],
    over_roof_ns: [3700, 200, null],
    no_roof: [null, null, "not modelled"],
    ideal_ns: [4300, 1900, null],
    recoverable_ns: [3700, 100, null],
    matrix: [1, 0, 2],
    event: [11, 12, -1],
    ...more,
  });
}

export function efficiency(more: Partial<EfficiencyPayload> = {}): EfficiencyPayload {
  return {
    group: "operator",
    has_device: true,
    vocabulary: GPU_WORDS,
    device: {
      name: "NVIDIA H100 80GB HBM3",
      entry: "H100 SXM",
      known: true,
      bandwidth: 3.35e12,
      bandwidth_source: "data sheet, page 1",
      peaks: [
        { unit: "matrix", precision: "bf16", rate: 9.894e14, source: "data sheet, page 2" },
        { unit: "vector", precision: "fp32", rate: 6.7e13, source: "data sheet, page 3" },
      ],
    },
    steps: [
      {
        index: 0,
        steps: 1,
        name: "ProfilerStep#4",
        wall_ns: 10_000,
        flops: 3_718_250_496,
        mfu: 0.376,
      },
      { index: 1, steps: 1, name: "ProfilerStep#5", wall_ns: 10_000, flops: 1_210_368, mfu: 0.1 },
    ],
    mfu: 0.188,
    families: {
      family: ["gemm", "elementwise", null],
      calls: [4, 2, 1],
      time_ns: [8000, 2000, 500],
      matrix_ns: [7000, 0, 0],
      matrix_unknown_ns: [500, 0, 500],
      flops: [3_718_250_496, 1_210_368, null],
    },
    time_ns: 10_500,
    computation_ns: 10_500,
    modelled_ns: 10_000,
    rows: rows(),
    pooled: 0,
    headline: ["aten::mm takes 8.00 µs; its memory roof is 4.30 µs.", "MFU of the steps: 18.8 %."],
    notes: ["A note."],
    missing: [],
    ...more,
  };
}

/** A payload without an accelerator. */
export function onHost(): EfficiencyPayload {
  const nothing = [null, null, null];
  return efficiency({
    has_device: false,
    device: {
      name: null,
      entry: null,
      known: false,
      bandwidth: null,
      bandwidth_source: "",
      peaks: [],
    },
    mfu: null,
    headline: ["aten::mm takes 8.00 µs of 10.5 µs on the CPU."],
    steps: efficiency().steps.map((step) => ({ ...step, mfu: null })),
    families: { ...efficiency().families, matrix_ns: nothing, matrix_unknown_ns: nothing },
    rows: rows({
      peak: nothing,
      flops_share: nothing,
      bytes_share: nothing,
      ideal_ns: nothing,
      recoverable_ns: nothing,
      bound: ["unknown", "unknown", "unknown"],
      kernel: nothing,
      short_name: nothing,
      roof: nothing,
      of_roof: nothing,
      over_roof_ns: nothing,
      no_roof: ["peak unknown", "peak unknown", "not modelled"],
    }),
  });
}
