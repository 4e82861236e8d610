/** Recorded replies of Distributed, changed to runs of any number of ranks. */

import type {
  BlameItem,
  DistributedMapPayload,
  DistributedPayload,
  DistributedWorker,
  ProcessGroupsPayload,
} from "../../api/types.gen";
import { rowsOf } from "../../testing/cases";
import { GPU, reply } from "../../testing/replies";

export const MS = 1_000_000;
const RECORDED = reply("distributed", GPU);

export const worker = (rank: number, over: Partial<DistributedWorker> = {}): DistributedWorker => ({
  ...RECORDED.workers[0]!,
  ...{ worker: `host_${100 + rank}`, span: "1", rank, node: "host", process: String(100 + rank) },
  ...{ offset_ns: rank * 1000, error_ns: 800 },
  ...over,
});

export function blameItem(step: number, over: Partial<BlameItem> = {}): BlameItem {
  return {
    ...{ step, worker: 1, also: [], held_ns: 11 * MS, path_ns: 60 * MS },
    parts: [
      {
        ...{ kind: "Host operator", name: "aten::mm", held_ns: 11 * MS, event: 30 + step },
        ...{ module: "Net.layer1", line: "train.py(12): forward" },
      },
    ],
    text: "aten::mm in Net.layer1 (Host operator), by 11.0 ms",
    ...over,
  };
}

/** `ranks` workers with `count` steps of 100 ms; rank 1 arrives 12 ms late in all but the first, and holds them back. */
export function distributed(
  ranks = 3,
  count = 4,
  over: Partial<DistributedPayload> = {},
): DistributedPayload {
  const workers = Array.from({ length: ranks }, (_, rank) => worker(rank));
  const steps = Array.from({ length: count }, (_, i) => `ProfilerStep#${i + 10}`);
  const fill = (value: (rank: number, step: number) => number | null): (number | null)[][] =>
    workers.map((_, rank) => steps.map((_, step) => value(rank, step)));
  const rows = [-1, ...workers.keys()];
  const all = <T>(value: T): T[] => rows.map(() => value);
  return {
    ...RECORDED,
    workers,
    steps,
    ...{ own_steps: [...steps.keys()], column_begin: [...steps.keys()] },
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
    ...{ costs: [{ worker: 1, held_ns: 11 * MS, text: "3 of 4 steps" }], unjudged: [0] },
    blame: steps.slice(1).map((_, i) => blameItem(i + 1)),
    operations: rowsOf(RECORDED.operations, all(0), {
      worker: rows,
      group_size: all(ranks),
      algorithm_bandwidth: all(12.5e9),
      bus_bandwidth: all(21.875e9),
      calls: [count * ranks, ...workers.map(() => count)],
      total_ns: [count * ranks * 20 * MS, ...workers.map(() => count * 20 * MS)],
    }),
    ...{ skew_ns: 3 * MS, matched: 12, unmatched: [], left_out: 1, notes: [] },
    clock: "The clocks are aligned on the ends of 12 collectives; 0.8 µs remain unsure.",
    ...{ ready: ranks, workers_total: ranks, world_size: ranks },
    headline: ["Rank 1 holds the others back in 3 of 4 steps."],
    ...over,
  };
}

/** The map of the lateness of `distributed`. */
export function distributedMap(
  payload: DistributedPayload = distributed(),
  over: Partial<DistributedMapPayload> = {},
): DistributedMapPayload {
  const values = payload.waiting.late_ns;
  const mean = (row: (number | null)[]): number =>
    Math.round(row.reduce<number>((sum, value) => sum + (value ?? 0), 0) / row.length);
  return reply("distributed/map", GPU, {
    ...{ steps: payload.steps, column_begin: payload.column_begin },
    ...{ values_ns: values, means_ns: values.map(mean), outliers: [] },
    ...over,
  });
}

/** One group of all ranks, each of which sends 2 MiB to every other. */
export function processGroups(
  ranks = 3,
  over: Partial<ProcessGroupsPayload> = {},
): ProcessGroupsPayload {
  const all = Array.from({ length: ranks }, (_, rank) => rank);
  return reply("distributed/groups", GPU, {
    groups: rowsOf(reply("distributed/groups", GPU).groups, [0], {
      ranks: [`0-${ranks - 1}`],
      ...{ group_size: [ranks], recorded: [ranks], reach: ["within a node"], nodes: [1] },
      ...{ waiting_ns: [12 * MS], transfer_ns: [68 * MS], total_ns: [80 * MS] },
      ...{ bus_bandwidth: [225e9], link: ["NVLink 4"] },
      ...{ link_bandwidth: [450e9], link_share: [0.5] },
    }),
    names: all.map((rank) => `rank ${rank}`),
    sent_bytes: all.map((from) => all.map((to) => (from === to ? null : 2_097_152))),
    rule: "Every member sends every other one an equal part.",
    ...over,
  });
}
