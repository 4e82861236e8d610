/** What the Efficiency page computes from its payload: sentences, the chart's points and roofs, and what is said of a row. */

import type { EfficiencyTable, EfficiencyPayload, StepMfu } from "../../api/types.gen";
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
import { exactly } from "../grid_params";
import { MOST_POINTS, roofsOf } from "../roofs";

export const NOT_MODELLED = "not modelled";
/** In place of a share of the peak: what was truly computed is not known. */
export const FAST = "Winograd or FFT";
/** In place of a family, what computes nothing. */
const ASIDE = ["communication", "memcpy"];
/** In this text, precisions that no row names. */
const UNNAMED = "not known";

/** Whether the row's FLOPs are known; 0 is known. */
export const isModelled = (rows: EfficiencyTable, row: number): boolean => rows.flops[row] !== null;

/** What was called with what, in one text: by it a row is found again, and a call's kernels are. */
export function callText(
  { name, input_shapes, input_dtypes }: EfficiencyTable,
  row: number,
): string {
  return [name[row] ?? "no operator", input_shapes[row], input_dtypes[row]]
    .filter(Boolean)
    .join(" ");
}

/** Lists of hundreds of tensors make no address. */
const LONGEST_CALL = 180;

/** Parameters that make the table show the rows of this call; without its types, or those of its operator, where the call is too long to say. */
export function searchFor(rows: EfficiencyTable, row: number): { search: string; regex: string } {
  const call = callText(rows, row);
  if (call.length <= LONGEST_CALL) return exactly(call);
  const shorter = [rows.name[row], rows.input_shapes[row]].filter(Boolean).join(" ");
  return rows.input_shapes[row] && shorter.length <= LONGEST_CALL
    ? { search: shorter, regex: "" }
    : exactly(rows.name[row] ?? call);
}

/** The name under which a row can be found again. */
export function rowKey(rows: EfficiencyTable, row: number): string {
  return JSON.stringify([callText(rows, row), rows.parameters[row], rows.kernel[row]]);
}

/** `989 TFLOP/s bf16`: what a share of the peak is a share of; empty where no peak is known. */
export function peakText({ peak, precision }: EfficiencyTable, row: number): string {
  const rate = peak[row];
  return rate === null || rate === undefined
    ? ""
    : `${format(rate, "FLOP/s")} ${precision[row] ?? ""}`.trim();
}

/** Every figure of a row, label and text; what is not known is left out. */
export function figuresOf(rows: EfficiencyTable, row: number): [string, string][] {
  const intensity = formatNumber(rows.intensity[row]);
  const share = formatShare(rows.flops_share[row]);
  const bound = rows.bound[row] ?? "unknown";
  const figures: [string, string][] = [
    ["Time", formatTime(rows.time_ns[row])],
    ["Calls", formatCount(rows.calls[row])],
    ["Parameters", rows.parameters[row] ?? ""],
    ["FLOPs", isModelled(rows, row) ? "" : NOT_MODELLED],
    ["FLOPs per call", format(rows.flops[row], "FLOP")],
    ["Bytes per call", formatBytes(rows.bytes[row])],
    ["Intensity", intensity === UNKNOWN ? "" : `${intensity} FLOP/B`],
    ["FLOP/s", format(rows.flops_rate[row], "FLOP/s")],
    ["Of the peak", rows.fast[row] ? `not known: ${FAST}` : ""],
    ["Of the peak", share === UNKNOWN ? "" : `${share} of ${peakText(rows, row)}`],
    ["Bytes/s", format(rows.bytes_rate[row], "B/s")],
    ["Of the bandwidth", formatShare(rows.bytes_share[row])],
    ["Bound by", bound === "unknown" ? "" : bound],
    ["At the peak", formatTime(rows.ideal_ns[row])],
    ["Recoverable", formatTime(rows.recoverable_ns[row])],
  ];
  return figures.filter(([, text]) => text && text !== UNKNOWN);
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

const precisionOf = (rows: EfficiencyTable, row: number): string => rows.precision[row] ?? UNNAMED;

/** The precisions that drawable rows use, in the order of their longest row. */
export function precisionsOf(rows: EfficiencyTable, drawable: readonly number[]): string[] {
  return [...new Set(drawable.map((row) => precisionOf(rows, row)))];
}

/** The families of rows, in the order of their longest row: each keeps its mark whatever is filtered. */
export function familiesOf(rows: EfficiencyTable, drawable: readonly number[]): string[] {
  return [...new Set(drawable.map((row) => rows.family[row] ?? ""))];
}

export interface Chart {
  points: RoofPoint[];
  roofs: Roof[];
  /** Drawable rows that are not drawn because they are too many. */
  left: number;
}

/** Points and roofs of one precision, or of all. `search`: what the table shows, so that the point behind it is marked. */
export function chartOf(
  payload: EfficiencyPayload,
  drawable: readonly number[],
  precision: string,
  search: string,
): Chart {
  const { rows } = payload;
  const families = familiesOf(rows, drawable);
  const wanted = drawable.filter((row) => !precision || precisionOf(rows, row) === precision);
  const points = wanted.slice(0, MOST_POINTS).map((row) => ({
    key: String(row),
    title: rows.short_name[row] ?? rows.kernel[row] ?? rows.name[row] ?? "no operator",
    intensity: rows.intensity[row] ?? 0,
    rate: rows.flops_rate[row] ?? 0,
    size: rows.time_ns[row] ?? 0,
    group: families.indexOf(rows.family[row] ?? ""),
    figures: figuresOf(rows, row),
    selected: search !== "" && searchFor(rows, row).search === search,
  }));
  return { points, roofs: roofsOf(rows, wanted), left: wanted.length - points.length };
}

/** What a row's time is: of the device where there is one. */
export const timeWord = (payload: EfficiencyPayload): string =>
  payload.has_device ? "device" : "host";

const sum = (values: readonly (number | null)[]): number =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0);

/** FLOPs of all steps over their wall time; null where nothing is modelled. */
export function rateOfSteps(steps: readonly StepMfu[]): number | null {
  const [flops, wall] = [
    sum(steps.map((step) => step.flops)),
    sum(steps.map((step) => step.wall_ns)),
  ];
  return flops > 0 && wall > 0 ? (flops * 1e9) / wall : null;
}

export interface FamilyRow {
  family: string;
  /** Place among the chart's families, for the mark; null: not in the chart. */
  group: number | null;
  calls: number;
  time: number;
  flops: number | null;
  /** Time in kernels with, without and with unknown use of matrix cores; null without a device and for families that cannot use them. */
  matrix: { used: number; unused: number; unknown: number } | null;
}

/** Time by family, the longest first, what computes nothing and what is not modelled last. */
export function familyRows(
  { families }: EfficiencyPayload,
  marked: readonly string[],
): FamilyRow[] {
  const rows = families.family.map((family, i): FamilyRow => {
    const time = families.time_ns[i] ?? 0;
    const [used, unknown] = [families.matrix_ns[i] ?? null, families.matrix_unknown_ns[i] ?? 0];
    const group = marked.indexOf(family ?? "");
    return {
      family: family ?? NOT_MODELLED,
      group: group < 0 ? null : group,
      calls: families.calls[i] ?? 0,
      time,
      flops: families.flops[i] ?? null,
      matrix: used === null ? null : { used, unknown, unused: Math.max(0, time - used - unknown) },
    };
  });
  const rest = (row: FamilyRow): number => [...ASIDE, NOT_MODELLED].indexOf(row.family);
  return rows.filter((row) => row.time > 0).sort((a, b) => rest(a) - rest(b) || b.time - a.time);
}
