/** Distributed payloads for tests: small, and true to the wire types. */

import { OPERATIONS } from "../../api/tables.gen";
import type { DistributedPayload, DistributedWorker, LateItem } from "../../api/types.gen";
import { declaredTable } from "../fixtures";

export const MS = 1_000_000;

export function worker(rank: number, over: Partial<DistributedWorker> = {}): DistributedWorker {
  return {
    worker: `host_${100 + rank}`,
    span: "1",
    rank,
    rank_source: "distributedInfo",
    node: "host",
    process: String(100 + rank),
    state: "ready",
    message: "",
    backend: "nccl",
    devices: [`GPU ${rank} · NVIDIA H100 · 79.2 GiB · compute capability 9.0`],
    offset_ns: rank * 1000,
    error_ns: 800,
    collectives: 12,
    ...over,
  };
}

export function lateItem(step: number, over: Partial<LateItem> = {}): LateItem {
  return {
    step,
    worker: 1,
    caused_ns: 24 * MS,
    longest_ns: 12 * MS,
    lead_ns: 11 * MS,
    collectives: 3,
    kind: "all_reduce",
    event: 40 + step,
    start_ns: step * 100 * MS,
    before_operator: "aten::mm",
    before_module: "Net.layer1",
    before_line: "train.py(12): forward",
    before_event: 30 + step,
    before_name: "aten::mm",
    before_ns: 11 * MS,
    before_side: "host",
    before_side_ns: 12 * MS,
    before: "aten::mm in Net.layer1, by 11.0 ms on the host",
    ...over,
  };
}

/** `ranks` workers with `count` steps of 100 ms; rank 1 is late by 12 ms in all but the first. */
export function distributed(
  ranks = 3,
  count = 4,
  over: Partial<DistributedPayload> = {},
): DistributedPayload {
  const workers = Array.from({ length: ranks }, (_, rank) => worker(rank));
  const steps = Array.from({ length: count }, (_, i) => `ProfilerStep#${i + 10}`);
  const fill = (value: (rank: number, step: number) => number | null): (number | null)[][] =>
    workers.map((_, rank) => steps.map((_, step) => value(rank, step)));
  const all = <T>(value: T): T[] => [-1, ...workers.keys()].map(() => value);
  return {
    workers,
    steps,
    step_source: "ProfilerStep",
    overlap: {
      computation_ns: fill(() => 60 * MS),
      overlap_ns: fill(() => 10 * MS),
      communication_ns: fill(() => 20 * MS),
      other_ns: fill(() => 10 * MS),
    },
    waiting: {
      waiting_ns: fill((rank, step) => (rank === 1 || step === 0 ? 0 : 12 * MS)),
      transfer_ns: fill(() => 18 * MS),
      unsplit_ns: fill(() => 0),
      late_ns: fill((rank, step) => (rank === 1 && step > 0 ? 12 * MS : rank * 1000)),
    },
    late: steps.slice(1).map((_, i) => lateItem(i + 1)),
    operations: declaredTable(OPERATIONS, workers.length + 1, {
      worker: [-1, ...workers.keys()],
      kind: all("all_reduce"),
      library: all("NCCL"),
      group: all("default_pg"),
      group_size: all(ranks),
      dtype: all("float32"),
      bytes: all(4_194_304),
      calls: [count * ranks, ...workers.map(() => count)],
      total_ns: [count * ranks * 20 * MS, ...workers.map(() => count * 20 * MS)],
      mean_ns: all(20 * MS),
      exposed_ns: all(15 * MS),
      waiting_ns: all(12 * MS),
      transfer_ns: all(8 * MS),
      split: all(true),
      algorithm_bandwidth: all(12.5e9),
      bus_bandwidth: all(21.875e9),
    }),
    matched: 12,
    unmatched: [],
    clock: "The clocks are aligned on the ends of 12 collectives; 0.8 µs remain unsure.",
    skew_ns: 3 * MS,
    left_out: 1,
    ready: ranks,
    progress: 1,
    workers_total: ranks,
    headline: ["Rank 1 is late in 3 of 4 steps.", "On time it could save up to 11.0 ms."],
    notes: [],
    missing: [],
    ...over,
  };
}
