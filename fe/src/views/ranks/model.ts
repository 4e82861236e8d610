/** What the overview of a run and the choice of a worker compute: names, search, where each rank stands in the grid, its colour. */

import { clamp } from "../../base/clamp";
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
  return workers
    .map((worker, place) => ({ place, rating: ratingOf(worker, words) }))
    .filter(({ rating }) => rating >= 0)
    .sort((a, b) => a.rating - b.rating)
    .map(({ place }) => place);
}

function ratingOf({ worker, rank, node }: Searched, words: readonly string[]): number {
  const number = String(rank ?? "");
  const wanted = words.filter((word) => word !== "rank").join(" ");
  if (number && wanted === number) return 0;
  const all = `${number && `rank ${number} `}${worker} ${node}`.toLowerCase();
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
  const [outermost = nodes, next = -1] = basis.length > 1 ? basis.reverse() : [];
  const named = (key: string, usual: number): number =>
    params[key] === undefined ? usual : dimensions.findIndex(({ name }) => name === params[key]);
  const rows = named("rows", outermost);
  const columns = named("columns", next);
  const only = dimensions.map(({ name, size }, place) => {
    const value = Number(params[`only.${name}`] || -1);
    return Number.isInteger(value) && value < size && place !== rows && place !== columns
      ? value
      : -1;
  });
  return { rows, columns: columns === rows ? -1 : columns, only };
}

export const placeNames = ({ size, values }: RankDimension): string[] =>
  Array.from({ length: size }, (_, place) => values[place] ?? String(place));

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
  const [down, across] = [row.count, column.count];
  const cells = new Map<number, number[]>();
  workers.forEach((_, worker) => {
    if (only.some((place, i) => place >= 0 && dimensions[i]?.place[worker] !== place)) return;
    const key = row.of(worker) * across + column.of(worker);
    const cell = cells.get(key) ?? [];
    cell.push(worker);
    cells.set(key, cell);
  });
  const most = Math.max(1, ...[...cells.values()].map(({ length }) => length));
  const wide = cellWidth(most, across, width);
  const high = Math.ceil(most / wide);
  const room = Math.floor((width - GAP * across) / (across * wide));
  const size = clamp(room, SMALLEST, LARGEST);
  const [stepX, stepY] = [wide * size + GAP, high * size + GAP];
  const squares = [...cells]
    .flatMap(([key, places]) =>
      places.map((worker, i) => ({
        worker,
        x: (key % across) * stepX + (i % wide) * size,
        y: Math.floor(key / across) * stepY + Math.floor(i / wide) * size,
      })),
    )
    .sort((a, b) => a.y - b.y || a.x - b.x);
  const labels = (names: readonly string[], step: number): Label[] =>
    names.map((text, place) => ({ text, at: place * step + (step - GAP) / 2 }));
  return {
    size,
    squares,
    // Without dimensions a line is known by its first rank.
    rows:
      down * across === 1
        ? squares.flatMap(({ worker, x, y }) => {
            const rank = workers[worker]?.rank ?? null;
            return x === 0 && rank !== null ? { text: String(rank), at: y + size / 2 } : [];
          })
        : labels(row.names, stepY),
    columns: labels(column.names, stepX),
    width: across * stepX - GAP,
    height: down * stepY - GAP,
  };
}

/** How many ranks of a cell stand side by side: all, else about as many as below each other. */
function cellWidth(most: number, columns: number, width: number): number {
  if (columns * (most * SMALLEST + GAP) <= width && most <= LINE) return most;
  return columns === 1 ? Math.min(most, LINE) : Math.ceil(Math.sqrt(most));
}

/** The names along an axis, and the place of a worker; workers of unknown place are in one more. */
function axisOf(dimension: RankDimension | undefined) {
  const places = dimension?.place ?? [];
  const known = dimension ? placeNames(dimension) : [];
  const names = places.some((at) => at < 0) ? [...known, "?"] : known;
  return {
    names,
    count: Math.max(1, names.length),
    of: (worker: number): number => {
      const at = places[worker] ?? -1;
      return at < 0 ? known.length : at;
    },
  };
}

/** The square that a key leads to: the next in its line, or the nearest of the next line that has any. */
export function moved(squares: readonly Square[], at: number, key: string): number | null {
  const from = squares[at];
  if (!from) return squares.length ? 0 : null;
  const last = squares.length - 1;
  const inLine: Readonly<Record<string, number>> = {
    Home: 0,
    End: last,
    ArrowRight: Math.min(at + 1, last),
    ArrowLeft: Math.max(at - 1, 0),
  };
  if (key !== "ArrowDown" && key !== "ArrowUp") return inLine[key] ?? null;
  const ahead = key === "ArrowDown" ? squares.slice(at) : squares.slice(0, at).reverse();
  const line = ahead.find(({ y }) => y !== from.y)?.y;
  const far = ({ x }: Square): number => Math.abs(x - from.x);
  const [nearest] = ahead.filter(({ y }) => y === line).sort((a, b) => far(a) - far(b));
  return nearest ? squares.indexOf(nearest) : at;
}

interface ColourRange {
  low: number;
  high: number;
}

/** The range of the colours: of all values, but no narrower than what counts as noise. */
export function colourRange(spread: Pick<RankSpread, "quartiles" | "limit"> | null): ColourRange {
  const { quartiles, limit } = spread ?? { quartiles: [], limit: 0 };
  const [least = 0, , median = 0, , most = 0] = quartiles;
  return { low: Math.min(least, median - limit), high: Math.max(most, median + limit) };
}

/** In which of so many equal parts of a range a value is; the first where all are equal. */
function partOf(value: number, { low, high }: ColourRange, parts: number): number {
  const part = high > low ? Math.floor(((value - low) / (high - low)) * parts) : 0;
  return clamp(part, 0, parts - 1);
}

/** Colour of a value: 1 to 6 from low to high, 0 where all are equal, −1 unknown. */
export function levelAt(value: number | null | undefined, range: ColourRange): number {
  if (value === null || value === undefined) return -1;
  return range.high > range.low ? 1 + partOf(value, range, LEVELS) : 0;
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
