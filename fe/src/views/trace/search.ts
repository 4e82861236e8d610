import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { fetchJson } from "../../api/client";
import type {
  ChosenKind,
  EventRef,
  MatchesTable,
  NextHitPayload,
  SearchPayload,
} from "../../api/types.gen";
import { messageOf } from "../../base/errors";
import { exactPattern } from "../../base/search";
import { useResources } from "../../state/resource";
import type { Heat } from "../../timeline/props";
import type { TimeRange } from "../../timeline/types";
import { rowsOf, type RowOf } from "../rows";
import { mergedKinds, type KindCount } from "./kinds";
import { onAxis, ownAt, type Placed } from "../../timeline/clock";
import { spanOf, type Recording } from "./recordings";
import { timesOf } from "./window";

export interface Wish {
  text: string;
  regex: boolean;
  /** Arguments are looked through, too. */
  args: boolean;
  /** `first`: the first kind, in the order of `KINDS`, that there are hits of. */
  kind: ChosenKind;
}

export interface Found {
  wish: Wish;
  idle: boolean;
  busy: boolean;
  error: string | null;
  /** The kind of the hits, and how many there are of each. */
  kind: ChosenKind;
  kinds: readonly KindCount[];
  total: number;
  names: MatchesTable;
  namesTotal: number;
  /** By recording: numbers of the names that are hits, `null` where that is not known. */
  hits: readonly (ReadonlySet<number> | null)[];
  heat: Heat | null;
}

/** Pause after a keystroke before the server is asked, ms. */
const PAUSE_MS = 200;
const HEAT_PARTS = 1200;

const questionOf = ({ text, regex, args, kind }: Wish) => ({
  q: text,
  ...(regex ? { re: "1" as const } : {}),
  ...(args ? { args: "1" as const } : {}),
  ...(kind === "all" ? {} : { kind }),
});

/** `named` changes when names came: then more of the hits can be told. */
export function useSearch(
  recordings: readonly Recording[],
  span: TimeRange,
  wish: Wish,
  named: number,
): Found {
  const asked = useDebounced(
    useMemo(() => ({ ...wish }), [wish.text, wish.regex, wish.args, wish.kind]), // eslint-disable-line react-hooks/exhaustive-deps
    PAUSE_MS,
  );
  const idle = !asked.text.trim();
  const queries = useMemo(
    () =>
      idle
        ? []
        : recordings.map(({ query }) => ({
            ...query,
            ...questionOf(asked),
          })),
    [recordings, asked, idle],
  );
  const answers = useResources("trace/search", queries);
  const kinds = useMemo(() => mergedKinds(answers.map(({ data }) => data?.kinds ?? [])), [answers]);
  const kind = asked.kind === "first" ? (kinds[0]?.kind ?? "first") : asked.kind;
  const found = useMemo<Wish>(() => ({ ...asked, kind }), [asked, kind]);
  const heat = useHeat(recordings, span, idle || kind === "first" ? null : found);
  return useMemo(() => {
    // A worker may have no hits of the kind that is the first of others.
    const payloads = answers.map(({ data }) => (data?.kind === kind ? data : null));
    const error = answers.find((answer) => answer.error)?.error ?? null;
    const names = mergedNames(payloads);
    return {
      wish: found,
      idle,
      kind,
      kinds,
      busy:
        !idle &&
        answers.some((answer) => answer.state === "loading" || answer.state === "importing"),
      error: error && [error.message, error.hint].filter(Boolean).join(" "),
      total: payloads.reduce((total, payload) => total + (payload?.total ?? 0), 0),
      names,
      namesTotal: Math.max(
        names.name.length,
        ...payloads.map((payload) => payload?.names_total ?? 0),
      ),
      hits: recordings.map((recording, place) => hitNumbers(recording, payloads[place] ?? null)),
      heat,
    };
    // Names that came are read through `recordings`.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [recordings, found, kinds, idle, answers, heat, named]);
}

function useHeat(
  recordings: readonly Recording[],
  span: TimeRange,
  wish: Wish | null,
): Heat | null {
  const queries = useMemo(
    () =>
      wish
        ? recordings.map(({ query, timeline }) => ({
            ...query,
            ...questionOf(wish),
            ...timesOf({ t0: 0, t1: timeline.span_ns }),
            n: String(HEAT_PARTS),
          }))
        : [],
    [recordings, wish],
  );
  const answers = useResources("trace/search/heat", queries);
  return useMemo(() => {
    const parts = recordings.flatMap((at, place) => {
      const counts = answers[place]?.data?.counts;
      return counts ? [{ counts, at, length: Math.max(1, at.timeline.span_ns) }] : [];
    });
    return parts.length ? { range: span, counts: mergedHeat(parts, span) } : null;
  }, [recordings, span, answers]);
}

export function mergedHeat(
  parts: readonly { counts: readonly number[]; at: Placed; length: number }[],
  span: TimeRange,
): number[] {
  const merged = new Array<number>(HEAT_PARTS).fill(0);
  for (const { counts, at, length } of parts) {
    counts.forEach((count, i) => {
      const time = onAxis(at, ((i + 0.5) * length) / counts.length);
      const place = Math.floor(((time - span.t0) / (span.t1 - span.t0)) * HEAT_PARTS);
      merged[Math.min(HEAT_PARTS - 1, Math.max(0, place))]! += count; // eslint-disable-line @typescript-eslint/no-non-null-assertion
    });
  }
  return merged;
}

/** A hit with its place in time among those of its recording; null where that is unknown. */
export interface Hit {
  source: number;
  ref: EventRef;
  index: number | null;
}

const startOf = (recordings: readonly Placed[], { source, ref }: Hit): number =>
  onAxis(recordings[source] ?? { offset: 0 }, ref.start_ns);

/** Hits by name over all recordings, the costliest first. */
export function mergedNames(payloads: readonly (SearchPayload | null)[]): MatchesTable {
  const merged = new Map<string, RowOf<MatchesTable>>();
  for (const item of payloads.flatMap((payload) => (payload ? rowsOf(payload.names) : []))) {
    const { name, look, count, total_ns } = item;
    const before = merged.get(`${look} ${name}`);
    merged.set(`${look} ${name}`, {
      ...item,
      count: count + (before?.count ?? 0),
      total_ns: total_ns + (before?.total_ns ?? 0),
    });
  }
  const rows = [...merged.values()].sort((a, b) => b.total_ns - a.total_ns);
  return {
    name: rows.map(({ name }) => name),
    look: rows.map(({ look }) => look),
    count: rows.map(({ count }) => count),
    total_ns: rows.map(({ total_ns }) => total_ns),
  };
}

function hitNumbers(
  recording: Recording,
  payload: SearchPayload | null,
): ReadonlySet<number> | null {
  // Where not all names are told, dimming the others would hide hits.
  if (!payload || payload.names.name.length < payload.names_total) return null;
  const names = new Set(payload.names.name);
  return recording.names.numbers((name) => names.has(name));
}

export function useDebounced<T>(value: T, ms: number): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(() => value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return rested;
}

export type Direction = "next" | "previous";

export async function nextHit(
  recordings: readonly Recording[],
  wish: Wish,
  /** Where to go on from: an event of a recording, or a time on the common clock. */
  start: { event: { source: number; event: number; start: number } | null; time: number },
  direction: Direction,
  signal: AbortSignal,
): Promise<Hit | null> {
  const from = start.event?.start ?? start.time;
  const asked = recordings.map(async (recording, source) => {
    const own = start.event?.source === source;
    const time = Math.min(recording.timeline.span_ns, Math.max(0, ownAt(recording, from)));
    const position = own
      ? { [direction === "next" ? "after" : "before"]: String(start.event?.event) }
      : { t: String(Math.round(time)), dir: direction };
    const query = { ...recording.query, ...questionOf(wish), ...position };
    const payload = await fetchJson("trace/search/next", query, signal);
    return { source, payload, at: recording };
  });
  return nearest(await Promise.all(asked), from, direction);
}

/** The nearest in the direction; where all went round, the first from the other end. */
export function nearest(
  answers: readonly { source: number; payload: NextHitPayload; at: Placed }[],
  from: number,
  direction: Direction,
): Hit | null {
  const sign = direction === "next" ? 1 : -1;
  const hits = answers
    .flatMap(({ source, payload: { hit: ref, index }, at }) =>
      ref ? [{ hit: { source, ref, index }, ahead: (onAxis(at, ref.start_ns) - from) * sign }] : [],
    )
    .sort((a, b) => a.ahead - b.ahead);
  return (hits.find(({ ahead }) => ahead >= 0) ?? hits[0])?.hit ?? null;
}

export async function extentOfName(
  recordings: readonly Recording[],
  name: string,
  signal: AbortSignal,
): Promise<{ range: TimeRange; first: Hit } | null> {
  const wish: Wish = {
    text: exactPattern(name),
    regex: true,
    args: false,
    kind: "all",
  };
  const { t0: begin, t1: end } = spanOf(recordings);
  const [first, last] = await Promise.all([
    nextHit(recordings, wish, { event: null, time: begin }, "next", signal),
    nextHit(recordings, wish, { event: null, time: end }, "previous", signal),
  ]);
  if (!first || !last) return null;
  const t0 = startOf(recordings, first);
  return {
    range: { t0, t1: Math.max(t0 + 1, startOf(recordings, last) + last.ref.dur_ns) },
    first,
  };
}

/** Keeps one question going: a new one ends the one before, and so does the end of the component. What goes wrong is told as text. */
export function useOneAtATime() {
  const [problem, setProblem] = useState("");
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const ask = (run: (signal: AbortSignal) => Promise<void>): void => {
    running.current?.abort();
    const { signal } = (running.current = new AbortController());
    run(signal).then(
      () => setProblem(""),
      (thrown: unknown) => {
        if (!signal.aborted) setProblem(messageOf(thrown));
      },
    );
  };
  return { problem, ask };
}
