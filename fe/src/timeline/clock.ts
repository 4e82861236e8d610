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
  const last = from.length - 1;
  const at = Math.min(Math.max(i, 0), Math.max(0, last - 1));
  const [a0 = 0, a1 = a0] = [from[at], from[at + 1]];
  const [b0 = 0, b1 = b0] = [to[at], to[at + 1]];
  if (i < 0) return b0 + value - a0;
  if (i >= last) return (to[last] ?? 0) + value - (from[last] ?? 0);
  return a1 > a0 ? b0 + ((value - a0) * (b1 - b0)) / (a1 - a0) : b0;
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
  #at = -1;

  constructor(line: Line, t0: number, scale: number) {
    this.#line = line;
    this.#t0 = t0;
    this.#scale = scale;
  }

  begin(own: number): number {
    this.#seek(own);
    return this.#x(own);
  }

  end(own: number): number {
    const { own: owns } = this.#line;
    this.#seek(own);
    while ((owns[this.#at - 1] ?? -Infinity) >= own) this.#at--;
    return this.#x(own);
  }

  #seek(own: number): void {
    const { own: owns } = this.#line;
    if (own >= (owns[this.#at] ?? -Infinity) && own < (owns[this.#at + 1] ?? Infinity)) return;
    this.#at = behind(owns, own) - 1;
  }

  #x(own: number): number {
    const { axis, own: owns } = this.#line;
    return (along(owns, axis, this.#at, own) - this.#t0) * this.#scale;
  }
}
