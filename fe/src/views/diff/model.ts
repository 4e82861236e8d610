/** What the Diff page computes: which trace is the other one, and which rows of the changes are shown. */

import type {
  ChangeStatus,
  ChangeTable,
  DiffSide,
  DiffTable,
  DiffTreeTable,
  RunsPayload,
  Verdict,
} from "../../api/types.gen";
import { formatCount, formatNumber, formatTime } from "../../base/units";
import { stepName } from "../../base/words";
import { parseSteps } from "../../state/location";
import { complete, find } from "../../state/runs";
import {
  ALL_STEPS,
  type Params,
  type Selection,
  type StepRange,
  stepsText,
} from "../../state/view";
import type { StripRow } from "../../widgets";
import { otherParams } from "../against_median";
import { countOfSteps, rowsOf } from "../rows";

/** A trace with its steps. */
export interface Side {
  selection: Selection;
  steps: StepRange;
}

/** What A is compared with, as the address names it; `null` until it is chosen. */
export function otherSide(payload: RunsPayload | null, params: Params): Side | null {
  const wanted = { run: params.run2 ?? "", worker: params.worker2 ?? "", span: params.span2 ?? "" };
  const steps = { ...parseSteps(params.steps2 ?? ""), skipCold: params.skip_cold2 === "1" };
  return wanted.run ? { selection: complete(payload, wanted), steps } : null;
}

/** The worker of another run that goes with A's: of the same name, else of the same rank, else the first. */
export function counterpart(payload: RunsPayload | null, run: string, a: Selection): Selection {
  const rank = find(payload, a).worker?.rank ?? null;
  const workers = payload?.runs.find(({ name }) => name === run)?.workers ?? [];
  const same =
    workers.find(({ name }) => name === a.worker) ??
    workers.find((worker) => rank !== null && worker.rank === rank);
  return complete(payload, { run, worker: same?.name ?? "", span: "" });
}

/** The address' keys of the other side. */
export const sideParams = ({ selection, steps }: Side) =>
  otherParams(selection, stepsText(steps), steps.skipCold);

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

/** The table that is shown: the one in the address if it has rows, else the first that has. */
export function readTable(text: string | undefined, { table }: DiffTable): ChangeTable {
  const filled = TABLES.filter(({ value }) => table.includes(value));
  return (filled.find(({ value }) => value === text) ?? filled[0])?.value ?? "operator";
}

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
export function stripRow(
  label: string,
  color: string,
  { steps, mean_ns, spread_ns }: DiffSide,
): StripRow {
  return {
    label,
    color,
    dots: rowsOf(steps).map((step) => {
      const why = [
        step.cold && "cold",
        step.odd && "odd",
        step.cut && "cut off",
        !step.selected && "not compared",
      ]
        .filter(Boolean)
        .join(", ");
      const time = step.wall_ns / step.steps;
      return {
        value: time,
        title: `${label}, ${step.name}: ${formatTime(time)}${why ? ` (${why})` : ""}`,
        faded: !step.selected,
      };
    }),
    mean: mean_ns,
    spread: spread_ns,
  };
}

/** `mean of 5 of 7 steps, from 4 to 9 (ProfilerStep)`: what the time is of. */
export function basisText({ selected, steps, step_source }: DiffSide): string {
  const names = steps.name.filter((_, i) => steps.selected[i]).map(stepName);
  const count = countOfSteps(steps);
  if (selected === 1 && count > 1)
    return `step ${names[0] ?? ""}, one of ${formatCount(count)} (${step_source})`;
  const which = selected === count ? "all" : `${selected} of`;
  const from = selected === count || !names.length ? "" : `, from ${names[0]} to ${names.at(-1)}`;
  return `${count === 1 ? "the only step" : `mean of ${which} ${count} steps${from}`} (${step_source})`;
}

/** `212 ms ± 3.1 ms`. */
export function meanText({ mean_ns, spread_ns }: DiffSide): string {
  return `${formatTime(mean_ns)}${spread_ns === null ? "" : ` ± ${formatTime(spread_ns)}`}`;
}
