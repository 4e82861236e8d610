/** The distance between two times that a person chose, the second one moving with the pointer until it is. */

import type { Slice, TimeRange } from "./types";

export class Measure {
  on = false;
  #first: number | null = null;
  #second: number | null = null;
  #fixed = false;
  /** Where it was begun, css px below the canvas' top. */
  y = 0;

  /** Begins anew, or lets go of everything. */
  turn(on: boolean): void {
    this.on = on;
    this.#first = this.#second = null;
    this.#fixed = false;
  }

  follow(time: () => number): void {
    if (this.on && this.#first !== null) this.#second = time();
  }

  /** Chooses an end; the second one ends it. */
  put(time: number, y: number): void {
    if (this.#first === null) {
      this.#first = time;
      this.y = y;
      return;
    }
    this.#second = time;
    this.#fixed = true;
    this.on = false;
  }

  /** `t1` may equal `t0`; `null` until both ends are chosen. */
  get range(): TimeRange | null {
    return this.#fixed ? this.stretch : null;
  }

  /** The same while it is being chosen. */
  get stretch(): TimeRange | null {
    const first = this.#first;
    if (first === null) return null;
    const other = this.#second ?? first;
    return { t0: Math.min(first, other), t1: Math.max(first, other) };
  }
}

/** The nearest begin or end of some slices, where one is near enough; else the time itself. ns. */
export function snapped(
  time: number,
  slices: readonly (Pick<Slice, "start" | "end"> | null)[],
  reach: number,
): number {
  let best = time;
  let distance = reach;
  for (const edge of slices.flatMap((slice) => (slice ? [slice.start, slice.end] : []))) {
    const away = Math.abs(edge - time);
    if (away <= distance) [best, distance] = [edge, away];
  }
  return best;
}
