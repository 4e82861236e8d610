/** The distance between two times that a person chose, the second one moving with the pointer until it is. */

import type { Slice, TimeRange } from "./types";

export class Measure {
  on = false;
  /** The first one, and the second one as it moves. */
  #times: number[] = [];
  /** Where it was begun, css px below the canvas' top. */
  y = 0;

  /** Begins anew, or lets go of everything. */
  turn(on: boolean): void {
    this.on = on;
    this.#times = [];
  }

  follow(time: () => number): void {
    if (this.on && this.#times.length > 0) this.#times[1] = time();
  }

  /** Chooses an end; the second one ends it. */
  put(time: number, y: number): void {
    if (this.#times.length > 0) {
      this.#times[1] = time;
      this.on = false;
    } else {
      this.#times = [time];
      this.y = y;
    }
  }

  /** `t1` may equal `t0`; `null` until both ends are chosen. */
  get range(): TimeRange | null {
    return this.on ? null : this.stretch;
  }

  /** The measured stretch while it is being chosen. */
  get stretch(): TimeRange | null {
    const times = this.#times;
    return times.length > 0 ? { t0: Math.min(...times), t1: Math.max(...times) } : null;
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
