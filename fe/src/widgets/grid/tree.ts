/** Tables whose rows lie beneath each other: which are shown, in which order, and which are folded. Search, order and folding are pure. */

import { useMemo, useState } from "preact/hooks";
import { foundFlags, sortKeys, sortRows, type Shown, type Wanted } from "./order";

/** As many rows may be seen at first, and more only where fewer than the least were. */
const ROOM = 40;
const LEAST = 4;

/** Number of rows above each row. A parent stands before its children; one that does not counts as none. */
export function levelsOf(parent: ArrayLike<number>): Uint16Array {
  const levels = new Uint16Array(parent.length);
  for (let row = 0; row < parent.length; row++) {
    const above = parentOf(parent, row);
    if (above >= 0) levels[row] = Math.min(65_535, (levels[above] ?? 0) + 1);
  }
  return levels;
}

export function parentOf(parent: ArrayLike<number>, row: number): number {
  const above = parent[row] ?? -1;
  return above < row ? above : -1;
}

/** The deepest level whose rows all have room to be seen at first; at least a few rows. */
export function firstLevel(levels: Uint16Array): number {
  const counts: number[] = [];
  for (const level of levels) counts[level] = (counts[level] ?? 0) + 1;
  let seen = 0;
  for (let level = 0; level < counts.length; level++) {
    const before = seen;
    seen += counts[level] ?? 0;
    if (seen > ROOM && before >= LEAST) return level - 1;
  }
  return counts.length;
}

export interface TreeShown extends Shown {
  /** Rows above a row that the search found; null without a search. */
  above: Uint8Array | null;
}

/** Every row that the search leaves, siblings in order, each before what is beneath it. What is around and beneath a found row stays. */
export function treeRows(
  wanted: Omit<Wanted, "pinned">,
  parent: ArrayLike<number>,
  searching: boolean,
): TreeShown {
  const { columns, rowCount, matcher, searchIn, sort } = wanted;
  const { flags, error } = foundFlags(columns, rowCount, matcher, searchIn);
  const above = new Uint8Array(rowCount);
  const visible = Uint8Array.from(flags);
  let found = 0;
  for (let row = rowCount - 1; row >= 0; row--) {
    found += flags[row] ?? 0;
    const up = parentOf(parent, row);
    if (up >= 0 && (flags[row] || above[row])) above[up] = 1;
  }
  for (let row = 0; row < rowCount; row++) {
    const up = parentOf(parent, row);
    if (up >= 0 && flags[up]) flags[row] = 1;
    visible[row] = flags[row] || above[row] ? 1 : 0;
  }
  const rows = Uint32Array.from({ length: rowCount }, (_, row) => row);
  const column = sort ? columns.find((candidate) => candidate.key === sort.key) : undefined;
  if (sort && column) sortRows(rows, sortKeys(column, rowCount), sort.descending);
  return {
    rows: inTreeOrder(rows, parent, visible),
    found,
    error,
    above: searching && !error ? above : null,
  };
}

/** Rows, or those that are kept, each before those beneath it; siblings stay in the order in which they come. */
export function inTreeOrder(
  sorted: Uint32Array,
  parent: ArrayLike<number>,
  kept?: Uint8Array,
): Uint32Array {
  const count = sorted.length;
  // The last sibling first, so that a stack gives the first one back first.
  const next = new Int32Array(count).fill(-1);
  const first = new Int32Array(count + 1).fill(-1);
  for (let i = count - 1; i >= 0; i--) {
    const row = sorted[i] ?? 0;
    const up = parentOf(parent, row) + 1;
    next[row] = first[up] ?? -1;
    first[up] = row;
  }
  const rows = new Uint32Array(count);
  let end = 0;
  const path: number[] = [];
  let row = first[0] ?? -1;
  while (row >= 0 || path.length) {
    if (row < 0) {
      row = next[path.pop() ?? 0] ?? -1;
    } else if (!kept || kept[row]) {
      rows[end++] = row;
      path.push(row);
      row = first[row + 1] ?? -1;
    } else row = next[row] ?? -1;
  }
  return rows.subarray(0, end);
}

export function unfoldedRows(
  rows: Uint32Array,
  levels: Uint16Array,
  isOpen: (row: number) => boolean,
): Uint32Array {
  const seen = new Uint32Array(rows.length);
  let end = 0;
  let hidden = Infinity;
  for (const row of rows) {
    const level = levels[row] ?? 0;
    if (level > hidden) continue;
    hidden = isOpen(row) ? Infinity : level;
    seen[end++] = row;
  }
  return seen.subarray(0, end);
}

/** How the rows of a tree are folded. */
export interface Folding {
  levels: Uint16Array;
  canOpen: (row: number) => boolean;
  isOpen: (row: number) => boolean;
  toggle: (row: number) => void;
  all: (open: boolean) => void;
}

interface Folds {
  /** The state of rows that nobody touched, and under which search; null: the default. */
  all: { open: boolean; search: string } | null;
  /** Rows that somebody opened or folded, by the search during which they did and the row's key. */
  touched: ReadonlyMap<string, boolean>;
}

const UNTOUCHED: Folds = { all: null, touched: new Map() };

/** Null where the table is no tree. Under a search what leads to a found row is open. */
export function useFolding(
  parent: ArrayLike<number> | undefined,
  above: Uint8Array | null,
  search: string,
  rowKey: ((row: number) => string) | undefined,
  summary: ((row: number) => boolean) | undefined,
): Folding | null {
  const [folds, setFolds] = useState(UNTOUCHED);
  const shape = useMemo(() => {
    if (!parent) return null;
    const levels = levelsOf(parent);
    const children = new Uint8Array(parent.length);
    const beneath = new Uint8Array(parent.length);
    for (let row = 0; row < parent.length; row++) {
      const up = parentOf(parent, row);
      if (up < 0) continue;
      children[up] = 1;
      beneath[row] = beneath[up] || summary?.(up) ? 1 : 0;
    }
    return { levels, children, first: firstLevel(levels.filter((_, row) => !beneath[row])) };
    // As `rowKey` below.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [parent]);
  return useMemo(() => {
    if (!shape) return null;
    const keyOf = (row: number): string => `${search}\n${rowKey?.(row) ?? row}`;
    const untouched = (row: number): boolean =>
      (folds.all?.search === search ? folds.all.open : null) ??
      (above
        ? above[row] === 1
        : (shape.levels[row] ?? 0) < shape.first && !(summary?.(row) ?? false));
    const isOpen = (row: number): boolean =>
      (folds.touched.size ? folds.touched.get(keyOf(row)) : undefined) ?? untouched(row);
    return {
      levels: shape.levels,
      canOpen: (row) => shape.children[row] === 1,
      isOpen,
      toggle: (row) =>
        setFolds({ ...folds, touched: new Map(folds.touched).set(keyOf(row), !isOpen(row)) }),
      all: (open) => setFolds({ all: { open, search }, touched: new Map() }),
    };
    // `rowKey` is a new function with each draw, but says the same for the same tree.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [shape, folds, above, search]);
}
