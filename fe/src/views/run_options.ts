import type { RunItem, RunsPayload, SpanItem, WorkerItem } from "../api/types.gen";
import { formatCount } from "../base/units";
import { differing } from "../base/words";
import { find } from "../state/runs";
import type { Selection } from "../state/view";
import type { Option } from "../widgets";

/** What is worth saying about a trace beside its name; nothing when it is ready. */
export function stateNote({ state }: Pick<SpanItem, "state">): string {
  if (state === "ready") return "";
  return state === "growing" ? "still being written" : state;
}

export function groupNote(spans: readonly SpanItem[]): string {
  const failed = spans.filter((span) => span.state === "failed").length;
  const busy = spans.filter((span) => span.state === "importing").length;
  const waiting = spans.filter(
    (span) => span.state === "waiting" || span.state === "growing",
  ).length;
  if (spans.length === 1 && spans[0]) return stateNote(spans[0]);
  const parts: string[] = [];
  if (busy > 0) parts.push(`${busy} importing`);
  else if (waiting > 0) parts.push(`${waiting} waiting`);
  if (failed > 0)
    parts.push(failed === spans.length ? "failed" : `${failed} of ${spans.length} failed`);
  return parts.join(", ");
}

/** "training, 8 ranks, 9 June 2021", and what is worth saying about its traces. */
export const runNote = ({ kind, recorded, synthetic, workers }: RunItem): string =>
  [
    kind,
    workers.length > 1 ? `${formatCount(workers.length)} ranks` : "",
    recorded,
    synthetic ? "synthetic" : "",
    groupNote(workers.flatMap(({ spans }) => spans)),
  ]
    .filter(Boolean)
    .join(", ");

export const runOptions = (runs: readonly RunItem[]): Option[] =>
  runs.map((run) => ({ value: run.name, label: run.name, note: runNote(run) }));

/** "rank 2 · host_1234"; the name alone when the job has no ranks or the name says it. */
export function workerLabel({ rank, name }: WorkerItem): string {
  if (rank === null) return name;
  return /^rank[\s_-]?\d+$/i.test(name) && Number(name.replace(/\D/g, "")) === rank
    ? `rank ${rank}`
    : `rank ${rank} · ${name}`;
}

/** What tells a trace from another: its run, its rank or its recording; empty where they are one. */
export function apart(payload: RunsPayload | null, one: Selection, other: Selection): string {
  const { run, worker, span } = one;
  if (run !== other.run) return differing(run, other.run);
  const { worker: found } = find(payload, one);
  if (worker !== other.worker) return found ? workerLabel(found) : worker;
  return span === other.span ? "" : span;
}

/** By their ranks, where no two are of the same; else by rank and name. */
export function workerOptions(workers: readonly WorkerItem[]): Option[] {
  const ranked = workers.length > 1 || (workers[0]?.world_size ?? 1) > 1;
  const alone = new Set(workers.map(({ rank }) => rank)).size === workers.length;
  return workers.map((worker) => ({
    value: worker.name,
    label: !ranked
      ? worker.name
      : alone && worker.rank !== null
        ? `rank ${worker.rank}`
        : workerLabel(worker),
    note: groupNote(worker.spans),
  }));
}

export function spanOptions(spans: readonly SpanItem[]): Option[] {
  return spans.map((span) => ({ value: span.name, label: span.label, note: stateNote(span) }));
}
