import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { ApiError, fetchColumns, fetchJson } from "../../api/client";
import type { OfContent, OfTrace } from "../../api/routes.gen";
import type {
  AlignedWorker,
  AlignmentPayload,
  NamesPayload,
  TimelinePayload,
} from "../../api/types.gen";
import { rangesText } from "../../base/ranges";
import { NOTHING, type Resource, useResource, useResources } from "../../state/resource";
import type { Selection } from "../../state/view";
import { onAxis, type Placed } from "../../timeline/clock";
import type { Source, TimeRange } from "../../timeline/types";

export interface Wanted extends Placed {
  /** In the address; empty where one worker is shown alone, else its place among the run's workers. */
  key: string;
  label: string;
  worker: AlignedWorker | null;
  query: OfTrace;
  /** The ranks that are shown, as ranges; empty where they were not chosen. */
  ranks: string;
}

export interface Recording extends Wanted {
  /** Run, worker, span and the id of the content: what every question about it needs. */
  query: OfTrace & OfContent;
  timeline: TimelinePayload;
  names: NameBook;
  source: Source;
}

export interface Recordings {
  recordings: readonly Recording[];
  /** All that were asked for, with what became of them, in that order. */
  parts: readonly { wanted: Wanted; resource: Resource<TimelinePayload> }[];
  /** `null` where one worker is shown. */
  alignment: Resource<AlignmentPayload> | null;
  span: TimeRange;
}

/** Workers that are shown: the chosen one (empty), all of the run, or those of some ranks, as ranges: `0-7,64`. */
export type Shown = string;

export const ALL_WORKERS = "all";

/** `pair`: before and after instead; empty until they are known. */
export function useRecordings(
  selection: Selection,
  shown: Shown,
  pair: readonly Wanted[] | null = null,
): Recordings {
  const { run, worker, span } = selection;
  const several = shown !== "" && !pair;
  const ranks = shown === ALL_WORKERS ? "" : shown;
  const query = useMemo(() => ({ run, worker, span }), [run, worker, span]);
  const asked = useMemo(() => (ranks ? { ...query, ranks } : query), [query, ranks]);
  const alignment = useResource(several ? "trace/alignment" : null, asked);
  const data = isOfEarlierChoice(alignment) ? null : alignment.data;
  const wanted = useMemo(
    () =>
      pair ??
      (several
        ? fromAlignment(run, data, ranks)
        : [{ key: "", label: worker, worker: null, query, offset: 0, ranks: "" }]),
    [pair, several, run, worker, data, query, ranks],
  );
  const queries = useMemo(() => wanted.map((item) => item.query), [wanted]);
  const resources = useResources("trace/timeline", queries);
  useNewAlignment(alignment, resources);
  const books = useRef(new Map<string, NameBook>());
  const outdated = useOutdated(resources);
  const recordings = useMemo(
    () =>
      wanted.flatMap((item, place) => {
        const timeline = resources[place]?.data;
        return timeline
          ? [recordingOf(item, timeline, bookFor(books.current, item.query, timeline), outdated)]
          : [];
      }),
    [wanted, resources, outdated],
  );
  const steady = useSteady(recordings);
  return {
    recordings: steady,
    parts: wanted.map((item, place) => ({ wanted: item, resource: resources[place] ?? WAITING })),
    alignment: several ? alignment : null,
    span: useMemo(() => spanOf(steady), [steady]),
  };
}

/** Its workers have other places. */
export const isOfEarlierChoice = ({ state, stale }: Resource<AlignmentPayload>): boolean =>
  state === "loading" && stale;

const WAITING: Resource<TimelinePayload> = { ...NOTHING, reload: () => undefined };

/** Asks for the timelines again, once per content, when a tile says that the file has changed since. */
function useOutdated(resources: readonly Resource<TimelinePayload>[]): (id: string) => void {
  const newest = useRef(resources);
  newest.current = resources;
  const reported = useRef(new Set<string>());
  return useCallback((id) => {
    if (reported.current.has(id)) return;
    reported.current.add(id);
    newest.current.forEach(({ reload }) => reload());
  }, []);
}

export function fromAlignment(
  run: string,
  alignment: AlignmentPayload | null,
  ranks = "",
): Wanted[] {
  return (alignment?.workers ?? []).map((item, place) => ({
    key: String(place),
    label: item.rank === null ? item.worker : `rank ${item.rank}`,
    worker: item,
    query: { run, worker: item.worker, span: item.span },
    offset: item.offset_ns,
    ranks,
  }));
}

/** A worker that has come since may have moved the others: its collectives count, too. */
function useNewAlignment(
  alignment: Resource<AlignmentPayload>,
  resources: readonly Resource<TimelinePayload>[],
): void {
  const loaded = resources.filter((resource) => resource.data).length;
  const known = alignment.data?.workers.filter((item) => item.ready).length ?? 0;
  const { reload, state } = alignment;
  const asked = useRef(0);
  useEffect(() => {
    if (state !== "ready" || loaded <= known || asked.current === loaded) return;
    asked.current = loaded;
    reload();
  }, [loaded, known, reload, state]);
}

function bookFor(
  books: Map<string, NameBook>,
  query: OfTrace,
  timeline: TimelinePayload,
): NameBook {
  const { id, name_page, name_count } = timeline;
  const book =
    books.get(id) ??
    nameBook(
      (first) => fetchJson("trace/names", { ...query, id, first: String(first) }),
      name_page,
      name_count,
    );
  books.set(id, book);
  return book;
}

export function recordingOf(
  wanted: Wanted,
  timeline: TimelinePayload,
  names: NameBook,
  outdated: (id: string) => void,
): Recording {
  const query = { ...wanted.query, id: timeline.id };
  const source: Source = {
    offset: wanted.offset,
    span: timeline.span_ns,
    levelMax: timeline.level_max,
    lanes: timeline.groups.reduce((most, group) => Math.max(most, group.lane + group.lanes), 0),
    load: async ({ level, ks, lanes }, signal) => {
      const asked = {
        ...query,
        level: String(level),
        k: ks.join(","),
        lanes: rangesText(lanes),
      };
      try {
        return await fetchColumns("trace/tiles", asked, signal);
      } catch (thrown) {
        if (thrown instanceof ApiError && thrown.code === "outdated") outdated(timeline.id);
        throw thrown;
      }
    },
    name: names.name,
  };
  return { ...wanted, query, timeline, names, source };
}

/** One array as long as it says the same, because new sources begin with no tile. */
function useSteady(recordings: readonly Recording[]): readonly Recording[] {
  const last = useRef(recordings);
  const text = (list: readonly Recording[]): string =>
    list
      .map(({ key, label, offset, timeline }) => [key, label, offset, timeline.id].join(" "))
      .join("\n");
  if (text(last.current) !== text(recordings)) last.current = recordings;
  return last.current;
}

export function spanOf(recordings: readonly (Placed & Pick<Recording, "timeline">)[]): TimeRange {
  const t0 = recordings.length ? Math.min(...recordings.map((item) => onAxis(item, 0))) : 0;
  const ends = recordings.map((item) => onAxis(item, item.timeline.span_ns));
  return { t0, t1: Math.max(t0 + 1, ...ends) };
}

/** Pause before a page that could not be had is asked for again, ms. */
const RETRY_MS = 5000;

type NameBook = ReturnType<typeof nameBook>;

/** `fetchPage` answers with the names from `first`; `page` names at a time, of `count`. */
export function nameBook(
  fetchPage: (first: number) => Promise<NamesPayload>,
  page: number,
  count: number,
) {
  const names: (string | undefined)[] = [];
  const asked = new Set<number>();
  const watchers = new Set<() => void>();
  const ask = (first: number): void => {
    if (asked.has(first)) return;
    asked.add(first);
    fetchPage(first).then(
      (payload) => {
        payload.names.forEach((name, place) => (names[payload.first + place] = name));
        watchers.forEach((tell) => tell());
      },
      () => setTimeout(() => asked.delete(first), RETRY_MS),
    );
  };
  return {
    /** The name, or `undefined` while it is on its way. */
    name: (number: number): string | undefined => {
      const name = names[number];
      if (name === undefined && number >= 0 && number < count) ask(number - (number % page));
      return name;
    },
    numbers: (passes: (name: string) => boolean): Set<number> =>
      new Set(
        names.flatMap((name, number) => (name !== undefined && passes(name) ? [number] : [])),
      ),
    /** Calls back when names came; returns how to stop. */
    watch: (listener: () => void): (() => void) => {
      watchers.add(listener);
      return () => void watchers.delete(listener);
    },
  };
}
