/** What the Iterations page draws: how long each iteration takes, and what it computed. */

import type { IterationsPayload } from "../../api/types.gen";
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
