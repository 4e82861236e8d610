import { clamp } from "../../base/clamp";
/** Classes above 0. Their bounds are `max · (k / LEVELS)²`: the small ones stay apart where one value is far above the others. */
export const LEVELS = 6;

export type HeatValues = readonly (readonly (number | null)[])[];

/** The upper bounds of the classes 1 to `LEVELS`. */
export function levelBounds(max: number): number[] {
  return Array.from({ length: LEVELS }, (_, i) => max * ((i + 1) / LEVELS) ** 2);
}

/** The class of a value: 0 for nothing at all, `LEVELS` for the largest; −1 where it is not known. */
export function levelOf(value: number | null | undefined, max: number): number {
  if (value === null || value === undefined) return -1;
  if (!(value > 0) || !(max > 0)) return 0;
  return clamp(Math.ceil(LEVELS * Math.sqrt(value / max) - 1e-9), 1, LEVELS);
}

export function largestIn(values: HeatValues): number {
  return values.reduce(
    (most, row) => row.reduce<number>((of, value) => Math.max(of, value ?? 0), most),
    0,
  );
}

export interface Cells {
  width: number;
  height: number;
  /** Whether a value has room inside its cell. */
  texts: boolean;
  everyRow: number;
  everyColumn: number;
}

const TALLEST = 26;
export const LOWEST_CELL = 5;
const THINNEST = 6;
const LABEL_HEIGHT = 14;
const TEXT_WIDTH = 52;
/** More texts than this are a grey veil, and slow to draw. */
const MOST_TEXTS = 800;

/** Cells that fill the room, as far as they can be told apart; more of them than there is room for scroll. */
export function cellsOf(
  rows: number,
  columns: number,
  room: { width: number; height: number },
  labelWidth: number,
  lowest = LOWEST_CELL,
): Cells {
  const width = Math.max(THINNEST, Math.floor(room.width / Math.max(1, columns)));
  const height = clamp(Math.floor(room.height / Math.max(1, rows)), lowest, TALLEST);
  return {
    width,
    height,
    texts: width >= TEXT_WIDTH && height >= LABEL_HEIGHT + 2 && rows * columns <= MOST_TEXTS,
    everyRow: Math.ceil(LABEL_HEIGHT / height),
    everyColumn: Math.ceil(labelWidth / width),
  };
}

/** One path per class (the last one: unknown), so that a hundred thousand cells are eight elements. A cell leaves a line of 1 px to the next where it is large enough. */
export function levelPaths(
  values: HeatValues,
  order: readonly number[],
  max: number,
  { width, height }: Cells,
): string[] {
  const paths = Array.from({ length: LEVELS + 2 }, () => "");
  const [w, h] = [width > 8 ? width - 1 : width, height > 8 ? height - 1 : height];
  order.forEach((row, y) =>
    values[row]?.forEach((value, x) => {
      const level = levelOf(value, max);
      const place = level < 0 ? LEVELS + 1 : level;
      paths[place] = `${paths[place] ?? ""}M${x * width},${y * height}h${w}v${h}h-${w}z`;
    }),
  );
  return paths;
}
