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
import type { CellKind, Column, Roof, RoofPoint, StackedBar } from "../../widgets";
import { knownColumns } from "../columns";
import { exactly } from "../grid_params";
import { MOST_POINTS, roofsOf, unitText } from "../roofs";
import { rowsOf } from "../rows";

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

/** A column per counter of which anything is known, those that counted nothing last. */
export const counterColumns = (
  counters: readonly CounterInfo[],
  values: readonly (readonly (number | null)[])[],
): Column[] =>
  knownColumns(
    byUse(values).map((place): Column => {
      const counter = counters[place] ?? { name: "", label: "", unit: "" };
      const { name, label } = counter;
      return {
        key: `=${name}`,
        label,
        kind: kindOf(counter),
        width: widthOf(label),
        values: scaled(counter, values[place] ?? []),
        name,
        hint: hintOf(counter),
      };
    }),
  );

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
  sampled: CounterSamplesTable,
  wanted: string,
  names: readonly string[],
  chosen: (step: number) => boolean,
): SampledChart[] {
  return counters.flatMap((info) => {
    const rows = rowsOf(sampled).flatMap(({ step, ...row }) =>
      row.counter === info.name && row.device === wanted && step !== null ? [{ ...row, step }] : [],
    );
    const values = (key: "mean" | "min" | "max"): number[] =>
      scaled(
        info,
        rows.map((row) => row[key] ?? 0),
      );
    const means = values("mean");
    const bars = rows.map(({ step }, place): StackedBar => {
      const name = names[step] ?? "";
      const label = stepName(name);
      return {
        key: step,
        label,
        title: `step ${label} (${name})`,
        values: [means[place] ?? 0],
        faded: !chosen(step),
      };
    });
    const [least, greatest] = [Math.min(...values("min")), Math.max(...values("max"))];
    return bars.length ? [{ counter: info, bars, least, greatest }] : [];
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
  { profiled, bandwidth, vocabulary }: CountersTablePayload,
  search: string,
): MeasuredChart {
  const kernels = rowsOf(profiled);
  const timed = kernels.some(({ flops_rate }) => flops_rate);
  const drawn = kernels
    .flatMap((kernel, row) => {
      const { intensity, flops_rate, peak, time_ns, flops } = kernel;
      const most = Math.min((intensity ?? 0) * (bandwidth ?? Infinity), peak ?? Infinity);
      const rate = timed ? (flops_rate ?? 0) : most;
      const size = (timed ? time_ns : flops) ?? 0;
      return intensity && rate > 0 && Number.isFinite(rate)
        ? [{ ...kernel, row, intensity, rate, size, unit: unitText(profiled, row, vocabulary) }]
        : [];
    })
    .sort((a, b) => b.size - a.size)
    .slice(0, MOST_POINTS);
  const groups = [...new Set(drawn.map(({ unit }) => unit))];
  const points = drawn.map((kernel): RoofPoint => {
    const { row, short_name: title, intensity, rate, size, unit, bytes, time_ns, peak } = kernel;
    return {
      ...{ title, intensity, rate, size },
      key: String(row),
      group: groups.indexOf(unit),
      figures: [
        ...(timed ? [["Time", formatTime(time_ns)] as const] : []),
        ["FLOPs", format(kernel.flops, "FLOP")],
        ["Memory traffic", formatBytes(bytes)],
        ["Intensity", `${formatNumber(intensity)} FLOP/B`],
        [timed ? "FLOP/s" : "At most", format(rate, "FLOP/s")],
        ...(timed && peak ? [["Of the peak", formatShare(rate / peak)] as const] : []),
        ...(timed && bandwidth && bytes && time_ns
          ? [["Of the bandwidth", formatShare((bytes * 1e9) / time_ns / bandwidth)] as const]
          : []),
      ],
      selected: search !== "" && exactly(kernel.kernel).search === search,
    };
  });
  return {
    points,
    roofs: roofsOf(
      profiled,
      drawn.map(({ row }) => row),
      vocabulary,
    ),
    groups,
    timed,
    left: kernels.length - points.length,
  };
}
