/** What the Iterations page draws: where each iteration lies in time, what it computed, and which ones are named. */

import type { IterationsPayload } from "../../api/types.gen";
import { firstWhere } from "../../base/bisect";
import { formatCount, formatNumber, formatTime } from "../../base/units";
import { type RowOf, rowsOf } from "../rows";

export type Iterations = IterationsPayload["iterations"];
export type Iteration = RowOf<Iterations>;

/** Decoding waits for memory, a prompt for arithmetic. */
export const LOOKS = [
  { key: "decode", label: "decode", color: "var(--copies)" },
  { key: "prompt", label: "with a prompt", color: "var(--compute)" },
  { key: "other", label: "other", color: "var(--host)" },
] as const;
export type Look = (typeof LOOKS)[number]["key"];

export const lookOf = (phase: string): Look =>
  phase === "decode" ? "decode" : phase === "mixed" || phase === "prefill" ? "prompt" : "other";

export interface Drawn {
  step: number;
  look: Look;
  odd: boolean;
  /** The recorded part, ns after the trace's first event. */
  begin: number;
  end: number;
  /** Null: not known. */
  requests: number | null;
  tokens: number | null;
  title: string;
  figures: readonly (readonly [string, string])[];
}

const both = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : a + b;

export const tokensOf = (row: Iteration): number | null =>
  both(row.context_tokens, row.generation_tokens);

/** A long annotation of vLLM without the sums that only formulas need. */
export const shortName = (name: string): string =>
  name.length > 48 ? name.replace(/sk\d+sqsq\d+sqsk\d+/g, "") : name;

/** `iteration 57: decode, steady, odd`. */
export const titleOf = ({ step, phase, part, odd }: Iteration): string =>
  `iteration ${step}: ${[phase, part, odd ? "odd" : ""].filter(Boolean).join(", ")}`;

/** A rate that is known, or its bounds. */
const rangeOf = (least: number | null, most: number | null): string => {
  const [low, high] = [formatNumber(least), formatNumber(most)];
  return least === null || low === high ? high : `${low} to ${high}`;
};

export const drawnOf = (table: Iterations): Drawn[] =>
  rowsOf(table).map((row) => {
    const begin = row.begin_ns + row.earlier_ns;
    const requests = both(row.context_requests, row.generation_requests);
    return {
      step: row.step,
      look: lookOf(row.phase),
      odd: row.odd,
      begin,
      end: begin + row.wall_ns,
      requests,
      tokens: tokensOf(row),
      title: titleOf(row),
      figures: [
        ["Time", formatTime(row.wall_ns)],
        ["Requests", formatCount(requests)],
        ["Tokens", formatCount(tokensOf(row))],
        [
          "Prompt tokens/s",
          rangeOf(row.least_prompt_tokens_per_second, row.prompt_tokens_per_second),
        ],
        ["Generated tokens/s", rangeOf(row.least_tokens_per_second, row.tokens_per_second)],
        ["Gap before", formatTime(row.gap_ns)],
      ],
    };
  });

export const lengthOf = ({ begin, end }: Drawn): number => end - begin;

/** Rectangles of some bars as one path; of several in one pixel the tallest. `x` and `y` give places in px. */
export function barsPath(
  bars: readonly Drawn[],
  x: (time: number) => number,
  y: (length: number) => number,
): string {
  const foot = y(0);
  const tallest = new Map<number, { from: number; wide: number; top: number }>();
  for (const bar of bars) {
    const from = x(bar.begin);
    const wide = Math.max(1, x(bar.end) - from);
    const top = Math.min(y(lengthOf(bar)), foot - 1);
    const pixel = Math.floor(from);
    const known = tallest.get(pixel);
    if (!known || top < known.top) tallest.set(pixel, { from, wide, top });
  }
  return [...tallest.values()]
    .map(
      ({ from, wide, top }) =>
        `M${from.toFixed(1)},${foot}V${top.toFixed(1)}h${wide.toFixed(1)}V${foot}z`,
    )
    .join("");
}

/** The number of requests as a line of steps; it breaks where the number is not known. */
export function requestsPath(
  bars: readonly Drawn[],
  x: (time: number) => number,
  y: (requests: number) => number,
): string {
  let path = "";
  let open = false;
  let last = "";
  for (const { begin, end, requests } of bars) {
    if (requests === null) {
      open = false;
      continue;
    }
    const [from, to, at] = [x(begin).toFixed(1), x(end).toFixed(1), y(requests).toFixed(1)];
    if (!open) path += `M${from},${at}`;
    else if (at !== last) path += `H${from}V${at}`;
    path += `H${to}`;
    open = true;
    last = at;
  }
  return path;
}

/** The iteration at a time, or the nearest one before it. */
export const indexAt = (bars: readonly Drawn[], time: number): number =>
  Math.max(0, firstWhere(0, bars.length, (i) => (bars[i]?.begin ?? 0) > time) - 1);

export interface NamedBar {
  index: number;
  text: string;
  x: number;
  anchor: "start" | "end";
}

const LETTER = 6.6;
const MOST_NAMED = 8;

/** Names beside the tallest odd bars: to the left, else to the right, their times alone where a name would cover another one or leave the chart, else none. */
export function namesOf(
  bars: readonly Drawn[],
  x: (time: number) => number,
  left: number,
  right: number,
): NamedBar[] {
  const taken: (readonly [number, number])[] = [];
  const odd = bars
    .flatMap((bar, index) => (bar.odd ? [{ bar, index }] : []))
    .sort((a, b) => lengthOf(b.bar) - lengthOf(a.bar))
    .slice(0, MOST_NAMED);
  for (const { bar } of odd) taken.push([x(bar.begin), x(bar.end)]);
  return odd.flatMap(({ bar, index }) => {
    const time = formatTime(lengthOf(bar));
    const [from, to] = [x(bar.begin) - 6, Math.max(x(bar.end), x(bar.begin) + 1) + 6];
    for (const text of [`iteration ${bar.step}, ${time}`, time]) {
      const wide = text.length * LETTER;
      for (const [a, b, at, anchor] of [
        [from - wide, from, from, "end"],
        [to, to + wide, to, "start"],
      ] as const) {
        if (a < left || b > right || taken.some(([c, d]) => a < d && c < b)) continue;
        taken.push([a, b]);
        return [{ index, text, x: at, anchor }];
      }
    }
    return [];
  });
}

export interface LogScale {
  ticks: readonly number[];
  /** The place of a value as a fraction of the axis. */
  at: (value: number) => number;
}

/** A logarithmic axis around some values above 0: ticks at 1, 2 and 5, or at powers of ten where there are many. */
export function logScale(values: readonly number[]): LogScale {
  const logs = values.map(Math.log10);
  const [least, most] = [Math.min(...logs), Math.max(...logs)];
  const air = Math.max(0.08 * (most - least), 0.15);
  const [from, to] = [least - air, most + air];
  const marks = to - from > 2.5 ? [1] : [1, 2, 5];
  const ticks: number[] = [];
  for (let power = Math.floor(from); power <= to; power++)
    for (const mark of marks) {
      const tick = mark * 10 ** power;
      if (Math.log10(tick) >= from && Math.log10(tick) <= to) ticks.push(tick);
    }
  return { ticks, at: (value) => (Math.log10(value) - from) / (to - from) };
}
