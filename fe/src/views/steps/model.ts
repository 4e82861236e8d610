/** What the page of steps computes from its payloads: bars by group, the waterfall, and links. */

import type {
  ComparedStep,
  DifferencePart,
  StepCausesPayload,
  StepDifferencePayload,
} from "../../api/types.gen";
import { formatCount } from "../../base/units";
import { capitalised, stepName } from "../../base/words";
import { ALL_STEPS, onlyOne, sideParams, type ViewProps } from "../../state/view";
import {
  type FigureTable,
  isPale,
  type Series,
  type StackedBar,
  stackedParts,
} from "../../widgets";
import { categoryLooks, groupLooks } from "../critical_path/groups";
import { type RowOf, rowsOf } from "../rows";

type StepRow = RowOf<StepCausesPayload["steps"]>;

const timeOf = (row: StepRow, group: string): number =>
  (row as unknown as Record<string, number>)[`${group}_ns`] ?? -1;

/** The groups that take any time on the path, or a part beside it that can be seen. */
export function seriesOf({ device, steps, lanes }: StepCausesPayload): Series[] {
  const rows = rowsOf(steps);
  const beside = lanes.filter(({ time_ns }) =>
    time_ns.some((ns, place) => ns > 0.01 * (steps.wall_ns[place] ?? 0)),
  );
  return groupLooks(device).filter(
    ({ key }) =>
      beside.some(({ category }) => category === key) || rows.some((row) => timeOf(row, key) > 0),
  );
}

const FLAGS = [
  ["cold", "it sets up"],
  ["cut", "only a part of it was recorded"],
] as const;

/** What the device and its host did in the step of each row: a lane each, from the path outwards. */
function lanesOf({ lanes, device }: StepCausesPayload, place: number): StackedBar["lanes"] {
  const looks = categoryLooks(device);
  return STACKED.map((lane) =>
    stackedParts(lanes, lane).map(({ category, on_path, time_ns }) => ({
      look: looks.findIndex(({ key }) => key === category),
      pale: isPale(category, on_path),
      value: time_ns[place] ?? 0,
    })),
  ).filter((pieces) => pieces.length);
}

const STACKED = ["device", "host"] as const;

/** A panel of bars on a scale of its own. */
export interface StepPanel {
  /** Of the kind; empty where there is but one. */
  title: string;
  line: { value: number; label: string } | undefined;
  bars: StackedBar[];
}

/** The bars by kind, in the order in which the kinds come; what is of none, as a cold step, stands with the one with most time. */
export function panelsOf(payload: StepCausesPayload): StepPanel[] {
  const { kinds, median, median_ns, steps } = payload;
  const bars = barsOf(payload);
  const line = (value: number) => ({ value, label: "median" });
  if (kinds.length < 2)
    return [
      { title: "", line: median >= 0 && bars.length > 1 ? line(median_ns) : undefined, bars },
    ];
  const names = kinds.map(({ name }) => name);
  const kindAt = (place: number): number => Math.max(0, names.indexOf(steps.kind[place] ?? ""));
  return kinds
    .map(({ name, median_ns }, kind) => ({
      title: capitalised(name),
      line: line(median_ns),
      bars: bars.filter((_, place) => kindAt(place) === kind),
    }))
    .sort((a, b) => (a.bars[0]?.key ?? 0) - (b.bars[0]?.key ?? 0));
}

export function barsOf(payload: StepCausesPayload): StackedBar[] {
  const series = seriesOf(payload);
  return rowsOf(payload.steps).map((row, place) => {
    const label = stepName(row.name, row.step);
    const said = FLAGS.filter(([flag]) => row[flag]).map(([flag, why]) => `${flag}: ${why}`);
    return {
      key: row.step,
      label,
      title: `step ${label}`,
      values: series.map(({ key }) => Math.max(0, timeOf(row, key)) / row.steps),
      mark: row.odd ? "odd: far longer than the others of its kind" : "",
      note: row.wall_ns < 0 ? "its critical path is not known" : said.join("; "),
      faded: row.cold,
      lanes: lanesOf(payload, place),
    };
  });
}

export function tableOf(payload: StepCausesPayload): FigureTable {
  const series = seriesOf(payload);
  const kinds = payload.kinds.length > 1;
  return {
    columns: [
      { label: "Step" },
      ...(kinds ? [{ label: "Kind" }] : []),
      { label: "Length", unit: "ns" },
      ...series.map(({ label }) => ({ label, unit: "ns" as const })),
    ],
    rows: rowsOf(payload.steps).map((row) => {
      const known = (time: number): number | null => (row.wall_ns < 0 ? null : time);
      const kind = kinds ? [row.kind] : [];
      return [
        row.name,
        ...kind,
        known(row.wall_ns),
        ...series.map(({ key }) => known(timeOf(row, key))),
      ];
    }),
  };
}

/** Whose steps these are, which are cold, and what is not known. */
export function noteOf(payload: StepCausesPayload): string {
  const cold = rowsOf(payload.steps)
    .filter((row) => row.cold)
    .map(({ name, step }) => stepName(name, step));
  const are = cold.length > 1 ? `steps ${cold.join(", ")} are cold` : `step ${cold[0]} is cold`;
  return [
    payload.ranks ? `through all ${formatCount(payload.ranks)} ranks` : "",
    cold.length && cold.length <= 5 ? are : "",
    payload.note,
  ]
    .filter(Boolean)
    .join("; ");
}

/** A row of the waterfall: from where to where it goes, as shares of the widest. */
export interface Fall {
  label: string;
  part: DifferencePart | null;
  ns: number;
  from: number;
  to: number;
}

/** The median step, each difference where the one before it ended, and the step. */
export function fallsOf({ median, step, parts }: StepDifferencePayload): Fall[] {
  if (!median) return [];
  const rows: Omit<Fall, "label">[] = [
    { part: null, ns: median.wall_ns, from: 0, to: median.wall_ns },
  ];
  let at = median.wall_ns;
  for (const part of parts) {
    rows.push({ part, ns: part.difference_ns, from: at, to: at + part.difference_ns });
    at += part.difference_ns;
  }
  rows.push({ part: null, ns: step.wall_ns, from: 0, to: step.wall_ns });
  const widest = Math.max(1, ...rows.map(({ from, to }) => Math.max(from, to)));
  return rows.map((row, place) => ({
    ...row,
    label: row.part?.label ?? `Step ${(place ? step : median).label}`,
    from: Math.min(row.from, row.to) / widest,
    to: Math.max(row.from, row.to) / widest,
  }));
}

/** What makes a part, without its line. */
export const reasonOf = ({ who, what }: DifferencePart): string =>
  [who, what].filter(Boolean).join(", ");

/** Both steps on the timeline of the rank that makes the difference, and beside each other; null where the trace lacks one. */
export function linksOf(
  { worker, span, step, median }: StepDifferencePayload & { median: ComparedStep },
  { selection, hrefOf }: Pick<ViewProps, "selection" | "hrefOf">,
): { timeline: string; diff: string } | null {
  const [a, b] = [median.trace_step, step.trace_step];
  if (a < 0 || b < 0 || a === b) return null;
  const trace = worker ? { ...selection, worker, span } : selection;
  const both = { ...ALL_STEPS, first: Math.min(a, b), last: Math.max(a, b) };
  return {
    timeline: hrefOf("trace", { path: "1" }, trace, both),
    diff: hrefOf("diff", sideParams(trace, onlyOne(b)), trace, onlyOne(a)),
  };
}
