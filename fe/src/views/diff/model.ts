/** What the Diff page computes: which trace is the other one, and which rows of the changes are shown. */

import type {
  Aligned,
  AlignedSide,
  ChangeStatus,
  ChangeTable,
  DiffPayload,
  DiffSide,
  DiffTable,
  DiffTreeTable,
  RunsPayload,
  Verdict,
} from "../../api/types.gen";
import { formatNumber, formatTime } from "../../base/units";
import { capitalised, differing } from "../../base/words";
import { complete, find } from "../../state/runs";
import { ALL_STEPS, type Selection, type Side, type StepRange } from "../../state/view";
import { rowsOf } from "../rows";

/** The worker of another run that goes with A's: of the same name, else of the same rank, else the first. */
export function counterpart(payload: RunsPayload | null, run: string, a: Selection): Selection {
  const rank = find(payload, a).worker?.rank ?? null;
  const workers = payload?.runs.find(({ name }) => name === run)?.workers ?? [];
  const same =
    workers.find(({ name }) => name === a.worker) ??
    workers.find((worker) => rank !== null && worker.rank === rank);
  return complete(payload, { run, worker: same?.name ?? "", span: "" });
}

/** The first and the second half of so many steps. */
export function halves(count: number): [StepRange, StepRange] {
  const middle = Math.floor(count / 2);
  return [
    { ...ALL_STEPS, first: 0, last: middle - 1 },
    { ...ALL_STEPS, first: count - middle, last: count - 1 },
  ];
}

export const TABLES: readonly { value: ChangeTable; label: string }[] = [
  { value: "operator", label: "Operators" },
  { value: "host", label: "Operators on the host" },
  { value: "kernel", label: "Kernels" },
  { value: "runtime", label: "Runtime calls" },
  { value: "module", label: "Modules" },
  { value: "category", label: "Categories" },
];

type Tables = typeof TABLES;

/** Those of them that have rows. */
export const tablesOf = ({ table }: DiffTable, of?: readonly ChangeTable[]): Tables =>
  TABLES.filter(({ value }) => table.includes(value) && (of?.includes(value) ?? true));

/** The table that is shown: the one in the address if it is among them, else the first. */
export const readTable = (text: string | undefined, tables: Tables): ChangeTable | undefined =>
  (tables.find(({ value }) => value === text) ?? tables[0])?.value;

export const STATUSES: readonly ChangeStatus[] = ["changed", "new", "gone", "same"];

export function readStatus(text: string | undefined): ChangeStatus | null {
  return STATUSES.find((status) => status === text) ?? null;
}

/** Rows of one table, with the status if one is chosen; what pools the rest is kept with all of them only. */
export function changeRows(
  { table, status, rest }: DiffTable,
  of: ChangeTable,
  chosen: ChangeStatus | null,
): number[] {
  return [...table.keys()].filter(
    (row) => table[row] === of && (chosen === null || (status[row] === chosen && !rest[row])),
  );
}

/** How many rows of a table have each status. */
export const statusCounts = (changes: DiffTable, of: ChangeTable) =>
  Object.fromEntries(
    STATUSES.map((status) => [status, changeRows(changes, of, status).length]),
  ) as Record<ChangeStatus, number>;

/** A node's name on both sides. */
export function bothNames(a: string | null, b: string | null): string {
  return a === null || b === null || a === b ? (a ?? b ?? "") : `${a} → ${b}`;
}

/** By how much each node changed by the chosen measure; `null` where it has none. */
export function treeDelta(tree: DiffTreeTable, device: boolean): (number | null)[] {
  const [a, b] = device ? [tree.device_a_ns, tree.device_b_ns] : [tree.host_a_ns, tree.host_b_ns];
  return a.map((before, node) =>
    before === null || b[node] === null ? null : (b[node] ?? 0) - before,
  );
}

export function testText({ p, test }: Verdict): string {
  return `${test}${p === null ? "" : `; p ${p < 0.001 ? "< 0.001" : `= ${formatNumber(p)}`}`}`;
}

/** The steps of a side as dots; those that are not compared are hollow. */
export const dotsOf = (name: string, { steps }: DiffSide) =>
  rowsOf(steps).map((step) => {
    const why = [
      step.cold && "cold",
      step.odd && "odd",
      step.cut && "recorded in part",
      !step.selected && "not compared",
    ]
      .filter(Boolean)
      .join(", ");
    const time = step.wall_ns / step.steps;
    const title = `${name}, ${step.name}: ${formatTime(time)}${why ? ` (${why})` : ""}`;
    return { time, title, hollow: !step.selected };
  });

/** What the sides are called: before and after, but for steps of one recording and for ranks of one run. */
export function sideNames(steps: Aligned | null): [string, string] {
  if (!steps) return ["Before", "After"];
  const { before, after } = steps;
  if (before.run !== after.run) return ["Before", "After"];
  if (before.worker !== after.worker)
    return [differing(before.worker, after.worker), differing(after.worker, before.worker)];
  if (before.span !== after.span) return ["Before", "After"];
  return before.step === after.step
    ? ["Before", "After"]
    : [capitalised(before.step_name), capitalised(after.step_name)];
}

/** Where a side is from: its run, and the worker where the runs do not tell them apart. */
export function sideText({ a, b }: DiffPayload, place: number): string {
  const { run, worker } = place ? b : a;
  return a.run === b.run ? `${run} · ${worker}` : run;
}

/** `step 6, the median of 6`. */
export const medianText = ({ step_name, of }: AlignedSide): string =>
  of > 1 ? `${step_name}, the median of ${of}` : step_name;

/** Both sides the other way round than they are shown: first what is to be before. `top`: what the header names. */
export function swapped({ a }: DiffPayload, top: Side, other: Side): [Side, Side] {
  const { run, worker, span } = top.selection;
  const shown = a.run === run && a.worker === worker && a.span === span;
  return shown ? [other, top] : [top, other];
}
