/** Recorded replies of the Memory page, changed for a case. */

import type {
  MemoryAlivePayload,
  MemoryDevice,
  MemoryMapPayload,
  MemoryPayload,
} from "../../api/types.gen";
import { rowsOf } from "../../testing/cases";
import { CPU, GPU, reply } from "../../testing/replies";

export const device = (over: Partial<MemoryDevice> = {}): MemoryDevice => ({
  ...reply("memory", GPU).devices[0]!,
  ...over,
});

/** The accelerator of one recording beside the CPU of another. */
export function memory(over: Partial<MemoryPayload> = {}): MemoryPayload {
  const cpu = { ...reply("memory", CPU).devices[0]!, key: 1, name: "CPU" };
  return reply("memory", GPU, { devices: [device(), cpu], notes: ["A note."], ...over });
}

/** What is alive: two of an operator, and one of whom nothing is known. */
export function alive(over: Partial<MemoryAlivePayload> = {}): MemoryAlivePayload {
  const { rows } = reply("memory/alive", GPU);
  const known = rowsOf(rows, [1, 2, 5], {
    operator: ["aten::addmm", "aten::addmm", null],
    parent: ["aten::linear", null, null],
    module: ["Linear_5", null, null],
    line: ["torch/nn/modules/linear.py(130): forward", null, null],
  });
  const bytes = known.bytes.reduce((sum, value) => sum + value, 0);
  return reply("memory/alive", GPU, {
    rows: known,
    unknown_bytes: reply("memory/alive", GPU).allocated_bytes - bytes,
    ...{ pooled: 0, pooled_bytes: 0 },
    ...over,
  });
}

/** Four cells of 1 KiB in two segments: a block over the first one and a half, and free memory. */
export const map = (over: Partial<MemoryMapPayload> = {}): MemoryMapPayload => {
  const { blocks, pools } = reply("memory/map?n=16", "snapshot");
  return reply("memory/map?n=16", "snapshot", {
    ...{ begin_bytes: 0, end_bytes: 4096, cell_bytes: 1024 },
    cells: {
      reserved: [1024, 1024, 1024, 1024],
      allocated: [1024, 512, 0, 0],
      rounding: [0, 36, 0, 0],
      pending: [0, 0, 0, 0],
    },
    starts: [0, 2],
    pools: rowsOf(pools, [0]),
    blocks: rowsOf(blocks, [0], { bytes: [1536], requested_bytes: [1500] }),
    ...over,
  });
};
