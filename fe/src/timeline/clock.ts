/**
 * Where the own times of a source stand on the axis: shifted by its offset or, beside another recording, along a line with gaps in which it waits.
 * Times are ns.
 */

import { firstWhere } from "../base/bisect";

/** A line through (axis, own); neither falls. Where own stands still the source waits. Beyond its ends both go on alike. */
export interface Line {
  axis: Float64Array;
  own: Float64Array;
}

export interface Placed {
  /** Add it to own times where there is no line. */
  offset: number;
  line?: Line | null;
}

/** From the point `i` of a line on: what stands for `value` on the other side. */
function along(from: Float64Array, to: Float64Array, i: number, value: number): number {
  const at = Math.max(0, i);
  const [a, b] = [from[at] ?? 0, to[at] ?? 0];
  const next = i < 0 ? undefined : from[i + 1];
  return next === undefined || next === a
    ? b + value - a
    : b + ((value - a) * ((to[i + 1] ?? b) - b)) / (next - a);
}

const behind = (values: Float64Array, value: number): number =>
  firstWhere(0, values.length, (i) => (values[i] ?? 0) > value);

/** Where something that begins at an own time stands on the axis: behind a gap that ends there. */
export function onAxis({ offset, line }: Placed, own: number): number {
  return line ? along(line.own, line.axis, behind(line.own, own) - 1, own) : own + offset;
}

/** Where something that ends at an own time stands on the axis: before a gap that begins there. */
export function endOnAxis({ offset, line }: Placed, own: number): number {
  if (!line) return own + offset;
  const at = firstWhere(0, line.own.length, (i) => (line.own[i] ?? 0) >= own);
  return at > 0 && line.own[at] === own
    ? (line.axis[at] ?? 0)
    : along(line.own, line.axis, at - 1, own);
}

/** The own time at a place of the axis; where the source waits, the one at which it does. */
export function ownAt({ offset, line }: Placed, time: number): number {
  return line ? along(line.axis, line.own, behind(line.axis, time) - 1, time) : time - offset;
}

/** How long something on the axis lasts on the source's own clock. */
export const ownLength = (
  placed: Placed,
  { start, end }: { start: number; end: number },
): number => (placed.line ? ownAt(placed, end) - ownAt(placed, start) : end - start);

/** `onAxis` and `endOnAxis` for times that mostly ascend, in px from the left edge of a view. */
export class Columns {
  readonly #line: Line;
  readonly #t0: number;
  readonly #scale: number;
  /** The piece that was asked for last: from when to when, where it begins, and px per ns. */
  #from = 0;
  #to = 0;
  #x = 0;
  #slope = 0;

  constructor(line: Line, t0: number, scale: number) {
    this.#line = line;
    this.#t0 = t0;
    this.#scale = scale;
  }

  begin(own: number): number {
    if (own < this.#from || own >= this.#to) this.#take(behind(this.#line.own, own) - 1, own);
    return this.#x + (own - this.#from) * this.#slope;
  }

  end(own: number): number {
    if (own <= this.#from || own > this.#to) {
      const { own: owns } = this.#line;
      const at = firstWhere(0, owns.length, (i) => (owns[i] ?? 0) >= own);
      // Where several points stand at that time the first.
      this.#take(own === owns[at] && at === 0 ? 0 : at - 1, own);
    }
    return this.#x + (own - this.#from) * this.#slope;
  }

  #take(i: number, own: number): void {
    const { axis, own: owns } = this.#line;
    const x = (time: number): number => (along(owns, axis, i, time) - this.#t0) * this.#scale;
    this.#from = i < 0 ? own : (owns[i] ?? 0);
    this.#to = owns[i + 1] ?? Infinity;
    const to = Math.min(this.#to, this.#from + 1e9);
    this.#x = x(this.#from);
    this.#slope = to > this.#from ? (x(to) - this.#x) / (to - this.#from) : this.#scale;
  }
}
