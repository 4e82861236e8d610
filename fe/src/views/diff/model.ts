/** What the Diff page computes: which trace is the other one, and which rows of the changes are shown. */

import type {
  Aligned,
  AlignedRow,
  AlignedSide,
  ChangeStatus,
  ChangeTable,
  DiffPayload,
  DiffSide,
  DiffTable,
  DiffTreeTable,
  RunsPayload,
  TimeGroup,
  Verdict,
} from "../../api/types.gen";
import { formatDelta, formatNumber, formatTime } from "../../base/units";
import { capitalised } from "../../base/words";
import { complete, find } from "../../state/runs";
import { ALL_STEPS, type Selection, type Side, type StepRange } from "../../state/view";
import type { Series, StripRow } from "../../widgets";
import { groupLooks } from "../critical_path/groups";
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
        step.cut && "recorded in part",
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

/** Colour and pattern of each group of causes. */
export const LOOKS = groupLooks("");
const NOTHING_KNOWN: Series = { key: "", label: "", color: "var(--not-recorded)" };

export const lookOf = (group: TimeGroup): Series =>
  LOOKS.find(({ key }) => key === group) ?? NOTHING_KNOWN;

/** What the sides are called: before and after, but for steps of one recording and for ranks of one run. */
export function sideNames(steps: Aligned | null): [string, string] {
  if (!steps) return ["Before", "After"];
  const { before, after } = steps;
  if (before.run !== after.run) return ["Before", "After"];
  if (before.worker !== after.worker) return [before.worker, after.worker];
  if (before.span !== after.span) return ["Before", "After"];
  return before.step === after.step
    ? ["Before", "After"]
    : [capitalised(before.step_name), capitalised(after.step_name)];
}

/** The stretches of a row as one outline per group, at least a third of a pixel wide. */
export function rowPaths(
  row: AlignedRow,
  x: (time: number) => number,
  y: number,
  height: number,
): { group: TimeGroup; path: string }[] {
  const paths = new Map<TimeGroup, string>();
  row.group.forEach((group, i) => {
    const from = x(row.start_ns[i] ?? 0);
    const width = Math.max(0.34, x(row.end_ns[i] ?? 0) - from);
    const drawn = `M${from.toFixed(2)} ${y}h${width.toFixed(2)}v${height}h${(-width).toFixed(2)}z`;
    paths.set(group, (paths.get(group) ?? "") + drawn);
  });
  return [...paths].map(([group, path]) => ({ group, path }));
}

export interface Gap {
  at: number;
  length: number;
  lost: boolean;
  group: TimeGroup;
  size: string;
  text: string;
}

export function gapsOf({ gaps, changes }: Aligned): Gap[] {
  return gaps.at_ns.map((at, i) => {
    const ns = gaps.size_ns[i] ?? 0;
    const group = gaps.group[i] ?? "not_recorded";
    const label = changes.find((one) => one.group === group)?.label ?? "";
    const name = gaps.name[i];
    const size = formatDelta(ns);
    const what = `${ns > 0 ? "lost" : "gained"} in ${label.replace(/^[A-Z](?![A-Z])/, (c) => c.toLowerCase())}`;
    return {
      at,
      length: Math.abs(ns),
      lost: ns > 0,
      group,
      size,
      text: `${size}: ${what}${name ? `, ${name}` : ""}`,
    };
  });
}

/** How long all gaps of one sign are together: above 0 time lost, below 0 time gained. */
export const sumOfGaps = ({ gaps }: Aligned, sign: 1 | -1): number =>
  gaps.size_ns.reduce((sum, ns) => sum + Math.max(0, sign * ns), 0);

/** Px that the size of a gap takes. */
const LABEL = 64;

/** The gaps with room for their size; `scale`: px per ns. */
export const labelledGaps = (gaps: readonly Gap[], scale: number): Gap[] =>
  gaps.filter(({ length }) => length * scale >= LABEL);

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
