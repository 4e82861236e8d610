/** What the Critical Path page computes from its payload: stretches, ranges and words. */

import type { Parameters } from "../../api/client";
import type { PathStretchesTable, PathStrip } from "../../api/types.gen";
import { formatCount, formatShare, formatTime } from "../../base/units";
import { stepName } from "../../base/words";
import type { Params, ViewProps } from "../../state/view";
import { columnsOfTable } from "../columns";
import { groupLooks, groupOfKind, type GroupTime } from "./groups";
import { type RowOf, rowsOf } from "../rows";
import type { Series } from "../../widgets";

/** A kind of work on the path, drawn as its group. */
export function seriesFor(kind: string): Series {
  const look = groupLooks("").find(({ key }) => key === groupOfKind(kind));
  return { color: "var(--host)", ...look, key: kind, label: labelOf(kind) };
}

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

/** The stretches of a path that are long enough to be told. */
export const stretchesOf = ({ glyph: { stretches } }: PathStrip): Range[] =>
  rowsOf(stretches).map(({ start_ns, end_ns }) => ({ t0: start_ns, t1: end_ns }));

/** A stretch of a path in words: what it is drawn as, the event of most of it, its line, and how long it takes and when. */
export function told({ glyph: { stretches }, start_ns: begin }: PathStrip, row: number) {
  const stretch: Partial<RowOf<PathStretchesTable>> = rowsOf(stretches)[row] ?? {};
  const {
    category = "",
    worker = -1,
    start_ns = 0,
    end_ns = 0,
    segments = 0,
    name,
    line,
  } = stretch;
  return {
    category,
    worker,
    event: name && segments > 1 ? `${name} and ${formatCount(segments - 1)} more` : name,
    line,
    time: `${formatTime(end_ns - start_ns)}, ${formatTime(start_ns - begin)} after the step began`,
  };
}

/** `forward, 0 to 128 ms, gemm at train.py(7): step`. */
export function spoken(
  strip: PathStrip,
  row: number,
  looks: readonly Series[],
  rankOf?: (worker: number) => string,
): string {
  const { category, worker, event, line } = told(strip, row);
  const { t0 = 0, t1 = 0 } = stretchesOf(strip)[row] ?? {};
  const [from, to] = [t0, t1].map((time) => formatTime(time - strip.start_ns));
  const look = looks.find(({ key }) => key === category);
  const rank = worker < 0 ? undefined : rankOf?.(worker);
  return [
    rank,
    look?.label ?? category,
    `${from} to ${to}`,
    [event, line].filter(Boolean).join(" at "),
  ]
    .filter(Boolean)
    .join(", ");
}

export const meanOf = (steps: number): string => `mean of ${formatCount(steps)} steps`;

/** Which of the chosen steps are drawn, and so what the legend's figures are of. */
export const drawnText = (name: string, drawn: number, steps: number): string =>
  drawn > 1
    ? `figures: ${meanOf(drawn)}`
    : `${name}${steps > 1 ? `, the median of ${formatCount(steps)}` : ""}`;

/** A glyph in words: the step, its path, and what the device did meanwhile. */
export function glyphLabel(
  { name, start_ns, end_ns, glyph }: PathStrip,
  times: readonly GroupTime[],
  device: string,
): string {
  const onPath = times.map(({ label, ns, share }) =>
    share !== null && share > 0.9995
      ? `${label} ${formatTime(ns)}, all of it`
      : `${label} ${formatTime(ns)} (${formatShare(share)})`,
  );
  const kernels = formatTime((glyph.busy ?? 0) * glyph.shown_ns);
  const waited = times.some(({ key }) => key === "compute" || key === "communication");
  return [
    `${name ? stepTitle(name) : "The recording"}, ${formatTime(end_ns - start_ns)}.`,
    onPath.length ? `Path: ${onPath.join(", ")}.` : "",
    glyph.busy === null
      ? ""
      : `${device} busy ${formatShare(glyph.busy)}: ${kernels} of kernels${waited ? "" : " that the end of the step waited for nowhere"}.`,
  ]
    .filter(Boolean)
    .join(" ");
}

/** `Step 5` of `ProfilerStep#5`. */
export const stepTitle = (name: string): string => {
  const number = stepName(name);
  return number === name ? name : `Step ${number}`;
};

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
