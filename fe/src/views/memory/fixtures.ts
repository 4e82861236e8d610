/** Payloads of the Memory page for tests: one GPU with three blocks, and the CPU. */

import type {
  MemoryAlivePayload,
  MemoryBlocksPayload,
  MemoryChangesPayload,
  MemoryCurvePayload,
  MemoryDevice,
  MemoryMapPayload,
  MemoryPayload,
  MemoryStatisticsPayload,
} from "../../api/types.gen";
import { stepsOf } from "../fixtures";

const MIB = 1 << 20;

export function device(more: Partial<MemoryDevice> = {}): MemoryDevice {
  return {
    key: 0,
    name: "GPU 0",
    records: 5,
    begin_bytes: 0,
    begin_known: true,
    end_bytes: MIB,
    peak_bytes: 6 * MIB,
    peak_ns: 500,
    peak_reserved_bytes: 8 * MIB,
    capacity_bytes: 16 * MIB,
    blocks: 3,
    has_map: false,
    headline: [
      "GPU 0: at most 6.00 MiB of 16.0 MiB was allocated.",
      "It was at 4.00 ms; at most 8.00 MiB was reserved, 50.0 %.",
    ],
    ...more,
  };
}

export function memory(more: Partial<MemoryPayload> = {}): MemoryPayload {
  const cpu = device({
    key: 1,
    name: "CPU",
    peak_reserved_bytes: null,
    capacity_bytes: null,
    peak_bytes: 100,
    blocks: 1,
  });
  return {
    source: "records",
    span_ns: 1000,
    devices: [device(), cpu],
    categories: [],
    categories_known: [],
    failures: [],
    failed: 0,
    has_modules: true,
    has_stacks: true,
    steps: stepsOf([]),
    notes: ["A note."],
    missing: [],
    ...more,
  };
}

export function curve(more: Partial<MemoryCurvePayload> = {}): MemoryCurvePayload {
  return {
    device: 0,
    rows: {
      time_ns: [0, 500],
      allocated_bytes: [MIB, 6 * MIB],
      reserved_bytes: [null, 8 * MIB],
    },
    categories_bytes: [],
    thinned: true,
    peak_bytes: 6 * MIB,
    peak_ns: 500,
    ...more,
  };
}

export function alive(more: Partial<MemoryAlivePayload> = {}): MemoryAlivePayload {
  return {
    device: 0,
    time_ns: 500,
    allocated_bytes: 6 * MIB,
    reserved_bytes: 8 * MIB,
    fragmented_bytes: 2 * MIB,
    unknown_bytes: MIB,
    pooled: 0,
    pooled_bytes: 0,
    rows: {
      operator: ["aten::mm", "aten::mm", null],
      parent: ["aten::linear", null, null],
      module: ["Linear_0", null, null],
      line: ["/w/net.py(3): forward", null, null],
      category: [null, null, null],
      known_by: [null, null, null],
      bytes: [3 * MIB, MIB, MIB],
      blocks: [1, 2, 1],
      largest_bytes: [3 * MIB, MIB, MIB],
      oldest_ns: [10, null, 20],
    },
    ...more,
  };
}

export function blocks(more: Partial<MemoryBlocksPayload> = {}): MemoryBlocksPayload {
  return {
    device: 0,
    pooled: 2,
    pooled_bytes: 64,
    rows: {
      operator: ["aten::mm", "aten::add"],
      parent: ["aten::linear", null],
      module: ["Linear_0", null],
      line: [null, null],
      category: [null, null],
      known_by: [null, null],
      bytes: [3 * MIB, MIB],
      allocated_ns: [10, null],
      released_ns: [30, 40],
      lifetime_ns: [20, null],
      event: [7, -1],
    },
    ...more,
  };
}

export function statistics(more: Partial<MemoryStatisticsPayload> = {}): MemoryStatisticsPayload {
  return {
    device: 0,
    group: "operator",
    outside_bytes: 32,
    outside_increase_bytes: 0,
    pooled: 3,
    rows: {
      name: ["aten::mm", "other"],
      calls: [2, null],
      increase_bytes: [-MIB, 5],
      self_increase_bytes: [-MIB, 5],
      allocations: [1, 3],
      self_allocations: [1, 3],
      allocation_bytes: [MIB, 5],
      self_allocation_bytes: [MIB, 5],
    },
    ...more,
  };
}

export function changes(more: Partial<MemoryChangesPayload> = {}): MemoryChangesPayload {
  return {
    device: 0,
    other: 0,
    before_ns: 0,
    after_ns: 500,
    before_bytes: MIB,
    after_bytes: 6 * MIB,
    pooled: 0,
    pooled_delta_bytes: 0,
    rows: {
      name: ["/w/net.py(3): forward", null],
      delta_bytes: [4 * MIB, -MIB],
      before_bytes: [0, MIB],
      after_bytes: [4 * MIB, 0],
      allocated_bytes: [4 * MIB, 0],
      freed_bytes: [0, MIB],
      delta_blocks: [2, -1],
    },
    ...more,
  };
}

/** Four cells of 1 KiB in two segments: a block over the first one and a half, and free memory. */
export function map(more: Partial<MemoryMapPayload> = {}): MemoryMapPayload {
  return {
    device: 0,
    time_ns: null,
    reserved_bytes: 4096,
    allocated_bytes: 1536,
    rounding_bytes: 36,
    free_bytes: 2560,
    largest_free_bytes: 2048,
    split_bytes: 512,
    fragmentation: 0.2,
    segments: 2,
    begin_bytes: 0,
    end_bytes: 4096,
    cell_bytes: 1024,
    cells: {
      reserved: [1024, 1024, 1024, 1024],
      allocated: [1024, 512, 0, 0],
      rounding: [0, 36, 0, 0],
      pending: [0, 0, 0, 0],
    },
    starts: [0, 2],
    pools: {
      stream: [0],
      pool: ["default"],
      segments: [2],
      reserved_bytes: [4096],
      allocated_bytes: [1536],
      rounding_bytes: [36],
      free_bytes: [2560],
      largest_free_bytes: [2048],
      split_bytes: [512],
      fragmentation: [0.2],
      blocks: [1],
    },
    blocks: {
      offset_bytes: [0],
      bytes: [1536],
      requested_bytes: [1500],
      state: ["allocated"],
      category: ["activation"],
      line: ["/w/net.py(3): forward"],
      stack: [0],
    },
    blocks_in_part: 1,
    stacks: ["/w/net.py(3): forward\n/w/train.py(1): main"],
    ...more,
  };
}
