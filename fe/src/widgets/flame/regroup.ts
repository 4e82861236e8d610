/** A flame graph's frames merged anew: equal ones side by side, recursion, and those that lead to a frame or that it leads to. Pure; linear in frames, callers in frames × depth. */

import { parentOf } from "../grid/tree";

/** New frames, parents before children, and which frame counts at which new one. */
export interface Regrouped {
  parent: number[];
  /** The frame that a new one is shown as: that with the most of the value. */
  source: number[];
  /** New frame and frame of each contribution; the same frame may count at several new ones. */
  into: number[];
  from: number[];
  /** The frames whose kind and name a contribution has; of callers not the one whose time counts. */
  as: number[];
}

interface Tree {
  parent: ArrayLike<number>;
  /** Frames with one key are the same function. */
  key: ArrayLike<number>;
}

/** New frames by their keys and the frames around them, and what counts at each. */
function growing(key: ArrayLike<number>) {
  const grown: Regrouped = { parent: [], source: [], into: [], from: [], as: [] };
  const { parent, source, into, from, as } = grown;
  const nodes = new Map<number, number>();
  const keys = 1 + Array.from(key).reduce((most, each) => Math.max(most, each), 0);
  /** A frame counts at the new frame of a key beneath another new one, which is what comes back. */
  const count = (above: number, key: number, row: number, shown = row): number => {
    const place = (above + 1) * keys + key;
    const node = nodes.get(place) ?? parent.push(above) - 1;
    nodes.set(place, node);
    into.push(node);
    from.push(row);
    as.push(shown);
    return node;
  };
  const done = (value: ArrayLike<number | null>): Regrouped => {
    const best: number[] = [];
    into.forEach((node, i) => {
      const own = value[from[i] ?? 0] ?? 0;
      if (own <= (best[node] ?? -1)) return;
      best[node] = own;
      source[node] = as[i] ?? 0;
    });
    return grown;
  };
  return { count, done };
}

/**
 * Siblings of one key become one frame, and with `recursion` a frame directly beneath one of its own key joins it.
 *
 *     net ─ Linear_0 ─ mm                net ─ Linear ─ mm
 *         └ Linear_1 ─ mm          ▶
 */
export function mergeFrames(
  { parent, key }: Tree,
  value: ArrayLike<number | null>,
  recursion: boolean,
): Regrouped {
  const grown = growing(key);
  const node = new Int32Array(parent.length);
  for (let row = 0; row < parent.length; row++) {
    const up = parentOf(parent, row);
    if (recursion && up >= 0 && key[up] === key[row]) node[row] = node[up] ?? 0;
    else node[row] = grown.count(up < 0 ? -1 : (node[up] ?? 0), key[row] ?? 0, row);
  }
  return grown.done(value);
}

/** The frames of a key that lie in no other one of it: within them its time counts once. */
export function outermost({ parent, key }: Tree, wanted: number): number[] {
  const within = new Uint8Array(parent.length);
  const rows: number[] = [];
  for (let row = 0; row < parent.length; row++) {
    const up = parentOf(parent, row);
    if (up >= 0 && within[up]) within[row] = 1;
    else if (key[row] === wanted) {
      within[row] = 1;
      rows.push(row);
    }
  }
  return rows;
}

/** The frame itself, and each caller beneath what it called: as wide as the part of the time that came that way. */
export function callersOf(tree: Tree, value: ArrayLike<number | null>, wanted: number): Regrouped {
  const grown = growing(tree.key);
  for (const row of outermost(tree, wanted)) {
    let node = -1;
    for (let at = row; at >= 0; at = parentOf(tree.parent, at)) {
      node = grown.count(node, tree.key[at] ?? 0, row, at);
    }
  }
  return grown.done(value);
}

/** The frame itself with all that it calls, wherever it was called from. */
export function calleesOf(tree: Tree, value: ArrayLike<number | null>, wanted: number): Regrouped {
  const grown = growing(tree.key);
  const node = new Int32Array(tree.parent.length).fill(-1);
  const begins = new Uint8Array(tree.parent.length);
  for (const row of outermost(tree, wanted)) begins[row] = 1;
  for (let row = 0; row < node.length; row++) {
    const up = parentOf(tree.parent, row);
    const above = up < 0 ? -1 : (node[up] ?? -1);
    if (!begins[row] && above < 0) continue;
    node[row] = grown.count(above, tree.key[row] ?? 0, row);
  }
  return grown.done(value);
}

/** Sums of a column at each new frame; null where nothing known counts. */
export function sumsOf(
  { parent, into, from }: Regrouped,
  values: ArrayLike<number | null>,
): (number | null)[] {
  const sums: (number | null)[] = parent.map(() => null);
  into.forEach((node, i) => {
    const value = values[from[i] ?? 0] ?? null;
    if (value !== null) sums[node] = (sums[node] ?? 0) + value;
  });
  return sums;
}

/** How many different names were merged into each new frame. */
export function namesOf({ parent, into, as }: Regrouped, names: readonly string[]): number[] {
  const seen = parent.map(() => new Set<string>());
  into.forEach((node, i) => seen[node]?.add(names[as[i] ?? 0] ?? ""));
  return seen.map(({ size }) => size);
}

/** Equal texts get equal numbers, in the order of their first appearance. */
export function keysOf(texts: readonly string[]): Int32Array {
  const numbers = new Map<string, number>();
  return Int32Array.from(texts, (text) => {
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    return number;
  });
}

/** Self time of each frame: what its children do not cover, at least nothing. */
export function ownOf(parent: ArrayLike<number>, value: ArrayLike<number | null>): Float64Array {
  const own = Float64Array.from({ length: parent.length }, (_, row) => value[row] ?? 0);
  for (let row = 0; row < parent.length; row++) {
    const up = parentOf(parent, row);
    if (up >= 0) own[up] = (own[up] ?? 0) - (value[row] ?? 0);
  }
  return own.map((time) => Math.max(0, time));
}
