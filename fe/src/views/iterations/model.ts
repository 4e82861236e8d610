/** What the Iterations page draws: a mark and a bar per iteration. Pure. */

import type { IterationsPayload } from "../../api/types.gen";
import { format, formatCount, formatNumber, formatTime } from "../../base/units";
import type { RoofPoint, StackedBar } from "../../widgets";

type Iterations = IterationsPayload["iterations"];

export const PHASES = ["prefill", "decode", "mixed", "other"] as const;
/** More marks would hide each other; the table has every row. */
const MOST_POINTS = 2000;

/** The phases that occur, in their order. */
export const phasesOf = ({ phase }: Iterations): string[] =>
  PHASES.filter((name) => phase.includes(name));

/** A long annotation of vLLM without the sums that only formulas need. */
export const shortName = (name: string | null): string | null =>
  name && name.length > 48 ? name.replace(/sk\d+sqsq\d+sqsk\d+/g, "") : name;

export function tokensOf(rows: Iterations, row: number): number | null {
  const [context, generation] = [rows.context_tokens[row], rows.generation_tokens[row]];
  return typeof context === "number" && typeof generation === "number"
    ? context + generation
    : null;
}

/** `step[DECODE bs=32] · steady`. */
export const titleOf = (rows: Iterations, row: number): string =>
  [shortName(rows.name[row] ?? null), rows.part[row], rows.odd[row] ? "odd" : ""]
    .filter(Boolean)
    .join(" · ");

/** Time over tokens; iterations of which the tokens are not known have no mark. */
export function marksOf(rows: Iterations, only: number | null): RoofPoint[] {
  const phases = phasesOf(rows);
  const drawn = [...rows.step.keys()].filter(
    (row) => (tokensOf(rows, row) ?? 0) > 0 && (rows.wall_ns[row] ?? 0) > 0,
  );
  const every = Math.ceil(drawn.length / MOST_POINTS);
  return drawn
    .filter((row, i) => i % every === 0 || rows.odd[row])
    .map((row) => ({
      key: String(rows.step[row]),
      title: titleOf(rows, row),
      intensity: tokensOf(rows, row) ?? 0,
      rate: rows.wall_ns[row] ?? 0,
      size: rows.odd[row] ? 2 : 1,
      group: phases.indexOf(rows.phase[row] ?? ""),
      figures: [
        ["Tokens", formatCount(tokensOf(rows, row))],
        ["Time", formatTime(rows.wall_ns[row])],
        ["Gap before", formatTime(rows.gap_ns[row])],
        ["Tokens/s", formatNumber(rows.tokens_per_second[row])],
      ],
      selected: rows.step[row] === only,
    }));
}

/** The time between tokens, a bar per iteration; pale outside the steady state where one was found. */
export function barsOf(rows: Iterations): StackedBar[] {
  const steady = rows.part.includes("steady");
  const phases = phasesOf(rows);
  return [...rows.step.keys()].map((row) => {
    const value = rows.interval_ns[row] ?? rows.wall_ns[row] ?? 0;
    return {
      key: rows.step[row] ?? 0,
      label: String(rows.step[row]),
      title: titleOf(rows, row),
      values: phases.map((phase) => (phase === rows.phase[row] ? value : 0)),
      faded: steady && rows.part[row] !== "steady",
      note: `${formatNumber(rows.tokens_per_second[row])} tokens/s, gap before ${format(rows.gap_ns[row], "ns")}`,
      ...(rows.odd[row] ? { mark: "odd among its phase" } : {}),
    };
  });
}
