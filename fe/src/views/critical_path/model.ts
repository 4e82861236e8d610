/** What the Critical Path page computes from its payload: colours, bars per step, and the strip. */

import { PATH_STEPS } from "../../api/tables.gen";
import type { CriticalPathPayload } from "../../api/types.gen";
import { formatShare, formatTime } from "../../base/units";
import { stepName } from "../../base/words";
import type { FigureTable, Series, StackedBar } from "../../widgets";

/** Shades of one colour belong together: a kernel and its launch, host code and what encloses it. */
const lighter = (color: string): string => `color-mix(in srgb, ${color} 55%, var(--surface))`;
const COLORS: Readonly<Record<string, string>> = {
  kernel: "var(--category-kernel)",
  launch: lighter("var(--category-kernel)"),
  memcpy: "var(--category-memcpy)",
  memset: "var(--category-memset)",
  communication: "var(--category-communication)",
  operator: "var(--category-cpu-exec)",
  annotation: lighter("var(--category-cpu-exec)"),
  python: "var(--series-8)",
  runtime: "var(--category-runtime)",
  synchronization: lighter("var(--category-runtime)"),
  dataloader: "var(--category-dataloader)",
  before_recording: lighter("var(--category-other)"),
};

export const colorOf = (kind: string): string => COLORS[kind] ?? "var(--category-other)";

/** The kinds that occur, the largest part first. */
export function seriesOf({ parts }: CriticalPathPayload): Series[] {
  return parts.kind.map((key) => ({ key, label: labelOf(key), color: colorOf(key) }));
}

/** What a kind is called: the label of its column in the table of steps. */
export const labelOf = (kind: string): string =>
  PATH_STEPS.find(({ key }) => key === `${kind}_ns`)?.label ?? kind;

const timesOf = ({ steps, parts }: CriticalPathPayload): (readonly number[])[] =>
  parts.kind.map(
    (key) => (steps as unknown as Record<string, readonly number[]>)[`${key}_ns`] ?? [],
  );

export function barsOf(payload: CriticalPathPayload): StackedBar[] {
  const times = timesOf(payload);
  return payload.steps.step.map((key, row) => {
    const name = payload.steps.name[row] ?? "";
    const label = stepName(name);
    const title = `step ${label} (${name})`;
    return { key, label, title, values: times.map((values) => values[row] ?? 0) };
  });
}

export function stepTable(payload: CriticalPathPayload): FigureTable {
  const times = timesOf(payload);
  return {
    columns: [
      { label: "Step" },
      ...seriesOf(payload).map(({ label }) => ({ label, unit: "ns" as const })),
    ],
    rows: payload.steps.name.map((name, row) => [
      name,
      ...times.map((values) => values[row] ?? null),
    ]),
  };
}

export interface Stretch {
  kind: string;
  /** Shares of the strip's width. */
  from: number;
  width: number;
  /** What the timeline shows of it: begin and length in ns. */
  window: string;
  title: string;
}

export function stretchesOf({ strip }: CriticalPathPayload): Stretch[] {
  const first = strip.start_ns[0] ?? 0;
  const whole = (strip.end_ns[strip.end_ns.length - 1] ?? 0) - first;
  return strip.kind.map((kind, row) => {
    const start = strip.start_ns[row] ?? 0;
    const time = (strip.end_ns[row] ?? 0) - start;
    return {
      kind,
      from: (start - first) / whole,
      width: time / whole,
      window: `${start},${time}`,
      title: `${labelOf(kind)}, ${formatTime(time)}`,
    };
  });
}

/** The strip in words. */
export function stripLabel(payload: CriticalPathPayload): string {
  const { parts } = payload;
  const shares = parts.kind.map((kind, row) => `${labelOf(kind)} ${formatShare(parts.share[row])}`);
  return `Critical path: ${shares.join(", ")}`;
}
