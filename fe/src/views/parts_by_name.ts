/** Values summed by name, as the parts of a chart. The chart itself keeps the largest and pools the rest. */

import { otherColor } from "../base/theme";
import { formatCount } from "../base/units";
import { OTHER, type Part } from "../widgets";

/** Stands before every key, so that a name that reads like the charts' own pooled part stays apart from it. */
const MARK = "=";

/** The name behind a part's key; `null` for a part that stands for many. */
export function nameOfKey(key: string): string | null {
  return key.startsWith(MARK) ? key.slice(MARK.length) : null;
}

/**
 * One part per name with a value above 0; unknown values add nothing.
 *
 * @param pooled how many rows the server pooled into the last row, which then is a part of its own that stands for many
 * @param labels short names to draw, one per row
 * @param found the rows that count; otherwise all
 */
export function partsByName(
  names: readonly string[],
  values: readonly (number | null)[],
  pooled = 0,
  labels?: readonly string[],
  found?: Uint32Array,
): Part[] {
  const last = pooled > 0 ? names.length - 1 : names.length;
  const parts = new Map<string, Part>();
  for (const row of found ?? names.keys()) {
    if (row >= last) continue;
    const name = names[row] ?? "";
    const value = values[row] ?? 0;
    const part = parts.get(name);
    if (part) part.value += value;
    else if (value > 0)
      parts.set(name, { key: MARK + name, label: labels?.[row] ?? name, title: name, value });
  }
  const counts = last < names.length && (!found || found.includes(last));
  const rest = counts ? (values[last] ?? 0) : 0;
  const many: Part[] =
    rest > 0
      ? [{ key: OTHER, label: `${formatCount(pooled)} more rows`, value: rest, color: otherColor }]
      : [];
  return [...parts.values(), ...many].sort((a, b) => b.value - a.value || (a.key < b.key ? -1 : 1));
}
