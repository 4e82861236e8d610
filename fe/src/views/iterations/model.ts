/** What the Iterations page draws: a mark and a bar per iteration. Pure. */

import type { IterationsPayload } from "../../api/types.gen";
import { format, formatCount, formatNumber, formatTime } from "../../base/units";
import type { RoofPoint, StackedBar } from "../../widgets";
import { rowsOf, type RowOf } from "../rows";

type Iterations = IterationsPayload["iterations"];
type Iteration = RowOf<Iterations>;

export const PHASES = ["prefill", "decode", "mixed", "other"] as const;
/** More marks would hide each other; the table has every row. */
const MOST_POINTS = 2000;

/** The phases that occur, in their order. */
export const phasesOf = ({ phase }: Iterations): string[] =>
  PHASES.filter((name) => phase.includes(name));

/** A long annotation of vLLM without the sums that only formulas need. */
export const shortName = (name: string): string =>
  name.length > 48 ? name.replace(/sk\d+sqsq\d+sqsk\d+/g, "") : name;

export const tokensOf = ({ context_tokens, generation_tokens }: Iteration): number | null =>
  context_tokens === null || generation_tokens === null ? null : context_tokens + generation_tokens;

/** `step[DECODE bs=32] · steady`. */
export const titleOf = ({ name, part, odd }: Iteration): string =>
  [shortName(name), part, odd ? "odd" : ""].filter(Boolean).join(" · ");

/** Time over tokens; iterations of which the tokens are not known have no mark. */
export function marksOf(table: Iterations, only: number | null): RoofPoint[] {
  const phases = phasesOf(table);
  const drawn = rowsOf(table).filter((row) => tokensOf(row) && row.wall_ns > 0);
  const every = Math.ceil(drawn.length / MOST_POINTS);
  return drawn
    .filter((row, i) => i % every === 0 || row.odd)
    .map((row) => ({
      key: String(row.step),
      title: titleOf(row),
      intensity: tokensOf(row) ?? 0,
      rate: row.wall_ns,
      size: row.odd ? 2 : 1,
      group: phases.indexOf(row.phase),
      figures: [
        ["Tokens", formatCount(tokensOf(row))],
        ["Time", formatTime(row.wall_ns)],
        ["Gap before", formatTime(row.gap_ns)],
        ["Tokens/s", formatNumber(row.tokens_per_second)],
      ],
      selected: row.step === only,
    }));
}

/** The time between tokens, a bar per iteration; pale outside the steady state where one was found. */
export function barsOf(table: Iterations): StackedBar[] {
  const steady = table.part.includes("steady");
  const phases = phasesOf(table);
  return rowsOf(table).map((row) => ({
    key: row.step,
    label: String(row.step),
    title: `iteration ${row.step}: ${titleOf(row)}`,
    values: phases.map((phase) => (phase === row.phase ? (row.interval_ns ?? row.wall_ns) : 0)),
    faded: steady && row.part !== "steady",
    note: `${formatNumber(row.tokens_per_second)} tokens/s, gap before ${format(row.gap_ns, "ns")}`,
    ...(row.odd ? { mark: "odd among its phase" } : {}),
  }));
}
