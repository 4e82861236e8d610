/** A critical path for tests: two steps, of which the second is longer. */

import type { CriticalPathPayload, PathRowsPayload, PathStrip } from "../../api/types.gen";
import { declaredTable, GPU_WORDS } from "../../testing/cases";

export const strip = (over: Partial<PathStrip> = {}): PathStrip => ({
  step: 1,
  name: "ProfilerStep#5",
  start_ns: 1000,
  end_ns: 1100,
  stretches: {
    kind: ["python", "kernel"],
    start_ns: [1000, 1010],
    end_ns: [1010, 1100],
    segments: [1, 3],
    name: ["train.py(7): step", "gemm"],
    line: ["train.py(7): step", null],
  },
  ...over,
});

export function payload(over: Partial<CriticalPathPayload> = {}): CriticalPathPayload {
  return {
    vocabulary: GPU_WORDS,
    headline: ["GPU compute takes 75 ns of a 100 ns step.", "Most of it is gemm."],
    contrast: ["relu takes 40 % of the kernel time, but 1 % of the critical path."],
    parts: declaredTable("path_kinds", 2, {
      kind: ["kernel", "python"],
      path_ns: [150, 50],
      share: [0.75, 0.25],
      segments: [2, 2],
    }),
    steps: declaredTable<CriticalPathPayload["steps"]>("path_steps", 2, {
      step: [0, 1],
      steps: [1, 1],
      name: ["ProfilerStep#4", "ProfilerStep#5"],
      kernel_ns: [60, 90],
      python_ns: [40, 10],
    }),
    strips: [strip()],
    missing: [],
    ...over,
  };
}

export const rows = (over: Partial<PathRowsPayload> = {}): PathRowsPayload => ({
  parts: payload().parts,
  rows: declaredTable("path_events", 2, {
    name: ["gemm", null],
    kind: ["kernel", "python"],
    line: ["train.py(7): step", null],
    operator: ["aten::mm", null],
    path_ns: [150, 50],
    share: [0.75, 0.25],
    work_ns: [600, null],
    work_share: [0.9, null],
    segments: [2, 2],
    event: [17, -1],
  }),
  pooled: 0,
  ...over,
});
