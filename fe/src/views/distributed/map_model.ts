/** What the map of the Distributed page computes: its measures, the order of its rows, and the chosen cell in words. */

import type { DistributedMapPayload, DistributedWorker, Measure } from "../../api/types.gen";
import { formatTime } from "../../base/units";
import { columnNames } from "./columns";
import { nameAt } from "./model";

interface MeasureWords {
  /** In the list of measures. */
  label: string;
  title: string;
  term: string;
}

export const MEASURES: Readonly<Record<Measure, MeasureWords>> = {
  late: {
    label: "Lateness",
    title: "How late each worker arrived, per step",
    term: "distributed_late",
  },
  waiting: {
    label: "Waiting",
    title: "How long each worker waited, per step",
    term: "distributed_waiting",
  },
  transfer: {
    label: "Transferring",
    title: "How long each worker transferred, per step",
    term: "distributed_transfer",
  },
  exposed: {
    label: "Exposed communication",
    title: "Communication that nothing hides, per worker and step",
    term: "distributed_exposed",
  },
  hidden: {
    label: "Hidden communication",
    title: "Communication during computation, per worker and step",
    term: "distributed_overlap",
  },
  computation: {
    label: "Computation",
    title: "Computation alone, per worker and step",
    term: "distributed_overlap",
  },
  other: {
    label: "Neither",
    title: "Neither computation nor communication, per worker and step",
    term: "distributed_overlap",
  },
  step: {
    label: "Step time",
    title: "How long each step took, per worker",
    term: "distributed_map",
  },
};

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

/** `rank 5, step 7: lateness 12.0 ms; its mean is 11.8 ms per step.` */
export function chosenCell(
  workers: readonly DistributedWorker[],
  map: DistributedMapPayload,
  measure: Measure,
  row: number,
  column: number | null,
): string {
  const name = nameAt(workers, row);
  const { label } = MEASURES[measure];
  const mean = `its mean is ${formatTime(map.means_ns[row])} per step.`;
  if (column === null) return `${name}: ${label.toLowerCase()}, ${mean}`;
  const value = formatTime(map.values_ns[row]?.[column]);
  return `${name}, step ${columnNames(map)[column] ?? ""}: ${label.toLowerCase()} ${value}; ${mean}`;
}
