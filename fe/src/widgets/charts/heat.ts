import { clamp } from "../../base/clamp";

/** Classes of shade between the two ends of the values. */
export const LEVELS = 6;

export type HeatValues = readonly (readonly (number | null)[])[];

export interface HeatRange {
  low: number;
  high: number;
}

/** Values that differ by less than this share of the largest are of one shade, and those that all lie above half of it begin at the smallest. */
const ALIKE = 0.05;

/** What the shades stand between: from 0, or from the smallest where that is more than half of the largest. */
export function heatRange(values: HeatValues): HeatRange {
  let [low, high] = [Infinity, 0];
  for (const row of values)
    for (const value of row)
      if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return { low: low > high / 2 && high - low > ALIKE * high ? low : 0, high };
}

/** The class of a value: 0 for the low end, `LEVELS` for the high one; −1 where it is not known. By the square root: the small ones stay apart where one is far above the others. */
export function levelOf(value: number | null | undefined, { low, high }: HeatRange): number {
  if (value === null || value === undefined) return -1;
  if (!(value > low) || !(high > low)) return 0;
  return clamp(Math.ceil(LEVELS * Math.sqrt((value - low) / (high - low)) - 1e-9), 1, LEVELS);
}

export interface Cells {
  width: number;
  height: number;
  /** Whether a value has room inside its cell. */
  texts: boolean;
  everyRow: number;
  everyColumn: number;
}

const TALLEST = 32;
const LOWEST_CELL = 5;
const THINNEST = 6;
const LABEL_HEIGHT = 14;
/** Of a time with its unit. */
const TEXT_WIDTH = 54;
/** Up to so many columns are wide enough for texts, and scroll where there is no room. */
const FEW_COLUMNS = 12;
/** More texts than this are a grey veil, and slow to draw. */
const MOST_TEXTS = 800;

/** Cells that fill the room, as far as they can be told apart; more of them than there is room for scroll. */
export function cellsOf(
  rows: number,
  columns: number,
  room: { width: number; height: number },
  labelWidth: number,
): Cells {
  const least = columns <= FEW_COLUMNS ? TEXT_WIDTH : THINNEST;
  const width = Math.max(least, Math.floor(room.width / Math.max(1, columns)));
  const height = clamp(Math.floor(room.height / Math.max(1, rows)), LOWEST_CELL, TALLEST);
  return {
    width,
    height,
    texts: width >= TEXT_WIDTH && height >= LABEL_HEIGHT + 2 && rows * columns <= MOST_TEXTS,
    everyRow: Math.ceil(LABEL_HEIGHT / height),
    everyColumn: Math.ceil(labelWidth / width),
  };
}

/** One path per class (the last one: unknown), so that a hundred thousand cells are eight elements. Cells that are large enough stand apart. */
export function levelPaths(
  values: HeatValues,
  order: readonly number[],
  range: HeatRange,
  { width, height }: Pick<Cells, "width" | "height">,
): string[] {
  const paths = Array.from({ length: LEVELS + 2 }, () => "");
  const gap = Math.min(width, height) > 20 ? 3 : 1;
  const [w, h] = [width > 8 ? width - gap : width, height > 8 ? height - gap : height];
  order.forEach((row, y) =>
    values[row]?.forEach((value, x) => {
      const level = levelOf(value, range);
      const place = level < 0 ? LEVELS + 1 : level;
      paths[place] = `${paths[place] ?? ""}M${x * width},${y * height}h${w}v${h}h-${w}z`;
    }),
  );
  return paths;
}
