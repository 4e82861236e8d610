/** Recorded critical paths, of which a short one is chosen: two steps, of which the second is longer. */

import type { CriticalPathPayload, PathRowsPayload, PathStrip } from "../../api/types.gen";
import { rowsOf } from "../../testing/cases";
import { GPU, reply } from "../../testing/replies";

const RECORDED = reply("critical_path", GPU);

export const strip = (over: Partial<PathStrip["glyph"]["stretches"]> = {}): PathStrip => ({
  ...{ step: 1, name: "ProfilerStep#5", start_ns: 1000, end_ns: 1100 },
  glyph: {
    ...{ shown_ns: 100, columns: 10, cuts: [], all_ns: { compute: 90 }, busy: 0.9, ranks: [] },
    parts: [
      {
        lane: "device",
        category: "compute",
        on_path: true,
        columns: [0, ...Array<number>(9).fill(250)],
      },
      {
        lane: "host",
        category: "python",
        on_path: true,
        columns: [250, ...Array<number>(9).fill(0)],
      },
      {
        lane: "host",
        category: "device_wait",
        on_path: false,
        columns: [0, ...Array<number>(9).fill(250)],
      },
    ],
    stretches: {
      ...{ lane: ["host", "device"], category: ["python", "compute"] },
      ...{ start_ns: [1000, 1010], end_ns: [1010, 1100], segments: [1, 3], worker: [-1, -1] },
      name: ["train.py(7): step", "gemm"],
      line: [null, "torch/nn/modules/linear.py(130): forward"],
      ...over,
    },
  },
});

export const payload = (over: Partial<CriticalPathPayload> = {}): CriticalPathPayload =>
  reply("critical_path", GPU, {
    contrast: ["relu takes 40 % of the kernel time, but 1 % of the critical path."],
    parts: rowsOf(RECORDED.parts, [0, 1], {
      ...{ kind: ["kernel", "python"], path_ns: [150, 50], share: [0.75, 0.25] },
    }),
    steps: rowsOf(RECORDED.steps, [1, 2]),
    strips: [strip()],
    ...over,
  });

export function rows(over: Partial<PathRowsPayload> = {}): PathRowsPayload {
  const recorded = reply("critical_path/rows", GPU);
  return {
    ...recorded,
    parts: payload().parts,
    rows: rowsOf(recorded.rows, [2, 8], {
      name: ["gemm", null],
      kind: ["kernel", "python"],
      event: [17, -1],
    }),
    ...over,
  };
}
