/** What the Efficiency page computes from its payload: sentences, the chart's points and roofs, and what is said of a row. */

import type { EfficiencyTable, EfficiencyPayload, Vocabulary } from "../../api/types.gen";
import {
  format,
  formatBytes,
  formatCount,
  formatNumber,
  formatShare,
  formatTime,
  UNKNOWN,
} from "../../base/units";
import type { Roof, RoofPoint } from "../../widgets";
import { MOST_POINTS, roofsOf } from "../roofs";

/** What was called with what, in one text: by it a row is found again, and a call's kernels are. */
export function callText(
  { name, input_shapes, input_dtypes }: EfficiencyTable,
  row: number,
): string {
  return [name[row] ?? NO_OPERATOR, input_shapes[row], input_dtypes[row]].filter(Boolean).join(" ");
}

/** How the server calls the row of all device work that no operator launched. */
const NO_OPERATOR = "no operator";

/** The operator of a row, whose callers and kernels can be asked for; null where none is known. */
export function operatorOf({ name }: EfficiencyTable, row: number): string | null {
  const found = name[row] ?? null;
  return found === NO_OPERATOR ? null : found;
}

/** The name under which a row can be found again. */
export function rowKey(rows: EfficiencyTable, row: number): string {
  return JSON.stringify([callText(rows, row), rows.parameters[row], rows.kernel[row]]);
}

/** `matrix bf16` in the vendor's words: `Tensor Cores bf16`. */
export const roofText = (roof: string, { matrix_cores }: Vocabulary): string =>
  roof.replace(/^matrix\b/, matrix_cores);

/** Of a share above this the rest is no rounding. */
const ABOVE = 1.005;

/** What stands beside a share of a roof: the roof, and where more was reached why that can be. */
export function besideRoof(share: number, roof: string, words: Vocabulary): string {
  const why = roof === "memory" ? "cache" : "clock";
  return roofText(roof, words) + (share > ABOVE ? `, ${why}` : "");
}

/** What a row reaches of what its roof allows: `Moves` and `787 GB/s of 3.35 TB/s`; null where the roof is unknown. */
export function reachOf(rows: EfficiencyTable, row: number): [string, string] | null {
  const [roof, share] = [rows.roof[row], rows.of_roof[row]];
  if (!roof || !share) return null;
  const unit = roof === "memory" ? "B/s" : "FLOP/s";
  const rate = (roof === "memory" ? rows.bytes_rate[row] : rows.flops_rate[row]) ?? 0;
  return [
    roof === "memory" ? "Moves" : "Computes",
    `${format(rate, unit)} of ${format(rate / share, unit)}`,
  ];
}

/** Every figure of a row, label and text; what is not known is left out. */
export function figuresOf(
  rows: EfficiencyTable,
  row: number,
  words: Vocabulary,
): [string, string][] {
  const [roof, share] = [rows.roof[row], rows.of_roof[row] ?? 0];
  const intensity = formatNumber(rows.intensity[row]);
  const figures: [string, string][] = [
    ["Time", formatTime(rows.time_ns[row])],
    ["Calls", formatCount(rows.calls[row])],
    ["Parameters", rows.parameters[row] ?? ""],
    [
      "Of its roof",
      roof
        ? `${formatShare(share)} of ${besideRoof(share, roof, words)}`
        : `not known: ${rows.no_roof[row] ?? "pooled"}`,
    ],
    ["Over it", formatTime(rows.over_roof_ns[row])],
    reachOf(rows, row) ?? ["", ""],
    ["FLOPs per call", format(rows.flops[row], "FLOP")],
    ["Bytes per call", formatBytes(rows.bytes[row])],
    ["Intensity", intensity === UNKNOWN ? "" : `${intensity} FLOP/B`],
  ];
  return figures.filter(([, text]) => text && text !== UNKNOWN);
}

/** The row that the page is about at first: the one that is furthest over its roof, else the longest. */
export function foremost(payload: EfficiencyPayload): number {
  const { over_roof_ns } = payload.rows;
  let most = 0;
  for (let row = 1; row < ownRows(payload); row++)
    if ((over_roof_ns[row] ?? 0) > (over_roof_ns[most] ?? 0)) most = row;
  return most;
}

/** The rows that stand for themselves: the pooled rest is the last one. */
export const ownRows = ({ rows, pooled }: EfficiencyPayload): number =>
  rows.calls.length - (pooled ? 1 : 0);

/** The rows that have a place in the chart, longest first. */
export function drawableRows(payload: EfficiencyPayload): number[] {
  const { rows } = payload;
  return Array.from({ length: ownRows(payload) }, (_, row) => row)
    .filter((row) => (rows.intensity[row] ?? 0) > 0 && (rows.flops_rate[row] ?? 0) > 0)
    .sort((a, b) => (rows.time_ns[b] ?? 0) - (rows.time_ns[a] ?? 0));
}

export interface Chart {
  points: RoofPoint[];
  roofs: Roof[];
  /** Drawable rows that are not drawn because they are too many. */
  left: number;
}

/** Share of the time of all drawable rows that the drawn ones have. */
const WORTH_DRAWING = 0.995;

/** The marks' groups: what limits a row. */
export const LIMITS = [
  { label: "memory-bound", color: "var(--copies)" },
  { label: "compute-bound", color: "var(--compute)" },
  { label: "roof unknown", color: "var(--not-recorded)" },
] as const;

export function chartOf(
  payload: EfficiencyPayload,
  drawable: readonly number[],
  chosen: number,
): Chart {
  const { rows, vocabulary } = payload;
  const whole = sum(drawable.map((row) => rows.time_ns[row] ?? 0));
  let time = 0;
  // The rest would stretch the axes over orders of magnitude in which nothing takes time.
  const drawn = drawable.slice(0, MOST_POINTS).filter((row) => {
    const counts = time <= whole * WORTH_DRAWING;
    time += rows.time_ns[row] ?? 0;
    return counts;
  });
  if (drawable.includes(chosen) && !drawn.includes(chosen)) drawn.push(chosen);
  const points = drawn.map((row): RoofPoint => {
    const title = rows.short_name[row] && payload.group === "kernel" ? rows.short_name[row] : null;
    const [name, roof, share] = [
      title ?? rows.name[row] ?? NO_OPERATOR,
      rows.roof[row],
      rows.of_roof[row] ?? 0,
    ];
    const rate = rows.flops_rate[row] ?? 0;
    return {
      key: String(row),
      title: name,
      intensity: rows.intensity[row] ?? 0,
      rate,
      size: rows.time_ns[row] ?? 0,
      group: roof ? Number(roof !== "memory") : 2,
      figures: figuresOf(rows, row, vocabulary),
      selected: row === chosen,
      name: roof ? `${name}, ${formatShare(share)}` : name,
      limit: share ? rate / share : null,
    };
  });
  return {
    points,
    roofs: roofsOf(rows, drawable, vocabulary),
    left: drawable.length - points.length,
  };
}

const sum = (values: readonly (number | null)[]): number =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0);
