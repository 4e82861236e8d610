/** What the heat map of the Ranks page computes: its measures, which ranks have rows and in which order, and the chosen cell in words. */

import type {
  DistributedMapPayload,
  DistributedPayload,
  DistributedWorker,
  Measure,
} from "../../api/types.gen";
import { formatCount, formatTime } from "../../base/units";
import { columnNames, columnOf } from "./columns";
import { nameAt, workerName } from "./model";

interface MeasureWords {
  /** In the switch. */
  label: string;
  title: string;
  term: string;
  /** The token of its shades. */
  hue: string;
}

const LATE = "How late each rank comes to the collectives";
export const MEASURES: Readonly<Record<Measure, MeasureWords>> = {
  late: { label: "Late", title: LATE, term: "distributed_late", hue: "communication" },
  waiting: {
    label: "Waits",
    title: "How long each rank waits",
    term: "distributed_waiting",
    hue: "communication",
  },
  computation: {
    label: "Computes",
    title: "How long each rank computes and does nothing else",
    term: "distributed_overlap",
    hue: "compute",
  },
  step: {
    label: "Step time",
    title: "How long each step takes",
    term: "distributed_map",
    hue: "host",
  },
  transfer: {
    label: "Transfers",
    title: "How long each rank transfers",
    term: "distributed_transfer",
    hue: "communication",
  },
  exposed: {
    label: "Exposed communication",
    title: "Communication that nothing hides",
    term: "distributed_exposed",
    hue: "communication",
  },
  hidden: {
    label: "Hidden communication",
    title: "Communication during computation",
    term: "distributed_overlap",
    hue: "compute",
  },
  other: {
    label: "Neither",
    title: "Neither computation nor communication",
    term: "distributed_overlap",
    hue: "host",
  },
};
/** Those of the switch; an address may ask for the others. */
const OFFERED: readonly Measure[] = ["late", "waiting", "computation", "step"];

export const offered = (measure: Measure): readonly Measure[] =>
  OFFERED.includes(measure) ? OFFERED : [...OFFERED, measure];

/** A measure from the address bar; without one that nobody can wait for, the time of the step. */
export function readMeasure(text: string | undefined, matched: boolean): Measure {
  if (text && Object.hasOwn(MEASURES, text)) return text as Measure;
  return matched ? "late" : "step";
}

export type MapOrder = "rank" | "largest" | "node";

export const readOrder = (text: string | undefined): MapOrder =>
  text === "largest" || text === "node" ? text : "rank";

/** Places of workers: by rank as they come, by the mean of the measure, or node by node. */
export function orderOf(
  by: MapOrder,
  { means_ns }: Pick<DistributedMapPayload, "means_ns">,
  workers: readonly Pick<DistributedWorker, "node">[],
): number[] {
  const places = [...workers.keys()];
  if (by === "rank") return places;
  if (by === "largest") return places.sort((a, b) => (means_ns[b] ?? -1) - (means_ns[a] ?? -1));
  const nodes = workers.map(({ node }) => node);
  const firstOf = nodes.map((node) => nodes.indexOf(node));
  return places.sort((a, b) => (firstOf[a] ?? 0) - (firstOf[b] ?? 0));
}

/** Of more ranks only those that stand out have rows. */
export const MOST_ROWS = 64;
const MOST_OUT = 24;
const QUANTILES = [
  [0.95, "highest 5 %"],
  [0.5, "median"],
  [0.05, "lowest 5 %"],
] as const;

export interface MapRows {
  /** A name and values by row: those of the workers come first, each at its place. */
  names: string[];
  values: (number | null)[][];
  order: number[];
  /** How many workers have no row of their own. */
  pooled: number;
}

/** A row per worker, in the given order. Of many those that the verdict names, that lie far above the others or hold a step back most; then quantiles of all others, per column. */
export function mapRows(
  payload: Pick<DistributedPayload, "workers" | "blame" | "costs">,
  map: Pick<DistributedMapPayload, "values_ns" | "outliers">,
  order: readonly number[],
  chosen: number | null,
): MapRows {
  const { workers, blame, costs } = payload;
  const names = workers.map(workerName);
  const values = map.values_ns.map((row) => [...row]);
  if (workers.length <= MOST_ROWS) return { names, values, order: [...order], pooled: 0 };
  const out = new Set([
    ...(chosen === null ? [] : [chosen]),
    ...costs.map(({ worker }) => worker),
    ...map.outliers.map(({ worker }) => worker),
    ...[...blame].sort((a, b) => b.held_ns - a.held_ns).map(({ worker }) => worker),
  ]);
  const shown = new Set([...out].slice(0, MOST_OUT));
  const others = values.filter((_, place) => !shown.has(place));
  const columns = values[0]?.length ?? 0;
  const sorted = Array.from({ length: columns }, (_, column) =>
    others.flatMap((row) => row[column] ?? []).sort((a, b) => a - b),
  );
  const added = QUANTILES.map(([part, name], i) => {
    names.push(`others: ${name}`);
    values.push(sorted.map((all) => all[Math.round(part * (all.length - 1))] ?? null));
    return workers.length + i;
  });
  return {
    names,
    values,
    order: [...order.filter((place) => shown.has(place)), ...added],
    pooled: workers.length - shown.size,
  };
}

/** Which ranks have rows, where that is not all. */
export const pooledText = ({ pooled, order }: MapRows): string =>
  pooled
    ? `${standing(order.length - QUANTILES.length)}; of the other ${formatCount(pooled)} the quantiles of each step.`
    : "";

const standing = (count: number): string =>
  count === 1 ? "1 rank that stands out" : `${formatCount(count)} ranks that stand out`;

/** Whom each step waited for. */
export const framedCells = (
  { blame }: Pick<DistributedPayload, "blame">,
  map: Pick<DistributedMapPayload, "column_begin">,
): { row: number; column: number }[] =>
  blame.map(({ worker, step }) => ({ row: worker, column: columnOf(map, step) }));

/** What each worker costs the others: `11.2 ms once, in step 7`. */
export function costTexts({
  workers,
  costs,
}: Pick<DistributedPayload, "workers" | "costs">): string[] {
  return workers.map((worker, place) =>
    costs
      .filter(({ worker }) => worker === place)
      // Of many rows not all are labelled.
      .map(
        ({ held_ns, text }) =>
          `${workers.length > MOST_OUT ? `${workerName(worker)}: ` : ""}${formatTime(held_ns)} ${text}`,
      )
      .join("; "),
  );
}

/** `rank 5, step 7: late 12.0 ms; its mean is 11.8 ms per step.` */
export function chosenCell(
  workers: readonly DistributedWorker[],
  map: DistributedMapPayload,
  measure: Measure,
  row: number,
  column: number | null,
): string {
  const name = nameAt(workers, row);
  const word = MEASURES[measure].label.toLowerCase();
  const mean = `its mean is ${formatTime(map.means_ns[row])} per step.`;
  if (column === null) return `${name}: ${word}, ${mean}`;
  const value = formatTime(map.values_ns[row]?.[column]);
  return `${name}, step ${columnNames(map)[column] ?? ""}: ${word} ${value}; ${mean}`;
}
