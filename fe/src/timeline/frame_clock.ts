/** How long frames took, for those who measure: the last ones only. */

const KEPT = 600;

export class FrameClock {
  /** Main-thread time of each frame, ms. */
  readonly frames: number[] = [];
  readonly draws: number[] = [];

  add(frame: number, draw: number): void {
    push(this.frames, frame);
    push(this.draws, draw);
  }

  clear(): void {
    this.frames.length = 0;
    this.draws.length = 0;
  }
}

function push(values: number[], value: number): void {
  values.push(value);
  if (values.length > KEPT) values.shift();
}
