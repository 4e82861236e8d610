/** What the Critical Path page computes from its payload: colours, bars per step, and the strip. */

import type { Parameters } from "../../api/client";
import type { CriticalPathPayload, PathStrip, PathStripTable } from "../../api/types.gen";
import { formatCount, formatShare, formatTime } from "../../base/units";
import type { Params, ViewProps } from "../../state/view";
import { columnsOfTable } from "../columns";
import { type RowOf, rowsOf } from "../rows";
import type { Series, Stretch } from "../../widgets";

/** Shades of one colour belong together: a kernel and its launch, host code and what encloses it. */
const lighter = (color: string): string => `color-mix(in srgb, ${color} 55%, var(--surface))`;

/** Colour and pattern of each kind; the patterns are told apart without the colours. */
const LOOKS: Readonly<Record<string, readonly [string, string]>> = {
  kernel: ["var(--category-kernel)", ""],
  launch: [lighter("var(--category-kernel)"), "M-2 2L2-2M0 8L8 0M6 10L10 6"],
  memcpy: ["var(--category-memcpy)", "M2 0V8M6 0V8"],
  memset: ["var(--category-memset)", "M0 2H8M0 6H8"],
  communication: ["var(--category-communication)", "M0 0L8 8M0 8L8 0"],
  operator: ["var(--category-cpu-exec)", "M2 2h.01M6 6h.01"],
  annotation: [lighter("var(--category-cpu-exec)"), "M4 4h.01"],
  python: ["var(--series-8)", "M-2 6L2 10M0 0L8 8M6-2L10 2"],
  runtime: ["var(--category-runtime)", "M0 4H8M4 0V8"],
  synchronization: [lighter("var(--category-runtime)"), "M0 2L4 6L8 2"],
  dataloader: ["var(--category-dataloader)", "M0 0H8M0 4H8M2 0V4M6 4V8"],
  waiting: [lighter("var(--category-communication)"), "M0 8L8 0"],
  before_recording: [lighter("var(--category-other)"), "M0 4H4"],
};
const UNKNOWN_LOOK = ["var(--category-other)", "M3 5L5 3"] as const;

export function seriesFor(kind: string): Series {
  const [color, pattern] = LOOKS[kind] ?? UNKNOWN_LOOK;
  return { key: kind, label: labelOf(kind), color, pattern };
}

/** The kinds that occur, the largest part first. */
export const seriesOf = ({ parts }: Pick<CriticalPathPayload, "parts">): Series[] =>
  parts.kind.map(seriesFor);

/** What a kind is called: the label of its column in the table of steps. */
export const labelOf = (kind: string): string =>
  columnsOfTable("path_steps").find(({ key }) => key === `${kind}_ns`)?.label ?? kind;

export interface Range {
  t0: number;
  t1: number;
}

export const rangeOf = ({ start_ns, end_ns }: Pick<PathStrip, "start_ns" | "end_ns">): Range => ({
  t0: start_ns,
  t1: end_ns,
});

/** The part of the paths that the address bar names, where it lies in one of them. */
export function readRange(params: Params, strips: readonly PathStrip[]): Range | null {
  const [t0 = NaN, t1 = NaN] = [params.t0, params.t1].map((text) =>
    /^\d{1,15}$/.test(text ?? "") ? Number(text) : NaN,
  );
  return t0 < t1 && strips.some((strip) => t0 < strip.end_ns && t1 > strip.start_ns)
    ? { t0, t1 }
    : null;
}

/** A chosen part in links and questions. */
export const rangeParams = (range: Range | null): { t0?: string; t1?: string } =>
  range ? { t0: String(range.t0), t1: String(range.t1) } : {};

/** Writes a chosen part into the link. */
export const rangeSetter =
  (setParam: ViewProps["setParam"]) =>
  (next: Range | null): void => {
    const { t0 = null, t1 = null } = rangeParams(next);
    setParam("t0", t0);
    setParam("t1", t1);
  };

/** What the timeline shows of a part, with the path over it; of the first drawn step without one. */
export function timelineParams(range: Range | null, strips: readonly PathStrip[]): Params {
  const shown = range ?? strips.map(rangeOf)[0];
  return { path: "1", ...(shown ? { t: `${shown.t0},${shown.t1 - shown.t0}` } : {}) };
}

/** The stretches of a strip, their series by place; `placeOf`: the rank of each, where there are several. */
export const stretchesOf = (
  { stretches }: PathStrip,
  series: readonly Series[],
  placeOf: (row: number) => string = () => "",
): Stretch[] =>
  rowsOf(stretches).map(({ kind, start_ns, end_ns }, row) => ({
    series: series.findIndex(({ key }) => key === kind),
    label: placeOf(row) || undefined,
    t0: start_ns,
    t1: end_ns,
  }));

/** A stretch of a strip in words: its kind, the event of most of it, its line, and how long it takes and when. */
export function told({ stretches, start_ns: begin }: PathStrip, row: number) {
  const stretch: Partial<RowOf<PathStripTable>> = rowsOf(stretches)[row] ?? {};
  const { kind = "", start_ns = 0, end_ns = 0, segments = 0, name, line } = stretch;
  return {
    kind,
    event: name && segments > 1 ? `${name} and ${formatCount(segments - 1)} more` : name,
    line,
    time: `${formatTime(end_ns - start_ns)}, ${formatTime(start_ns - begin)} after the step began`,
  };
}

export function spoken(strip: PathStrip, row: number): string {
  const { kind, event, line, time } = told(strip, row);
  return [labelOf(kind), event, line, time].filter(Boolean).join(", ");
}

/** The strip in words. */
export function stripLabel(
  strip: PathStrip,
  { parts }: Pick<CriticalPathPayload, "parts">,
): string {
  const shares = rowsOf(parts).map(({ kind, share }) => `${labelOf(kind)} ${formatShare(share)}`);
  return `Critical path of ${strip.name || "the recording"}: ${shares.join(", ")}`;
}

/** What a row of the table can be one of; `term` says it where the first column is called so. */
export interface Group<V extends string = string> {
  value: V;
  label: string;
  term: string;
}

type Groups<V extends string> = readonly [Group<V>, ...Group<V>[]];

export type PathGroup = NonNullable<Parameters["critical_path/rows"]["by"]>;
type RanksGroup = NonNullable<Parameters["critical_path/ranks/rows"]["by"]>;

const EVENT = "path_event";

const SHARED: readonly Group<PathGroup & RanksGroup>[] = [
  { value: "event", label: "Event", term: EVENT },
  { value: "operator", label: "Operator", term: "path_operator" },
  { value: "module", label: "Module", term: "path_module" },
  { value: "line", label: "Source line", term: "path_line" },
];

export const GROUPS: Groups<PathGroup> = [
  { value: "place", label: "Event and line", term: EVENT },
  ...SHARED,
  { value: "track", label: "Thread or stream", term: "path_track" },
];

export const RANKS_GROUPS: Groups<RanksGroup> = [
  { value: "rank", label: "Rank", term: "rank" },
  ...SHARED,
];

/** The group that the address bar names, else the first. */
export const groupOf = <V extends string>(groups: Groups<V>, text: string | undefined): Group<V> =>
  groups.find(({ value }) => value === text) ?? groups[0];

/** Whether each row is one event, or the same one again. */
export const ofEvents = ({ term }: Group): boolean => term === EVENT;
