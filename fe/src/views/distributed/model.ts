/** What the Distributed page computes: means over steps, who holds the others back, which rows of the operations are shown. */

import type { DistributedPayload, DistributedWorker, LateItem } from "../../api/types.gen";
import { formatCount, formatShare, formatTime } from "../../base/units";
import { capitalised } from "../../base/words";
import type { Series, StackedBar } from "../../widgets";

/** Per worker and step. */
export type Table = readonly (readonly (number | null)[])[];

export function workerName({ rank, worker }: Pick<DistributedWorker, "rank" | "worker">): string {
  return rank === null ? worker : `rank ${rank}`;
}

/** One value per worker: that of a step, or the mean of the steps that it has (`null`). */
export function valuesAt(table: Table, step: number | null): (number | null)[] {
  return table.map((row) => {
    if (step !== null) return row[step] ?? null;
    const known = row.filter((value) => value !== null);
    return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
  });
}

/** A step from the address bar, by its name: places move when workers join. */
export function readStep(text: string | undefined, steps: readonly string[]): number | null {
  const place = text ? steps.indexOf(text) : -1;
  return place < 0 ? null : place;
}

/** Whether communication took any time, as far as that is known. */
export function communicates({
  waiting: { transfer_ns, waiting_ns, unsplit_ns },
}: Pick<DistributedPayload, "waiting">): boolean {
  return [transfer_ns, waiting_ns, unsplit_ns].some((table) =>
    table.some((row) => row.some((value) => value !== 0)),
  );
}

/** A stacked bar per worker; a worker without the step has none, and says so. */
export function workerBars(
  workers: readonly DistributedWorker[],
  tables: readonly Table[],
  step: number | null,
): StackedBar[] {
  const values = tables.map((table) => valuesAt(table, step));
  return workers.map((worker, place) => {
    const parts = values.map((all) => all[place] ?? null);
    const absent = parts.every((value) => value === null);
    return {
      key: place,
      label: worker.rank === null ? worker.worker : String(worker.rank),
      title: worker.rank === null ? worker.worker : `${workerName(worker)} (${worker.worker})`,
      values: parts.map((value) => value ?? 0),
      ...(absent
        ? { note: worker.state === "ready" ? "no such step" : worker.message || "not read yet" }
        : {}),
    };
  });
}

/** The bars' figures as a table: times, then shares of each bar. */
export function barTable(
  series: readonly Series[],
  bars: readonly StackedBar[],
): { columns: { label: string; unit?: "ns" | "share" }[]; rows: (string | number | null)[][] } {
  return {
    columns: [
      { label: "Worker" },
      ...series.map(({ label }) => ({ label, unit: "ns" as const })),
      ...series.map(({ label }) => ({ label: `${label}, share`, unit: "share" as const })),
    ],
    rows: bars.map(({ title, values, note }) => {
      const sum = values.reduce((all, value) => all + value, 0);
      return [
        title,
        ...values.map((value) => (note ? null : Math.round(value))),
        ...values.map((value) => (sum > 0 ? value / sum : null)),
      ];
    }),
  };
}

export interface Laggard {
  worker: number;
  /** Steps in which it is the last, the dearest first. */
  items: LateItem[];
  /** What all others waited for it, in all steps. */
  causedNs: number;
  /** Mean over these steps: the longest wait of one other rank, and what the step would gain. */
  waitNs: number;
  gainNs: number;
  /** What all steps would gain, as a part of their time; `null` where that is not known. */
  share: number | null;
}

/** The workers that others waited for, the dearest first. */
export function laggards({
  late,
  overlap,
}: Pick<DistributedPayload, "late" | "overlap">): Laggard[] {
  const by = new Map<number, LateItem[]>();
  for (const item of late)
    if (item.caused_ns > 0) by.set(item.worker, [...(by.get(item.worker) ?? []), item]);
  const found = [...by].map(([worker, of]) => {
    const items = [...of].sort((a, b) => b.caused_ns - a.caused_ns);
    const sum = (key: "caused_ns" | "longest_ns" | "lead_ns"): number =>
      items.reduce((all, item) => all + item[key], 0);
    const wall = stepTotal(overlap, worker);
    const [waitNs, gainNs] = [sum("longest_ns") / items.length, sum("lead_ns") / items.length];
    return {
      worker,
      items,
      causedNs: sum("caused_ns"),
      waitNs,
      gainNs,
      share: wall > 0 ? sum("lead_ns") / wall : null,
    };
  });
  return found.sort((a, b) => b.causedNs - a.causedNs);
}

function stepTotal(
  { computation_ns, overlap_ns, communication_ns, other_ns }: DistributedPayload["overlap"],
  worker: number,
): number {
  return [computation_ns, overlap_ns, communication_ns, other_ns].reduce(
    (sum, table) => (table[worker] ?? []).reduce<number>((all, value) => all + (value ?? 0), sum),
    0,
  );
}

/** A gain below this part of the steps is no news. */
const WORTH = 0.01;
/** A second worker is named when the others waited for it at least this part of what they waited for the first. */
const SECOND = 0.2;

/** The answer to “who holds the others back, and why”, the first sentence large; while workers are read it is that of those that are there. */
export function topSentences(payload: DistributedPayload): string[] {
  const found = laggards(payload);
  if (!incomplete(payload)) return judged(payload, found);
  if (!found.length) return ["The workers are still being read."];
  const [first = "", ...rest] = judged(payload, found);
  return [`So far: ${first}`, ...rest];
}

function judged(
  { workers, steps, matched }: DistributedPayload,
  [first, second]: readonly Laggard[],
): string[] {
  if (!workers.some((worker) => worker.collectives > 0)) return ["No communication was recorded."];
  if (workers.length < 2)
    return ["This is the recording of one worker: who waits for whom is not known."];
  if (!matched)
    return [
      "No collective could be matched across the workers, so who waits for whom is not known.",
    ];
  if (!first) return ["No worker holds the others back: they arrive at every collective together."];
  const { items, share } = first;
  const lateText = ({ worker, items: { length }, waitNs }: Laggard): string =>
    `${workers[worker]?.rank === null ? nameAt(workers, worker) : capitalised(nameAt(workers, worker))} is late${steps.length > 1 ? ` in ${length} of ${formatCount(steps.length)} steps` : ""}: the others wait up to ${formatTime(waitNs)} ${length > 1 ? "per step " : ""}for it.`;
  if (share !== null && share < WORTH)
    return [
      `No worker holds the others back for long: the latest, ${nameAt(workers, first.worker)}, costs ${formatShare(share)} of the steps.`,
    ];
  const cause = causeText(items);
  return [
    lateText(first),
    `On time it could save up to ${formatTime(first.gainNs)}${items.length > 1 ? " in each of them" : ""}${share === null ? "" : `, ${formatShare(share)} of the time of all steps`}.`,
    ...(cause ? [cause] : []),
    ...(second && second.causedNs >= SECOND * first.causedNs ? [lateText(second)] : []),
  ];
}

/** What a late worker did longer than the one that waited longest, in the step that cost most. */
function causeText(items: readonly LateItem[]): string {
  const before = beforeText(items[0]);
  if (!before) return "";
  const { before_side: side, before_side_ns: ns } = items[0] ?? {};
  const inStep = items.length > 1 ? " in the step that cost most" : "";
  if (!side || !ns) return `What took longer on it${inStep}: ${before}.`;
  return `Before that its ${side} works ${formatTime(ns)} longer than that of the rank that waits longest${inStep}; the largest part: ${before}.`;
}

export function nameAt(workers: readonly DistributedWorker[], place: number): string {
  const found = workers[place];
  return found ? workerName(found) : "";
}

/** What took longer on a late worker before it arrived than on the one that waited longest; empty where that is not known. */
export function beforeText(item: LateItem | undefined): string {
  if (!item) return "";
  const { before_module: module, before_line: line, before_ns: ns, before_side: side } = item;
  const what = beforeName(item);
  if (!what) return "";
  const where = [what === module ? null : module, what === line ? null : line]
    .filter(Boolean)
    .join(", ");
  return `${what}${where ? ` in ${where}` : ""}${ns === null ? "" : `, by ${formatTime(ns)}`}${side ? ` on the ${side}` : ""}`;
}

export function beforeName({
  before_operator,
  before_name,
  before_module,
  before_line,
}: LateItem): string | null {
  return before_operator ?? before_name ?? before_module ?? before_line;
}

/** The place of a worker in the list by its name; `null` for all of them together. */
export function readWorker(
  text: string | undefined,
  workers: readonly DistributedWorker[],
): number | null {
  const place = text ? workers.findIndex(({ worker }) => worker === text) : -1;
  return place < 0 ? null : place;
}

/** Rows of one worker, or those of all together. */
export function operationRows(
  { worker }: { worker: readonly number[] },
  chosen: number | null,
): number[] {
  return [...worker.keys()].filter((row) => worker[row] === (chosen ?? -1));
}

/** What a reader must know: the server's notes, and whose recording could not be read. */
export function notesOf({ notes, workers }: DistributedPayload): string[] {
  const failed = workers.flatMap((worker) =>
    worker.state === "failed" ? [workerName(worker)] : [],
  );
  if (!failed.length) return notes;
  const names = failed.length > 4 ? `${formatCount(failed.length)} workers` : failed.join(", ");
  return [
    `The recording of ${names} could not be read; why is in the table of nodes, processes and devices.`,
    ...notes,
  ];
}

export function incomplete({ progress }: Pick<DistributedPayload, "progress">): boolean {
  return progress < 1;
}
