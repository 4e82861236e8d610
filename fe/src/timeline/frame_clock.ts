/** How long frames took, for those who measure: the last ones only. */

const KEPT = 600;

export class FrameClock {
  /** Main-thread time of each frame, ms. */
  readonly frames: number[] = [];
  readonly draws: number[] = [];
  /** Time from one frame to the next while moving, ms. */
  readonly gaps: number[] = [];
  #last: number | null = null;

  add(now: number, frame: number, draw: number, moving: boolean): void {
    push(this.frames, frame);
    push(this.draws, draw);
    if (moving && this.#last !== null) push(this.gaps, now - this.#last);
    this.#last = moving ? now : null;
  }

  clear(): void {
    this.frames.length = 0;
    this.draws.length = 0;
    this.gaps.length = 0;
    this.#last = null;
  }
}

function push(values: number[], value: number): void {
  values.push(value);
  if (values.length > KEPT) values.shift();
}
