/** What the Distributed page computes: means over steps, who holds the others back, which rows of the operations are shown. */

import type { DistributedPayload, DistributedWorker } from "../../api/types.gen";
import type { Selection } from "../../state/view";
import type { Series, StackedBar } from "../../widgets";

/** Per worker and step. */
export type Table = readonly (readonly (number | null)[])[];

type Named = Pick<DistributedWorker, "rank" | "worker">;

export const workerName = ({ rank, worker }: Named): string =>
  rank === null ? worker : `rank ${rank}`;

export const sumOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0);

/** The trace of a worker of the same run. */
export const traceOf = (
  { run }: Selection,
  { worker, span }: Pick<Selection, "worker" | "span">,
): Selection => ({ run, worker, span });

/** One value per worker: the mean over the steps that it has, of some columns or of all (`null`). `counts`: steps per cell; none: one each. */
export function valuesAt(
  table: Table,
  columns: readonly number[] | null,
  counts: readonly (readonly number[])[] = [],
): (number | null)[] {
  return table.map((row, worker) => {
    let [sum, steps] = [0, 0];
    row.forEach((value, place) => {
      if (value === null || (columns && !columns.includes(place))) return;
      sum += value;
      steps += counts[worker]?.[place] ?? 1;
    });
    return steps ? sum / steps : null;
  });
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
  columns: readonly number[] | null,
  counts: readonly (readonly number[])[] = [],
): StackedBar[] {
  const values = tables.map((table) => valuesAt(table, columns, counts));
  return workers.map((worker, place) => {
    const parts = values.map((all) => all[place] ?? null);
    const absent = parts.every((value) => value === null);
    return {
      key: place,
      label: String(worker.rank ?? worker.worker),
      title: worker.rank === null ? worker.worker : `${workerName(worker)} (${worker.worker})`,
      values: parts.map((value) => value ?? 0),
      ...(absent
        ? { note: worker.state === "ready" ? "no such step" : worker.message || "not read yet" }
        : {}),
    };
  });
}

/** A stacked bar per column of the only worker. */
export function stepBars(
  tables: readonly Table[],
  columns: readonly number[] | null,
  names: readonly string[],
): StackedBar[] {
  return (columns ?? [...names.keys()]).map((column) => ({
    key: column,
    label: names[column] ?? "",
    title: `step ${names[column] ?? ""}`,
    values: tables.map((table) => valuesAt(table, [column])[0] ?? 0),
  }));
}

/** The bars' figures as a table: times, then shares of each bar. */
export function barTable(
  series: readonly Series[],
  bars: readonly StackedBar[],
  each = "Worker",
): { columns: { label: string; unit?: "ns" | "share" }[]; rows: (string | number | null)[][] } {
  return {
    columns: [
      { label: each },
      ...series.map(({ label }) => ({ label, unit: "ns" as const })),
      ...series.map(({ label }) => ({ label: `${label}, share`, unit: "share" as const })),
    ],
    rows: bars.map(({ title, values, note }) => {
      const sum = sumOf(values);
      return [
        title,
        ...values.map((value) => (note ? null : Math.round(value))),
        ...values.map((value) => (sum > 0 ? value / sum : null)),
      ];
    }),
  };
}

export function nameAt(workers: readonly Named[], place: number): string {
  const found = workers[place];
  return found ? workerName(found) : "";
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
