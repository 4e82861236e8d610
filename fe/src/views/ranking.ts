/** Parts of a whole: values summed by name, the largest few by themselves and the rest pooled. Shares are of the whole, never of the few. */

export interface Part {
  name: string;
  value: number;
  /** Fraction of the whole; 0 where the whole is 0. */
  share: number;
  /** How many names stand together in this part; 0 for a name of its own. */
  pooled: number;
}

export interface Whole {
  parts: Part[];
  total: number;
  /** Names before pooling. */
  names: number;
}

/** The name of the part that holds the rest. A real name may be equal: `pooled` tells them apart. */
export const REST = "other";

/**
 * The largest `top` names by summed value, largest first, then the rest as one part.
 *
 * @param top how many names stand by themselves; `null` for all
 * @param pooledRows how many rows the server pooled into the last row; that row always belongs to the rest
 */
export function rank(names: readonly string[], values: readonly (number | null)[], top: number | null, pooledRows = 0): Whole {
  const last = pooledRows > 0 ? names.length - 1 : names.length;
  const sums = new Map<string, number>();
  for (let i = 0; i < last; i++) {
    const name = names[i] ?? "";
    sums.set(name, (sums.get(name) ?? 0) + (values[i] ?? 0));
  }
  const ranked = [...sums].filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const keep = top === null ? ranked.length : Math.max(0, top);
  let rest = last < names.length ? (values[last] ?? 0) : 0;
  let restNames = last < names.length ? pooledRows : 0;
  for (const [, value] of ranked.slice(keep)) {
    rest += value;
    restNames += 1;
  }
  const total = ranked.slice(0, keep).reduce((sum, [, value]) => sum + value, rest);
  const parts = ranked.slice(0, keep).map(([name, value]) => part(name, value, total, 0));
  if (rest > 0) parts.push(part(REST, rest, total, restNames));
  return { parts, total, names: ranked.length + (last < names.length ? pooledRows : 0) };
}

function part(name: string, value: number, total: number, pooled: number): Part {
  return { name, value, share: total > 0 ? value / total : 0, pooled };
}

/** The sum of what is known; `null` when nothing is. */
export function knownSum(values: readonly (number | null)[]): number | null {
  let sum = 0;
  let known = 0;
  for (const value of values) {
    if (value === null) continue;
    sum += value;
    known += 1;
  }
  return known ? sum : null;
}
