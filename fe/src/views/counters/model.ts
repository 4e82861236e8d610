/** What the Counters page computes from its payload: sentences, kinds and widths of columns, and the bars of sampled counters. */

import type { CounterInfo, CountersTablePayload, SampledColumns } from "../../api/types.gen";
import { formatCount, type Unit } from "../../base/units";
import { stepName } from "../../base/words";
import type { CellKind, StackedBar } from "../../widgets";

const KINDS: Readonly<Record<string, CellKind>> = { bytes: "bytes", ns: "time", share: "share", "%": "share", "bytes/s": "B/s", FLOP: "FLOP", "FLOP/s": "FLOP/s" };
const UNITS: Readonly<Partial<Record<CellKind, Unit>>> = { time: "ns", bytes: "bytes", share: "share", "B/s": "B/s", FLOP: "FLOP", "FLOP/s": "FLOP/s" };

/** How a counter's values are written; counts and units that scale in no known way are plain numbers. */
export const kindOf = ({ unit }: CounterInfo): CellKind => KINDS[unit] ?? "number";
export const unitOf = (counter: CounterInfo): Unit => UNITS[kindOf(counter)] ?? "number";

/** Shares are fractions on the page; some counters are per cent. */
export const scaled = <T extends number | null>({ unit }: CounterInfo, values: readonly T[]): (T | number)[] => (unit === "%" ? values.map((value) => (value === null ? value : value / 100)) : [...values]);

/** What is said of a counter on hover: what its own name means, and its unit. */
export const hintOf = ({ name, label, unit }: CounterInfo): string => [label === name ? "" : label, unit && `in ${unit}`].filter(Boolean).join(", ");

/** So that a long name of one word fits two lines of the header. */
export const widthOf = (name: string): number => Math.min(230, Math.max(92, Math.ceil(name.length / 2) * 7.2 + 34));

/** Places of counters, those that counted nothing at all last. */
export function byUse(values: readonly (readonly (number | null)[])[]): number[] {
  const idle = values.map((of) => Number(!of.some((value) => value)));
  return [...values.keys()].sort((a, b) => (idle[a] ?? 0) - (idle[b] ?? 0));
}

const ARROW = " → ";

/** The operators around a launch as one text, from the outermost inwards; empty where there is none. */
export const pathText = (operators: readonly string[]): string => operators.join(ARROW);

const plural = (count: number, word: string): string => `${formatCount(count)} ${word}${count === 1 ? "" : "s"}`;

/** What was measured, in words. */
export function topSentence({ profiled, counters, sampled_counters, pooled }: CountersTablePayload): string {
  const ranges = profiled.kernel.length + pooled;
  return [
    ...(ranges ? [`${plural(ranges, "kernel")} measured with ${plural(counters.length, "counter")} each`] : []),
    ...(sampled_counters.length ? [`${plural(sampled_counters.length, "counter")} sampled over time`] : []),
  ].join("; ");
}

/** FLOPs per byte and FLOP/s, where both are measured. */
export const ratio = (values: readonly (number | null)[], by: readonly (number | null)[], times = 1): (number | null)[] =>
  values.map((value, row) => {
    const below = by[row];
    return value === null || !below ? null : (value * times) / below;
  });

export interface SampledChart {
  counter: CounterInfo;
  bars: StackedBar[];
  least: number;
  greatest: number;
}

/** Means per step of one device, a chart per counter that has a sample inside a step. */
export function sampledCharts(counters: readonly CounterInfo[], { counter, device, step, mean, least, greatest }: SampledColumns, wanted: string, names: readonly string[], chosen: (step: number) => boolean): SampledChart[] {
  return counters.flatMap((info, number) => {
    const rows = counter.flatMap((other, row) => (other === number && device[row] === wanted && step[row] !== null ? [row] : []));
    const value = (values: readonly number[], row: number): number => scaled(info, [values[row] ?? 0])[0] ?? 0;
    const bars = rows.map((row): StackedBar => {
      const name = names[step[row] ?? 0] ?? "";
      return { key: step[row] ?? 0, label: stepName(name), title: `step ${stepName(name)} (${name})`, values: [value(mean, row)], faded: !chosen(step[row] ?? 0) };
    });
    return bars.length ? [{ counter: info, bars, least: Math.min(...rows.map((row) => value(least, row))), greatest: Math.max(...rows.map((row) => value(greatest, row))) }] : [];
  });
}
