/** What the Counters page computes from its payload: sentences, kinds and widths of columns, and the bars of sampled counters. */

import type { CounterInfo, CounterSamplesTable, CountersTablePayload } from "../../api/types.gen";
import {
  format,
  formatBytes,
  formatNumber,
  formatShare,
  formatTime,
  type Unit,
} from "../../base/units";
import { stepName } from "../../base/words";
import type { CellKind, Roof, RoofPoint, StackedBar } from "../../widgets";
import { exactly } from "../grid_params";
import { MOST_POINTS, roofsOf, unitText } from "../roofs";

const UNITS: Readonly<Record<string, Exclude<Unit, "count">>> = {
  bytes: "bytes",
  ns: "ns",
  share: "share",
  "%": "share",
  "bytes/s": "B/s",
  FLOP: "FLOP",
  "FLOP/s": "FLOP/s",
};

/** How a counter's values are written; counts and units that scale in no known way are plain numbers. */
export const unitOf = ({ unit }: CounterInfo): Exclude<Unit, "count"> => UNITS[unit] ?? "number";

export function kindOf(counter: CounterInfo): CellKind {
  const unit = unitOf(counter);
  return unit === "ns" ? "time" : unit;
}

/** Shares are fractions on the page; some counters are per cent. */
export const scaled = <T extends number | null>(
  { unit }: CounterInfo,
  values: readonly T[],
): (T | number)[] =>
  unit === "%" ? values.map((value) => (value === null ? value : value / 100)) : [...values];

/** What is said of a counter on hover: its own name where the label is another, and its unit. */
export const hintOf = ({ name, label, unit }: CounterInfo): string =>
  [label === name ? "" : name, unit && `in ${unit}`].filter(Boolean).join(", ");

/** So that a label fits two lines of the header, broken where it may be. */
export function widthOf(label: string): number {
  const parts = label.split(/(?<=[ _.])(?![ _.])/);
  const [least] = parts
    .map((_, at) => Math.max(parts.slice(0, at).join("").length, parts.slice(at).join("").length))
    .sort((a, b) => a - b);
  return Math.min(280, Math.max(92, (least ?? 0) * 7.4 + 36));
}

/** Places of counters, those that counted nothing at all last. */
export function byUse(values: readonly (readonly (number | null)[])[]): number[] {
  const idle = values.map((of) => Number(!of.some((value) => value)));
  return [...values.keys()].sort((a, b) => (idle[a] ?? 0) - (idle[b] ?? 0));
}

const ARROW = " → ";

/** The operators around a launch as one text, from the outermost inwards; empty where there is none. */
export const pathText = (operators: readonly string[]): string => operators.join(ARROW);

/** The names of steps by their numbers; null where the number is not known. */
export const stepNames = (
  numbers: readonly (number | null)[],
  names: readonly string[],
): (string | null)[] => numbers.map((step) => (step === null ? null : (names[step] ?? null)));

export interface SampledChart {
  counter: CounterInfo;
  bars: StackedBar[];
  least: number;
  greatest: number;
}

/** Means per step of one device, a chart per counter that has a sample inside a step. */
export function sampledCharts(
  counters: readonly CounterInfo[],
  { counter, device, step, mean, min, max }: CounterSamplesTable,
  wanted: string,
  names: readonly string[],
  chosen: (step: number) => boolean,
): SampledChart[] {
  return counters.flatMap((info) => {
    const rows = counter.flatMap((other, row) =>
      other === info.name && device[row] === wanted && step[row] !== null ? [row] : [],
    );
    const value = (values: readonly (number | null)[], row: number): number =>
      scaled(info, [values[row] ?? 0])[0] ?? 0;
    const bars = rows.map((row): StackedBar => {
      const name = names[step[row] ?? 0] ?? "";
      return {
        key: step[row] ?? 0,
        label: stepName(name),
        title: `step ${stepName(name)} (${name})`,
        values: [value(mean, row)],
        faded: !chosen(step[row] ?? 0),
      };
    });
    return bars.length
      ? [
          {
            counter: info,
            bars,
            least: Math.min(...rows.map((row) => value(min, row))),
            greatest: Math.max(...rows.map((row) => value(max, row))),
          },
        ]
      : [];
  });
}

export interface MeasuredChart {
  points: RoofPoint[];
  roofs: Roof[];
  /** What each mark's colour and form stands for. */
  groups: string[];
  /** Whether the heights of the marks are measured; else they are the most that their intensities allow. */
  timed: boolean;
  /** Kernels without a mark. */
  left: number;
}

/** Kernels of which FLOPs and memory traffic were measured, below the roofs. `search`: what the table shows, so that the mark behind it is chosen. */
export function measuredChart(
  { profiled, bandwidth }: CountersTablePayload,
  search: string,
): MeasuredChart {
  const { kernel, short_name, time_ns, flops, bytes, intensity, peak } = profiled;
  const measured = profiled.flops_rate;
  const timed = measured.some((rate) => rate);
  const most = (row: number): number =>
    Math.min((intensity[row] ?? 0) * (bandwidth ?? Infinity), peak[row] ?? Infinity);
  const size = timed ? time_ns : flops;
  const rateOf = (row: number): number => (timed ? (measured[row] ?? 0) : most(row));
  const rows = [...kernel.keys()]
    .filter((row) => intensity[row] && rateOf(row) > 0 && Number.isFinite(rateOf(row)))
    .sort((a, b) => (size[b] ?? 0) - (size[a] ?? 0))
    .slice(0, MOST_POINTS);
  const groups = [...new Set(rows.map((row) => unitText(profiled, row)))];
  const points = rows.map((row): RoofPoint => {
    const [rate, traffic, time] = [rateOf(row), bytes[row] ?? 0, time_ns[row] ?? 0];
    return {
      key: String(row),
      title: short_name[row] ?? "",
      intensity: intensity[row] ?? 0,
      rate,
      size: size[row] ?? 0,
      group: groups.indexOf(unitText(profiled, row)),
      figures: [
        ...(timed ? [["Time", formatTime(time)] as const] : []),
        ["FLOPs", format(flops[row] ?? 0, "FLOP")],
        ["Memory traffic", formatBytes(traffic)],
        ["Intensity", `${formatNumber(intensity[row])} FLOP/B`],
        [timed ? "FLOP/s" : "At most", format(rate, "FLOP/s")],
        ...(timed && peak[row] ? [["Of the peak", formatShare(rate / peak[row])] as const] : []),
        ...(timed && bandwidth
          ? [["Of the bandwidth", formatShare((traffic * 1e9) / time / bandwidth)] as const]
          : []),
      ],
      selected: search !== "" && exactly(kernel[row] ?? "").search === search,
    };
  });
  return {
    points,
    roofs: roofsOf(profiled, rows),
    groups,
    timed,
    left: kernel.length - points.length,
  };
}
