/** What stays bright where everything else is dimmed, e.g. a path from slice to slice: a slice that lies on it, and a line below the part that does. */

import { firstWhere } from "../base/bisect";
import { endOnAxis, onAxis, ownAt } from "./clock";
import type { Context, Frame, Highlight, Row } from "./types";
import { topOf, xAt } from "./viewport";

/** Css px. */
const LINE = 3;
const LEAST = 1.5;

/** Asked for the slices of a lane in order of time. */
export class LaneHighlight {
  readonly #stretches: Float64Array;
  readonly #events: ReadonlySet<number>;
  #at = 0;
  #last = -Infinity;

  constructor({ lanes, events }: Highlight, lane: number) {
    this.#stretches = lanes.get(lane) ?? new Float64Array();
    this.#events = events;
  }

  /** Whether a slice stays bright; `event` −1: it stands for several. Own times. */
  has(event: number, begin: number, end: number): boolean {
    const stretches = this.#stretches;
    if (begin < this.#last) this.#at = 0;
    this.#last = begin;
    while (this.#at < stretches.length && (stretches[this.#at + 1] ?? 0) <= begin) this.#at += 2;
    return (stretches[this.#at] ?? Infinity) < end || this.#events.has(event);
  }
}

/** How much of a stretch of a lane is lit, own ns. */
export function highlightedTime(
  { lanes }: Highlight,
  lane: number,
  begin: number,
  end: number,
): number {
  const stretches = lanes.get(lane) ?? [];
  let time = 0;
  for (let i = 0; i < stretches.length; i += 2)
    time += Math.max(
      0,
      Math.min(end, stretches[i + 1] ?? 0) - Math.max(begin, stretches[i] ?? Infinity),
    );
  return time;
}

/** Lines at the foot of the rows; over rows that stand for several lanes the stretches of all of them, in their colours. */
export function drawHighlight(ctx: Context, frame: Frame, rows: readonly Row[]): void {
  for (const row of rows) {
    const highlight = frame.highlight[row.source];
    if (!highlight) continue;
    const { lanes, groups } = highlight;
    const { palette } = frame;
    const top = topOf(frame, row);
    const bottom = top + row.height - 1;
    const folded = row.below === "all" ? [...lanes.keys()] : row.below;
    for (const lane of folded)
      eachInSight(frame, row, lanes.get(lane), (from, width, i) => {
        ctx.fillStyle = palette.groups[groups.get(lane)?.[i] ?? -1] ?? palette.muted;
        ctx.fillRect(from, top + 1, width, row.height - 2);
      });
    if (row.below === "all") continue;
    ctx.fillStyle = palette.text;
    for (const lane of folded.length ? folded : [row.lane])
      eachInSight(frame, row, lanes.get(lane), (from, width) =>
        ctx.fillRect(from, bottom - LINE, width, LINE),
      );
  }
}

/** Calls `fn` for the stretches in view, with their columns in css px and their places in the lane. */
function eachInSight(
  frame: Frame,
  row: Row,
  stretches: Float64Array | undefined,
  fn: (from: number, width: number, place: number) => void,
): void {
  if (!stretches) return;
  const source = frame.sources[row.source];
  if (!source) return;
  const count = stretches.length / 2;
  const begin = ownAt(source, frame.view.t0);
  const first = firstWhere(0, count, (i) => (stretches[2 * i + 1] ?? 0) > begin);
  for (let i = first; i < count; i++) {
    const from = Math.max(-LINE, xAt(frame, onAxis(source, stretches[2 * i] ?? 0)));
    if (from > frame.width) break;
    const to = Math.min(
      frame.width + LINE,
      xAt(frame, endOnAxis(source, stretches[2 * i + 1] ?? 0)),
    );
    fn(from, Math.max(LEAST, to - from), i);
  }
}
