/** What the choice of a worker computes: search and coordinates. */

import type { RankDimension, RunWorker } from "../../api/types.gen";

/** What of a worker can be searched for. */
export type Searched = Pick<RunWorker, "worker" | "rank" | "node"> & { coordinates?: string };

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
