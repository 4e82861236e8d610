/** Another recording beside the chosen one on one axis: matched operations start above each other, what one takes longer for is a gap of the other. */

import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import type { AxisPayload, AxisSide } from "../../api/types.gen";
import { formatDelta } from "../../base/units";
import { capitalised } from "../../base/words";
import { type Resource, useResource } from "../../state/resource";
import { otherSide, runsStore } from "../../state/runs";
import { useStore } from "../../state/store";
import { type Params, type Side, sideParams, viewQuery, type ViewProps } from "../../state/view";
import type { Placed } from "../../timeline/clock";
import type { VisibleRange } from "../../timeline/props";
import type { Gap, TimeRange } from "../../timeline/types";
import type { Series } from "../../widgets";
import { groupLooks } from "../critical_path/groups";
import type { Recording, Wanted } from "./recordings";
import { timesOf, type Window, windowFor } from "./window";

export interface Comparison {
  resource: Resource<AxisPayload>;
  /** Whether operations start above each other; else only the first steps do. */
  aligned: boolean;
  /** Before and after; empty until it is known which is which. */
  wanted: readonly Wanted[];
  /** Where their times stand. */
  placed: readonly Placed[];
  gaps: readonly Gap[];
  look: (visible: VisibleRange) => void;
}

/** `null` where the address names no other recording. */
export function useComparison(props: ViewProps): Comparison | null {
  const runs = useStore(runsStore, ({ payload }) => payload);
  const other = otherSide(runs, props.params);
  const [window, setWindow] = useState<Window | null>(null);
  const last = useRef<Window | null>(null);
  const resource = useResource("diff/axis", other && queryOf(props, other, window));
  const { data } = resource;
  const aligned = props.params.align !== "0";
  const sides = data ? [data.before, data.after].map(textOf).join("\n") : "";
  // eslint-disable-next-line react-hooks/exhaustive-deps
  const wanted = useMemo(() => (data ? wantedOf(data) : []), [sides]);
  const placed = useMemo(() => (data ? placedOf(data, aligned) : []), [data, aligned]);
  const gaps = useMemo(() => (data && aligned ? gapsOf(data) : []), [data, aligned]);
  const look = useCallback((visible: VisibleRange) => {
    last.current = windowFor(last.current, visible);
    setWindow(last.current);
  }, []);
  return other && { resource, aligned, wanted, placed, gaps, look };
}

function queryOf(props: ViewProps, { selection, steps }: Side, window: Window | null) {
  const query = viewQuery(props, {
    ...sideParams(selection, steps),
    earlier_first: props.params.given2 ? ("" as const) : ("1" as const),
  });
  if (!window || window.t1 <= 0) return query;
  return {
    ...query,
    ...timesOf({ t0: Math.max(0, window.t0), t1: window.t1 }),
    // Two px of a part: less is no gap to look at.
    n: `${Math.ceil(window.parts / 2)}`,
  };
}

const textOf = ({ run, worker, span, step_name }: AxisSide): string =>
  [run, worker, span, step_name].join("\n");

/** What tells the sides apart. */
function labelsOf({ before, after }: AxisPayload): [string, string] {
  if (before.run !== after.run) return [`Before · ${before.run}`, `After · ${after.run}`];
  if (before.worker !== after.worker) return [before.worker, after.worker];
  return before.begin_ns === after.begin_ns
    ? ["Before", "After"]
    : [capitalised(before.step_name) || "Before", capitalised(after.step_name) || "After"];
}

function wantedOf(data: AxisPayload): Wanted[] {
  const labels = labelsOf(data);
  return [data.before, data.after].map(({ run, worker, span }, place) => ({
    key: String(place),
    label: labels[place] ?? "",
    worker: null,
    query: { run, worker, span },
    offset: 0,
    ranks: "",
  }));
}

export function placedOf(data: AxisPayload, aligned: boolean): Placed[] {
  const { before, after } = data;
  if (!aligned) return [{ offset: 0 }, { offset: before.begin_ns - after.begin_ns }];
  const axis = Float64Array.from(data.axis_ns);
  return [data.before_ns, data.after_ns].map((own) => ({
    offset: 0,
    line: { axis, own: Float64Array.from(own) },
  }));
}

export function gapsOf({ group, axis_ns, before_ns, device }: AxisPayload): Gap[] {
  const looks = groupLooks(device);
  return group.flatMap((key, i): Gap[] => {
    if (key === null) return [];
    const [start = 0, end = 0] = [axis_ns[i - 1], axis_ns[i]];
    const lost = before_ns[i] === before_ns[i - 1];
    const label = looks.find((look) => look.key === key)?.label ?? key;
    const size = formatDelta(lost ? end - start : start - end);
    const about = `${lost ? "lost" : "gained"}, most of it in: ${label}`;
    return [{ source: lost ? 0 : 1, start, end, lost, group: key, about: [size, about] }];
  });
}

/** The recordings where they stand on the axis. */
export function usePlaced(
  recordings: readonly Recording[],
  comparison: Comparison | null,
): readonly Recording[] {
  const placed = comparison?.placed;
  return useMemo(
    () =>
      placed
        ? recordings.map((recording, i) => ({
            ...recording,
            ...placed[i],
            source: { ...recording.source, ...placed[i] },
          }))
        : recordings,
    [recordings, placed],
  );
}

export interface Cause extends Series {
  ns: number;
}

/** What of a gap is in a view, above 0 lost. */
export function seenOf({ start, end, lost }: Gap, { t0, t1 }: TimeRange): number {
  const seen = Math.max(0, Math.min(end, t1) - Math.max(start, t0));
  return lost ? seen : -seen;
}

/** What the gaps in a view come to by cause, above 0 lost, the largest first. */
export function causesOf(gaps: readonly Gap[], view: TimeRange, device: string): Cause[] {
  const sums = new Map<string, number>();
  for (const gap of gaps) {
    const seen = seenOf(gap, view);
    if (seen) sums.set(gap.group, (sums.get(gap.group) ?? 0) + seen);
  }
  return groupLooks(device)
    .flatMap((look) => (sums.has(look.key) ? [{ ...look, ns: sums.get(look.key) ?? 0 }] : []))
    .sort((a, b) => Math.abs(b.ns) - Math.abs(a.ns));
}

/** The address' keys of the other side. */
const KEYS = ["run2", "worker2", "span2", "steps2", "skip_cold2"] as const;

export const pairText = (params: Params): string => KEYS.map((key) => params[key] ?? "").join("\n");
