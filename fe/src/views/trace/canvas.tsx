import * as LIMITS from "../../base/limits.gen";
import { useMemo, useRef } from "preact/hooks";
import type { CounterCurve, CounterSeries, CountersPayload } from "../../api/types.gen";
import { parseRanges } from "../../base/ranges";
import { format, formatNumber } from "../../base/units";
import { Timeline } from "../../timeline/Timeline";
import { endOnAxis, onAxis, ownAt, type Placed } from "../../timeline/clock";
import type { VisibleRange } from "../../timeline/props";
import type { Curve, CurveValue, Slice, TimeRange } from "../../timeline/types";
import { lookOf } from "./looks";
import { readColour, readGrouping } from "./params";
import { timeOnPath } from "./path";
import { type Recording } from "./recordings";
import { keepView, obey, type TraceState, withMark } from "./trace_state";
import { counterKey, treeOf } from "./tree";
import type { Window } from "./window";
import { type More, useWindow, useWindowed, type Windowed } from "./use_window";
import { alignmentText } from "./workers";

interface CanvasProps {
  state: TraceState;
  first: TimeRange | null;
  onHelp: () => void;
}

export function Canvas({ state, first, onHelp }: CanvasProps) {
  const { recordings, span, choice, found } = state;
  const grouping = readGrouping(state.view.params.group);
  const onPath = state.view.params.path === "1";
  const tree = useMemo(
    () =>
      treeOf(
        recordings.map((item) => ({
          ...item,
          note: item.worker ? alignmentText(item.worker) : "",
          open: !item.worker,
        })),
        grouping,
        onPath,
      ),
    [recordings, grouping, onPath],
  );
  const curves = useCurves(recordings, state.visible);
  const figures = useFigures(recordings, state.visible, state.area);
  const sources = useMemo(() => recordings.map((item) => item.source), [recordings]);
  const describe = (slice: Slice): readonly string[] => [
    lookOf(slice.look).label,
    ...timeOnPath(state.path.highlight[slice.source], slice, recordings[slice.source]),
  ];
  const none = useMemo(() => recordings.map(() => null), [recordings]);
  return (
    <Timeline
      sources={sources}
      tree={tree}
      span={span}
      initialView={first}
      boundaries={state.boundaries}
      marks={state.marks}
      arrows={state.arrows}
      curves={curves}
      figures={figures}
      activity={state.activity}
      colourBy={readColour(state.view.params.colour)}
      selected={choice.selected}
      area={state.area}
      hits={found.idle || state.view.params.dim !== "1" ? none : found.hits}
      highlight={state.path.highlight}
      gaps={state.gaps}
      litGroup={state.litGroup}
      hitHeat={found.idle ? null : found.heat}
      rows={state.rows}
      onRows={state.setRows}
      onSelect={choice.choose}
      onArea={state.setArea}
      onMark={(range) => withMark(state, range)}
      onCommand={(command) => obey(state, command, onHelp)}
      onVisible={state.setVisible}
      onViewSettled={(view) => keepView(state, view)}
      describe={describe}
      handle={(handle) => {
        state.handle.current = handle;
      }}
    />
  );
}

/** More rows are never in sight. */
const MOST_SERIES = LIMITS.trace_counters.series;

type Asked = readonly Windowed<"trace/counters">[];

/** Curves by the key of their row. What is on its way is drawn as it was. */
function useCurves(
  recordings: readonly Recording[],
  visible: VisibleRange | null,
): ReadonlyMap<string, Curve> {
  const asked = useCounters(recordings, visible, useWindow(visible));
  const last = useRef<ReadonlyMap<string, Curve>>(new Map());
  return useMemo(() => {
    last.current = new Map([...last.current, ...byRow(asked, curveOf)]);
    return last.current;
  }, [asked]);
}

/** Lowest, highest and mean value of each curve in sight over an area, by the key of its row. */
function useFigures(
  recordings: readonly Recording[],
  visible: VisibleRange | null,
  area: TimeRange | null,
): ReadonlyMap<string, CurveValue> {
  const window = useMemo(() => area && { t0: area.t0, t1: area.t1, parts: 1 }, [area]);
  const asked = useCounters(recordings, visible, window);
  return useMemo(() => new Map(byRow(asked, figuresOf)), [asked]);
}

/** The curves in sight over a window. */
function useCounters(
  recordings: readonly Recording[],
  visible: VisibleRange | null,
  window: Window | null,
): Asked {
  const rows = visible?.rows.filter(({ counter }) => counter >= 0) ?? [];
  const wanted = recordings.map((_, source) =>
    rows.flatMap((row) => (row.source === source ? [row.counter] : [])).join(","),
  );
  return useWindowed("trace/counters", recordings, window, wanted.join(";"), inSight);
}

const inSight: More<"trace/counters"> = ({ source, own, wanted }) => {
  const series = parseRanges(wanted.split(";")[source] ?? "", MOST_SERIES);
  return series.length ? { series: series.join(","), n: `${own.parts}` } : null;
};

/** What is made of each curve that has come, with the key of its row. */
function byRow<T>(
  asked: Asked,
  make: (
    payload: CountersPayload,
    curve: CounterCurve,
    about: CounterSeries,
    at: Placed,
  ) => T | null,
): [string, T][] {
  return asked.flatMap(({ recording, query, data }) =>
    (data ? query.series.split(",") : []).flatMap((number, place): [string, T][] => {
      const about = recording.timeline.counters[Number(number)];
      const curve = data?.curves[place];
      const made = data && about && curve && make(data, curve, about, recording);
      return made ? [[counterKey(recording.key, about), made]] : [];
    }),
  );
}

function figuresOf(_: unknown, { lowest, highest, mean }: CounterCurve): CurveValue | null {
  const [low = null, high = null] = [lowest[0], highest[0]];
  return low === null || high === null
    ? null
    : { lowest: low, highest: high, mean: mean[0] ?? null };
}

export function curveOf(
  payload: Pick<CountersPayload, "t0_ns" | "t1_ns">,
  curve: CounterCurve,
  about: CounterSeries,
  at: Placed,
): Curve {
  // Most counters count from zero; an axis that does not would make small changes look large.
  const from = Math.min(0, about.lowest);
  const { t0_ns: t0, t1_ns: t1 } = payload;
  const range = { t0: onAxis(at, t0), t1: endOnAxis(at, t1) };
  /** In equal buckets of the axis. */
  const numbers = (values: readonly (number | null)[]): Float64Array => {
    const part = (range.t1 - range.t0) / values.length;
    const placeOf = (i: number): number =>
      at.line
        ? Math.floor(((ownAt(at, range.t0 + (i + 0.5) * part) - t0) / (t1 - t0)) * values.length)
        : i;
    return Float64Array.from(values, (_, i) => values[placeOf(i)] ?? NaN);
  };
  const to = about.unit === "share" ? 1 : Math.max(about.highest, 0);
  return {
    range,
    lowest: numbers(curve.lowest),
    highest: numbers(curve.highest),
    mean: about.mean ? numbers(curve.mean) : null,
    from,
    to: to > from ? to : from + 1,
    format: (value) => formatCounter(value, about.unit),
  };
}

export function formatCounter(value: number, unit: string): string {
  if (unit === "bytes" || unit === "share") return format(value, unit);
  return unit ? `${formatNumber(value)} ${unit}` : formatNumber(value);
}
