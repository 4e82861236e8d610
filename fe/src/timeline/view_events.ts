/** When the view around the timeline is told what is in sight: at once at first, then when it has rested, and now and then while it moves. */

import type { VisibleRange } from "./props";
import type { TimeRange } from "./types";

const REST = 120;
const MEANWHILE = 400;
const SETTLED = 250;

export class ViewEvents {
  readonly #onVisible: (visible: VisibleRange) => void;
  readonly #onSettled: (view: TimeRange) => void;
  #visible: VisibleRange | null = null;
  #toldAt = -Infinity;
  #restTimer: ReturnType<typeof setTimeout> | undefined;
  #settledTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(onVisible: (visible: VisibleRange) => void, onSettled: (view: TimeRange) => void) {
    this.#onVisible = onVisible;
    this.#onSettled = onSettled;
  }

  see(now: number, visible: VisibleRange): void {
    const before = this.#visible;
    if (before && sameRange(before, visible)) return;
    this.#visible = visible;
    if (!before) {
      this.#tell(now);
      return;
    }
    clearTimeout(this.#restTimer);
    this.#restTimer = undefined;
    if (now - this.#toldAt >= MEANWHILE) this.#tell(now);
    else this.#restTimer = setTimeout(() => this.#tell(now + REST), REST);
    if (sameView(before.view, visible.view)) return;
    clearTimeout(this.#settledTimer);
    this.#settledTimer = setTimeout(() => {
      this.#settledTimer = undefined;
      this.#onSettled(this.#visible?.view ?? visible.view);
    }, SETTLED);
  }

  /** Something was seen that the view around has not been told of. */
  get pending(): boolean {
    return this.#restTimer !== undefined || this.#settledTimer !== undefined;
  }

  end(): void {
    clearTimeout(this.#restTimer);
    clearTimeout(this.#settledTimer);
  }

  #tell(now: number): void {
    this.#restTimer = undefined;
    this.#toldAt = now;
    if (this.#visible) this.#onVisible(this.#visible);
  }
}

function sameView(a: TimeRange, b: TimeRange): boolean {
  return a.t0 === b.t0 && a.t1 === b.t1;
}

function sameRange(a: VisibleRange, b: VisibleRange): boolean {
  return a.width === b.width && sameView(a.view, b.view) && a.rows === b.rows;
}
