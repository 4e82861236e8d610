/** The list of runs that `/runs` answers with, for any case. */

import type { RunsPayload, SpanState, WorkerItem } from "../api/types.gen";

type RunItem = RunsPayload["runs"][number];
type SpanItem = WorkerItem["spans"][number];

export const span = (
  name: string,
  state: SpanState = "ready",
  over: Partial<SpanItem> = {},
): SpanItem => ({ name, label: name, state, progress: 1, message: "", bytes: 1, ...over });

export const worker = (
  name: string,
  rank: number | null = null,
  spans: readonly SpanItem[] = [span("1")],
  over: Partial<WorkerItem> = {},
): WorkerItem => ({
  ...{ name, rank, rank_source: rank === null ? "order" : "distributedInfo" },
  ...{ world_size: null, job: 0, spans: [...spans] },
  ...over,
});

export const run = (
  name: string,
  workers: readonly WorkerItem[] = [worker("w")],
  over: Partial<RunItem> = {},
): RunItem => ({
  ...{ name, synthetic: false, kind: "", recorded: null, provisional: false, remarks: [] },
  workers: [...workers],
  ...over,
});

export const runsOf = (runs: readonly RunItem[], over: Partial<RunsPayload> = {}): RunsPayload => ({
  version: "1",
  scanning: false,
  logdirs: [],
  runs: [...runs],
  ...over,
});
