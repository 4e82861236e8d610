/** What the overview of a run and the choice of a worker compute: names, search, coordinates, how values spread. */

import { clamp } from "../../base/clamp";
import type { RankDimension, RankFigure, RankSpread, RunWorker } from "../../api/types.gen";

export const FIGURE_LABELS: Readonly<Record<RankFigure, string>> = {
  step: "Step time",
  computation: "Computation",
  busy: "Device use",
  exposed: "Exposed communication",
  memory: "Peak memory",
};

/** What of a worker can be searched for. */
export type Searched = Pick<RunWorker, "worker" | "rank" | "node"> & { coordinates?: string };

export function rankName({ rank, worker }: Pick<RunWorker, "rank" | "worker">): string {
  return rank === null ? worker : `rank ${rank}`;
}

/**
 * Places of the workers that a text finds, the likeliest first: its number, numbers that begin with it, then names, hosts and coordinates that contain all of its
 * words. Nothing in, all out.
 */
export function foundWorkers(workers: readonly Searched[], text: string): number[] {
  const split = (of: string): string[] => of.toLowerCase().split(/\s+/).filter(Boolean);
  const [words, joined] = [split(text), split(text.replace(/([a-z])\s+(?=\d)/gi, "$1"))];
  return workers
    .map((worker, place) => ({ place, rating: ratingOf(worker, words, joined) }))
    .filter(({ rating }) => rating >= 0)
    .sort((a, b) => a.rating - b.rating)
    .map(({ place }) => place);
}

/** `joined`: with numbers at their names, as `pp5` of PP 5. */
function ratingOf(
  { worker, rank, node, coordinates = "" }: Searched,
  words: readonly string[],
  joined: readonly string[],
): number {
  const number = String(rank ?? "");
  const wanted = words.filter((word) => word !== "rank").join(" ");
  if (number && wanted === number) return 0;
  const all = `${number && `rank ${number} `}${worker} ${node}`.toLowerCase();
  const places = coordinates.toLowerCase().replaceAll(" ", "").split("·");
  if (!words.every((word) => all.includes(word)))
    return joined.every((word) => places.includes(word) || all.includes(word)) ? 2 : -1;
  return number.startsWith(wanted) ? 1 : 2;
}

/** `TP 3`, `groups of 8, stride 4: 3`, or the name of a node. */
function placeText({ name, values }: RankDimension, place: number): string {
  return values[place] ?? `${name}${/\d$/.test(name) ? ":" : ""} ${place}`;
}

/** `PP 1 · DP 0 · TP 6`, the outermost first; empty where nothing is known. */
export const coordinatesText = (dimensions: readonly RankDimension[], worker: number): string =>
  dimensions
    .toReversed()
    .flatMap((dimension) => {
      const place = dimension.place[worker] ?? -1;
      return place < 0 ? [] : placeText(dimension, place);
    })
    .join(" · ");

interface ValueRange {
  low: number;
  high: number;
}

/** The range of all values, but no narrower than what counts as noise. */
export function valueRange(spread: Pick<RankSpread, "quartiles" | "limit"> | null): ValueRange {
  const { quartiles, limit } = spread ?? { quartiles: [], limit: 0 };
  const [least = 0, , median = 0, , most = 0] = quartiles;
  return { low: Math.min(least, median - limit), high: Math.max(most, median + limit) };
}

/** In which of so many equal parts of a range a value is; the first where all are equal. */
function partOf(value: number, { low, high }: ValueRange, parts: number): number {
  const part = high > low ? Math.floor(((value - low) / (high - low)) * parts) : 0;
  return clamp(part, 0, parts - 1);
}

/** How many values are in each of so many equal parts of their range. */
export function histogram(
  values: readonly (number | null)[],
  low: number,
  high: number,
  bins: number,
): number[] {
  const counts = new Array<number>(bins).fill(0);
  for (const value of values) {
    if (value === null) continue;
    const part = partOf(value, { low, high }, bins);
    counts[part] = (counts[part] ?? 0) + 1;
  }
  return counts;
}
