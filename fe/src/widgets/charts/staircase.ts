import { clamp } from "../../base/clamp";
import { firstWhere } from "../../base/bisect";

export interface Window {
  t0: number;
  t1: number;
}

/** The path of a staircase through the points inside the window; null leaves a gap. `close`: the height down to which an area is filled. */
export function stairPath(
  time: readonly number[],
  values: readonly (number | null)[],
  { t0, t1 }: Window,
  x: (t: number) => number,
  y: (value: number) => number,
  close: number | null = null,
): string {
  let path = "";
  let open = false;
  const text = (value: number): string => `${Math.round(value * 10) / 10}`;
  const end = (t: number): void => {
    path += `H${text(x(Math.min(t, t1)))}`;
    if (close !== null) path += `V${close}Z`;
    open = false;
  };
  for (const [i, t] of time.entries()) {
    const value = values[i] ?? null;
    if (t > t1) break;
    if (value === null) {
      if (open) end(t);
      continue;
    }
    const [left, top] = [text(x(Math.max(t, t0))), text(y(value))];
    path += open ? `H${left}V${top}` : `M${left},${close ?? top}V${top}`;
    open = true;
  }
  if (open) end(t1);
  return path;
}

/** Each list on top of those before it: the sums up to and including it. */
export function stacked(lists: readonly (readonly number[])[]): number[][] {
  const sums: number[][] = [];
  for (const list of lists) {
    const below = sums[sums.length - 1];
    sums.push(list.map((value, i) => value + (below?.[i] ?? 0)));
  }
  return sums;
}

/** The point whose value holds at a time; −1 before the first. */
export function pointAt(time: readonly number[], t: number): number {
  return firstWhere(0, time.length, (i) => (time[i] ?? 0) > t) - 1;
}

/** A window of another length around a time that stays where it is, inside the whole. */
export function zoomed({ t0, t1 }: Window, around: number, factor: number, whole: Window): Window {
  const length = Math.min(whole.t1 - whole.t0, Math.max(1, Math.round((t1 - t0) * factor)));
  const begin = Math.round(around - ((around - t0) / (t1 - t0)) * length);
  const from = clamp(begin, whole.t0, whole.t1 - length);
  return { t0: from, t1: from + length };
}
