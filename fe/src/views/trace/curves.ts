import { useMemo, useRef } from "preact/hooks";
import type { Parameters } from "../../api/client";
import type { CounterCurve, CounterSeries, CountersPayload } from "../../api/types.gen";
import * as LIMITS from "../../base/limits.gen";
import { formatBytes, formatNumber, formatShare } from "../../base/units";
import { useResources, type Resource } from "../../state/resource";
import type { Sight } from "../../timeline/props";
import type { Curve, CurveValue, TimeRange } from "../../timeline/types";
import type { Recording } from "./recordings";
import { counterKey } from "./tree";
import { ownWindow, windowFor, type Window } from "./window";

/** More rows are never in sight. */
const MOST_SERIES = LIMITS.trace_counters.series;

interface Question {
  recording: Recording;
  series: readonly number[];
  query: Parameters["trace/counters"];
}

interface Asked {
  questions: readonly Question[];
  answers: readonly Pick<Resource<CountersPayload>, "data">[];
}

/** Curves by the key of their row. What is on its way is drawn as it was. */
export function useCurves(
  recordings: readonly Recording[],
  sight: Sight | null,
): ReadonlyMap<string, Curve> {
  const { questions, answers } = useCounters(recordings, sight, useWindow(sight));
  const last = useRef<ReadonlyMap<string, Curve>>(new Map());
  return useMemo(() => {
    const next = new Map(last.current);
    eachCurve(questions, answers, (key, payload, curve, about, offset) =>
      next.set(key, curveOf(payload, curve, about, offset)),
    );
    last.current = next;
    return next;
  }, [questions, answers]);
}

/** Lowest, highest and mean value of each curve in sight over an area, by the key of its row. */
export function useFigures(
  recordings: readonly Recording[],
  sight: Sight | null,
  area: TimeRange | null,
): ReadonlyMap<string, CurveValue> {
  const window = useMemo(() => area && { t0: area.t0, t1: area.t1, parts: 1 }, [area]);
  const { questions, answers } = useCounters(recordings, sight, window);
  return useMemo(() => {
    const figures = new Map<string, CurveValue>();
    eachCurve(questions, answers, (key, _, { lowest, highest, mean }) => {
      const [low, high] = [lowest[0] ?? null, highest[0] ?? null];
      if (low !== null && high !== null)
        figures.set(key, { lowest: low, highest: high, mean: mean[0] ?? null });
    });
    return figures;
  }, [questions, answers]);
}

/** The curves in sight over a window. */
function useCounters(
  recordings: readonly Recording[],
  sight: Sight | null,
  window: Window | null,
): Asked {
  const counters = sight?.rows.filter((row) => row.counter >= 0) ?? [];
  const seen = counters.map((row) => `${row.source}:${row.counter}`).join(" ");
  const questions = useMemo(
    () => (window && seen ? questionsFor(recordings, seen, window) : []),
    [recordings, seen, window],
  );
  const queries = useMemo(() => questions.map((question) => question.query), [questions]);
  return { questions, answers: useResources("trace/counters", queries) };
}

/** The stretch that is fetched for what is in sight; the same object as long as it does. */
export function useWindow(sight: Sight | null): Window | null {
  const last = useRef<Window | null>(null);
  if (sight) last.current = windowFor(last.current, sight);
  return last.current;
}

function questionsFor(recordings: readonly Recording[], seen: string, window: Window): Question[] {
  const wanted = seen.split(" ").map((text) => text.split(":").map(Number));
  return recordings.flatMap((recording, source) => {
    const wantedHere = new Set(
      wanted.flatMap(([of, counter = 0]) => (of === source ? [counter] : [])),
    );
    const series = [...wantedHere].sort((a, b) => a - b).slice(0, MOST_SERIES);
    const own = ownWindow(window, recording.offset, recording.timeline.span_ns);
    if (!series.length || !own) return [];
    const query = {
      ...recording.query,
      series: series.join(","),
      t0: String(own.t0),
      t1: String(own.t1),
      n: String(own.parts),
    };
    return [{ recording, series, query }];
  });
}

function eachCurve(
  questions: Asked["questions"],
  answers: Asked["answers"],
  take: (
    key: string,
    payload: CountersPayload,
    curve: CounterCurve,
    about: CounterSeries,
    offset: number,
  ) => void,
): void {
  questions.forEach(({ recording, series }, place) => {
    const payload = answers[place]?.data;
    if (!payload) return;
    series.forEach((number, at) => {
      const about = recording.timeline.counters[number];
      const curve = payload.curves[at];
      if (about && curve)
        take(counterKey(recording.key, about), payload, curve, about, recording.offset);
    });
  });
}

export function curveOf(
  payload: Pick<CountersPayload, "t0_ns" | "t1_ns">,
  curve: CounterCurve,
  about: CounterSeries,
  offset: number,
): Curve {
  // Most counters count from zero; an axis that does not would make small changes look large.
  const from = Math.min(0, about.lowest);
  const to = about.unit === "share" ? 1 : Math.max(about.highest, 0);
  return {
    range: { t0: payload.t0_ns + offset, t1: payload.t1_ns + offset },
    lowest: numbers(curve.lowest),
    highest: numbers(curve.highest),
    mean: about.mean ? numbers(curve.mean) : null,
    from,
    to: to > from ? to : from + 1,
    format: (value) => formatCounter(value, about.unit),
  };
}

const numbers = (values: readonly (number | null)[]): Float64Array =>
  Float64Array.from(values, (value) => value ?? NaN);

export function formatCounter(value: number, unit: string): string {
  if (unit === "bytes") return formatBytes(value);
  if (unit === "share") return formatShare(value);
  return unit ? `${formatNumber(value)} ${unit}` : formatNumber(value);
}
