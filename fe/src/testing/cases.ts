/** Recorded replies, changed for a case. */

import type {
  DeviceSummary,
  FilesTable,
  Finding,
  FindingsPayload,
  KernelPayload,
  KernelsTable,
  Missing,
  OperatorPayload,
  OperatorsTable,
  OverviewPayload,
  StepsTable,
  TableName,
} from "../api/types.gen";
import { columnsOfTable } from "../views/columns";
import type { RowOf, Step } from "../views/rows";
import { CPU, GPU, reply } from "./replies";

/** A name that would run as a script if it ever reached the page as markup. */
export const HOSTILE = '<img src=x onerror="globalThis.hacked=1">\u202e&amp;';

/** Rows of a table by their numbers, as often as they are named, with other values of some columns. */
export function rowsOf<T extends object>(
  table: T,
  numbers: readonly number[],
  over: Partial<T> = {},
): T {
  const columns = Object.entries(table as Record<string, unknown[]>);
  const kept = columns.map(([name, column]) => [name, numbers.map((number) => column[number])]);
  return { ...(Object.fromEntries(kept) as T), ...over };
}

/** The table of some rows. */
export function tableOf<T extends object>(columns: T, rows: readonly RowOf<T>[]): T {
  const of = (name: string) => rows.map((row) => row[name as keyof RowOf<T>]);
  return Object.fromEntries(Object.keys(columns).map((name) => [name, of(name)])) as T;
}

/** Rows of a declared table; what is not given is unknown, so that a new column needs nothing here. */
export function declaredTable<T extends object>(
  table: TableName,
  count: number,
  known: Partial<T>,
): T {
  const unknown = columnsOfTable(table).map(({ key }) => [key, Array<null>(count).fill(null)]);
  return { ...Object.fromEntries(unknown), ...known } as T;
}

/** Something that a recording lacks, with the call that records it. */
export const lacking = (over: Partial<Missing> = {}): Missing => ({
  ...{ key: "stack", what: "Call stacks", why: "They were not recorded." },
  call: "profile(with_stack=True)",
  ...over,
});

export const overview = (over: Partial<OverviewPayload> = {}): OverviewPayload =>
  reply("overview", GPU, over);

export const GPU_WORDS = overview().vocabulary;

export const device = (over: Partial<DeviceSummary> = {}): DeviceSummary => ({
  ...overview().devices[0]!,
  ...over,
});

const STEPS: StepsTable = overview().steps;

/** The fourth recorded step, neither cold nor odd, at another place. */
export function step(index: number, over: Partial<Step> = {}): Step {
  const columns = Object.entries(STEPS as unknown as Record<string, unknown[]>);
  const recorded = Object.fromEntries(columns.map(([name, column]) => [name, column[3]]));
  return { ...(recorded as unknown as Step), step: index, name: String(index), ...over };
}

export const stepsOf = (rows: readonly Step[]): StepsTable => tableOf(STEPS, rows);

export const finding = (over: Partial<Finding> = {}): Finding => ({
  ...reply("findings", CPU).findings[0]!,
  ...over,
});

export const findings = (
  list: Finding[] = [finding()],
  over: Partial<FindingsPayload> = {},
): FindingsPayload =>
  reply("findings", CPU, {
    findings: list,
    healthy: !list.length,
    ...{ totals: [], unsure: [], missing: [] },
    ...over,
  });

/** Operators of these names, all else as of the second one that was recorded. */
export const operatorRows = (
  names: readonly string[],
  over: Partial<OperatorsTable> = {},
): OperatorsTable =>
  rowsOf(
    reply("operator", GPU).rows,
    names.map(() => 1),
    { name: [...names], ...over },
  );

export const operators = (
  names: readonly string[] = ["aten::mm", "aten::add"],
  over: Partial<OperatorPayload> = {},
): OperatorPayload => reply("operator", GPU, { rows: operatorRows(names), pooled: 0, ...over });

/** Kernels of these names, all else as of the second one that was recorded. */
export const kernelRows = (
  names: readonly string[],
  over: Partial<KernelsTable> = {},
): KernelsTable =>
  rowsOf(
    reply("kernel", GPU).rows,
    names.map(() => 1),
    { name: [...names], short_name: [...names], ...over },
  );

export const kernels = (
  names: readonly string[] = ["gemm", "relu"],
  over: Partial<KernelPayload> = {},
): KernelPayload => reply("kernel", GPU, { rows: kernelRows(names), pooled: 0, ...over });

export const file = (path: string, over: Partial<RowOf<FilesTable>> = {}): RowOf<FilesTable> => ({
  path,
  run: "run",
  worker: "worker0",
  span: "1",
  state: "ready",
  reason: "",
  bytes: 1000,
  events: 10,
  lost: 0,
  ...over,
});

export const filesOf = (rows: readonly RowOf<FilesTable>[]): FilesTable =>
  tableOf(Object.fromEntries(Object.entries(file("")).map(([name]) => [name, []])) as never, rows);
