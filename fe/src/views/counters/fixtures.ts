/** Payloads of the Counters page for tests: two profiled kernels, and one counter sampled on two devices. */

import type { CountersTablePayload } from "../../api/types.gen";
import { GPU_WORDS } from "../../testing/cases";

export const FADD = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum";

export function counters(more: Partial<CountersTablePayload> = {}): CountersTablePayload {
  return {
    vocabulary: GPU_WORDS,
    counters: [
      { name: FADD, label: "FP32 add instructions", unit: "instructions" },
      { name: "dram__bytes.sum", label: "Device memory traffic", unit: "bytes" },
      { name: "sm__warps_active.avg.pct", label: "Achieved occupancy", unit: "%" },
    ],
    profiled: {
      kernel: ["void fft2d_r2c_32x32<float>(float)", "sgemm"],
      short_name: ["fft2d_r2c_32x32", "sgemm"],
      op_stack: [["aten::conv2d", "aten::convolution", "aten::cudnn_convolution"], []],
      top_op: ["aten::conv2d", null],
      bottom_op: ["aten::cudnn_convolution", null],
      step: [0, null],
      time_ns: [2000, null],
      flops: [86_114_304, null],
      bytes: [4096, null],
      intensity: [86_114_304 / 4096, null],
      flops_rate: [43_057_152e6, null],
      unit: ["vector", null],
      precision: ["fp32", null],
      peak: [67e12, null],
      launch: [21, -1],
      event: [31, 32],
    },
    values: [
      [86_114_304, 12],
      [4096, null],
      [37.5, null],
    ],
    headline: "2 kernels measured with 3 counters each; 1 counter sampled over time",
    matching: "2 of 2 ranges were tied to their launches by order.",
    measured: "ranges",
    bandwidth: 3.35e12,
    no_roofline: "",
    sampled_counters: [{ name: "gpu__util", label: "GPU use", unit: "%" }],
    sampled: {
      counter: ["gpu__util", "gpu__util", "gpu__util", "gpu__util"],
      unit: ["%", "%", "%", "%"],
      device: ["GPU 0", "GPU 0", "GPU 1", "GPU 0"],
      step: [0, 1, 0, null],
      samples: [3, 4, 3, 1],
      mean: [50, 60, 10, 5],
      min: [40, 55, 1, 5],
      max: [70, 80, 20, 5],
    },
    steps: ["ProfilerStep#3", "ProfilerStep#4"],
    pooled: 0,
    missing: [],
    ...more,
  };
}
