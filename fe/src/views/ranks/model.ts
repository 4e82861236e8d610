/** What the overview of a run and the choice of a worker compute: names, search, where each rank stands in the grid, its colour. */

import type {
  OverviewRanksPayload,
  RankDimension,
  RankFigure,
  RankSpread,
  RunWorker,
} from "../../api/types.gen";
import type { Params } from "../../state/view";
import { LEVELS } from "../../widgets";

export const FIGURE_LABELS: Readonly<Record<RankFigure, string>> = {
  step: "Step time",
  computation: "Computation",
  busy: "Device use",
  exposed: "Exposed communication",
  memory: "Peak memory",
};

/** What of a worker can be searched for. */
export type Searched = Pick<RunWorker, "worker" | "rank" | "node">;

export function rankName({ rank, worker }: Pick<RunWorker, "rank" | "worker">): string {
  return rank === null ? worker : `rank ${rank}`;
}

/**
 * Places of the workers that a text finds, the likeliest first: its number, numbers that begin with it, then names and hosts that contain all of its
 * words. Nothing in, all out.
 */
export function foundWorkers(workers: readonly Searched[], text: string): number[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const rated: { place: number; rating: number }[] = [];
  workers.forEach((worker, place) => {
    const rating = ratingOf(worker, words);
    if (rating >= 0) rated.push({ place, rating });
  });
  return rated.sort((a, b) => a.rating - b.rating || a.place - b.place).map(({ place }) => place);
}

function ratingOf({ worker, rank, node }: Searched, words: readonly string[]): number {
  const number = rank === null ? "" : String(rank);
  const wanted = words.filter((word) => word !== "rank").join(" ");
  if (!words.length) return 0;
  if (number && wanted === number) return 0;
  const all = `${rank === null ? "" : `rank ${number} `}${worker} ${node}`.toLowerCase();
  if (!words.every((word) => all.includes(word))) return -1;
  return number.startsWith(wanted) ? 1 : 2;
}

/** The dimensions of rows and columns, and in the others the one place that is shown; −1: none, and all. */
export interface Axes {
  rows: number;
  columns: number;
  only: readonly number[];
}

/** The dimensions that the address names, else the outermost two that tell ranks apart: the nearest ranks share a cell. */
export function readAxes(dimensions: readonly RankDimension[], params: Params): Axes {
  const basis = dimensions.flatMap((dimension, place) => (dimension.independent ? [place] : []));
  const nodes = dimensions.findIndex(({ values }) => values.length > 0);
  const several = basis.length > 1;
  const named = (key: string, usual: number): number =>
    params[key] === undefined
      ? usual
      : dimensions.findIndex((dimension) => dimension.name === params[key]);
  const rows = named("rows", several ? (basis.at(-1) ?? -1) : nodes);
  const columns = named("columns", several ? (basis.at(-2) ?? -1) : -1);
  const only = dimensions.map((dimension, place) => {
    const value = Number(params[`only.${dimension.name}`] || -1);
    const inside = Number.isInteger(value) && value >= 0 && value < dimension.size;
    return inside && place !== rows && place !== columns ? value : -1;
  });
  return { rows, columns: columns === rows ? -1 : columns, only };
}

export function placeName({ values }: RankDimension, place: number): string {
  return values[place] ?? String(place);
}

/** `TP 3`, `groups of 8, stride 4: 3`, or the name of a node. */
function placeText({ name, values }: RankDimension, place: number): string {
  return values[place] ?? `${name}${/\d$/.test(name) ? ":" : ""} ${place}`;
}

/** `PP 1 · DP 0 · TP 6`, the outermost first; empty where nothing is known. */
export function coordinatesText(dimensions: readonly RankDimension[], worker: number): string {
  return [...dimensions]
    .reverse()
    .flatMap((dimension) => {
      const place = dimension.place[worker] ?? -1;
      return place < 0 ? [] : [placeText(dimension, place)];
    })
    .join(" · ");
}

export interface Square {
  worker: number;
  x: number;
  y: number;
}

export interface Label {
  text: string;
  at: number;
}

/** Squares of one size in cells; x, y, width, height in px. */
export interface GridLayout {
  size: number;
  squares: readonly Square[];
  rows: readonly Label[];
  columns: readonly Label[];
  width: number;
  height: number;
}

const SMALLEST = 9;
const LARGEST = 26;
const GAP = 5;
/** Ranks in one line of a cell. */
const LINE = 32;

/**
 * Every rank as a square, those of a cell side by side in the order of the ranks.
 *
 * ```
 *        DP 0   DP 1
 * PP 0   ▪▪▪▪   ▪▪▪▪     TP 0 to 3 in each cell
 * PP 1   ▪▪▪▪   ▪▪▪▪
 * ```
 */
export function layOut(
  dimensions: readonly RankDimension[],
  { rows, columns, only }: Axes,
  workers: readonly Pick<RunWorker, "rank">[],
  width: number,
): GridLayout {
  const row = axisOf(dimensions[rows]);
  const column = axisOf(dimensions[columns]);
  const cells = new Map<number, number[]>();
  let most = 1;
  for (let worker = 0; worker < workers.length; worker++) {
    if (only.some((place, i) => place >= 0 && dimensions[i]?.place[worker] !== place)) continue;
    const key = row.of(worker) * column.count + column.of(worker);
    const cell = cells.get(key);
    if (cell) cell.push(worker);
    else cells.set(key, [worker]);
    most = Math.max(most, cell?.length ?? 1);
  }
  const wide = cellWidth(most, column.count, width);
  const high = Math.ceil(most / wide);
  const room = Math.floor((width - GAP * column.count) / (column.count * wide));
  const size = Math.max(SMALLEST, Math.min(LARGEST, room));
  const [stepX, stepY] = [wide * size + GAP, high * size + GAP];
  const squares: Square[] = [];
  for (const [key, workers] of cells) {
    const [y, x] = [Math.floor(key / column.count), key % column.count];
    workers.forEach((worker, i) =>
      squares.push({
        worker,
        x: x * stepX + (i % wide) * size,
        y: y * stepY + Math.floor(i / wide) * size,
      }),
    );
  }
  squares.sort((a, b) => a.y - b.y || a.x - b.x);
  const plain = row.count * column.count === 1;
  return {
    size,
    squares,
    rows: plain
      ? firstOfLines(squares, workers, size)
      : row.names.map((text, y) => ({ text, at: y * stepY + (stepY - GAP) / 2 })),
    columns: column.names.map((text, x) => ({ text, at: x * stepX + (stepX - GAP) / 2 })),
    width: column.count * stepX - GAP,
    height: row.count * stepY - GAP,
  };
}

/** Without dimensions a line is known by its first rank. */
function firstOfLines(
  squares: readonly Square[],
  workers: readonly Pick<RunWorker, "rank">[],
  size: number,
): Label[] {
  return squares.flatMap(({ worker, x, y }) => {
    const rank = workers[worker]?.rank ?? null;
    return x === 0 && rank !== null ? [{ text: String(rank), at: y + size / 2 }] : [];
  });
}

/** How many ranks of a cell stand side by side: all, else about as many as below each other. */
function cellWidth(most: number, columns: number, width: number): number {
  if (columns * (most * SMALLEST + GAP) <= width && most <= LINE) return most;
  return columns === 1 ? Math.min(most, LINE) : Math.ceil(Math.sqrt(most));
}

/** The names along an axis, and the place of a worker; workers of unknown place are in one more. */
function axisOf(dimension: RankDimension | undefined): {
  count: number;
  names: readonly string[];
  of: (worker: number) => number;
} {
  if (!dimension) return { count: 1, names: [], of: () => 0 };
  const { size, place } = dimension;
  const names = Array.from({ length: size }, (_, i) => placeName(dimension, i));
  const lacks = place.some((at) => at < 0);
  const at = (worker: number): number => place[worker] ?? -1;
  return {
    count: size + (lacks ? 1 : 0),
    names: lacks ? [...names, "?"] : names,
    of: (worker) => (at(worker) < 0 ? size : at(worker)),
  };
}

/** The square that a key leads to: the next in its line, or the nearest of the next line that has any. */
export function moved(squares: readonly Square[], at: number, key: string): number | null {
  const from = squares[at];
  if (!from) return squares.length ? 0 : null;
  if (key === "Home") return 0;
  if (key === "End") return squares.length - 1;
  if (key === "ArrowRight") return Math.min(at + 1, squares.length - 1);
  if (key === "ArrowLeft") return Math.max(at - 1, 0);
  if (key !== "ArrowDown" && key !== "ArrowUp") return null;
  const down = key === "ArrowDown";
  let best = at;
  let line: number | null = null;
  for (let i = at; i >= 0 && i < squares.length; i += down ? 1 : -1) {
    const square = squares[i];
    if (!square || square.y === from.y) continue;
    line ??= square.y;
    if (square.y !== line) break;
    const nearest = squares[best];
    if (best === at || Math.abs(square.x - from.x) < Math.abs((nearest?.x ?? 0) - from.x)) best = i;
  }
  return best;
}

/** The range of the colours: of all values, but no narrower than what counts as noise. */
export function colourRange({ quartiles, limit }: Pick<RankSpread, "quartiles" | "limit">): {
  low: number;
  high: number;
} {
  const [least = 0, , median = 0, , most = 0] = quartiles;
  return { low: Math.min(least, median - limit), high: Math.max(most, median + limit) };
}

/** Colour of a value: 1 to 6 from low to high, 0 where all are equal, −1 unknown. */
export function levelAt(
  value: number | null | undefined,
  { low, high }: { low: number; high: number },
): number {
  if (value === null || value === undefined) return -1;
  if (high <= low) return 0;
  return Math.max(1, Math.min(LEVELS, 1 + Math.floor(((value - low) / (high - low)) * LEVELS)));
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
    const bin = high > low ? Math.floor(((value - low) / (high - low)) * bins) : 0;
    const at = Math.max(0, Math.min(bins - 1, bin));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}

/** The spread that the grid is coloured by: the one that is asked for, else the first in which a rank stands out. */
export function colourOf(
  { spreads }: Pick<OverviewRanksPayload, "spreads">,
  figure: string | undefined,
): RankSpread | null {
  return (
    spreads.find((spread) => spread.figure === figure) ??
    spreads.find(({ outliers }) => outliers.length) ??
    spreads[0] ??
    null
  );
}
