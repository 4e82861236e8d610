/** The state that the timeline and the panels around it share: read from the address bar, asked of the server, and what can be done with it. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { CollectivePeer, TimelineStep } from "../../api/types.gen";
import { formatTime } from "../../base/units";
import { type Params, rowOfStep, type StepRange, type ViewProps } from "../../state/view";
import type {
  Activity,
  Command,
  RowState,
  VisibleRange,
  TimelineHandle,
} from "../../timeline/props";
import { endOnAxis, onAxis, ownAt, type Placed } from "../../timeline/clock";
import { timeText } from "../../timeline/ruler";
import type { Area, Arrow, Boundary, Gap, Mark, TimeRange } from "../../timeline/types";
import { around } from "../../timeline/viewport";
import { arrowsOfEvent, type ShownArrows, useArrows } from "./arrows";
import type { Comparison } from "./compare";
import { readKind } from "./kinds";
import {
  changesOf,
  listOf,
  readArea,
  readMarks,
  readRows,
  readView,
  type SetParams,
  writeArea,
  writeMarks,
  writeRows,
  writeView,
} from "./params";
import { type ShownPath, usePath } from "./path";
import { arrowsToPeers, usePeers } from "./peers";
import type { Recording } from "./recordings";
import {
  type Direction,
  extentOfName,
  type Found,
  type Hit,
  nextHit,
  useOneAtATime,
  useSearch,
  type Wish,
} from "./search";
import { type Choice, useSelection } from "./selection";

export interface TraceStateProps {
  view: ViewProps;
  recordings: readonly Recording[];
  span: TimeRange;
  /** The recording of the worker that is chosen in the header, and its place. */
  recording: Recording;
  main: number;
  comparison: Comparison | null;
}

export interface TraceState extends TraceStateProps {
  handle: { current: TimelineHandle | null };
  visible: VisibleRange | null;
  setVisible: (visible: VisibleRange) => void;
  choice: Choice;
  area: Area | null;
  setArea: (area: Area | null) => void;
  rows: RowState;
  setRows: (rows: RowState) => void;
  wish: Wish;
  setWish: (wish: Wish) => void;
  found: Found;
  finder: Finder;
  kinds: readonly string[];
  all: ShownArrows;
  arrows: readonly Arrow[];
  path: ShownPath;
  peers: readonly CollectivePeer[];
  marks: readonly Mark[];
  boundaries: readonly Boundary[];
  activity: Activity;
  gaps: readonly Gap[];
  /** The cause whose gaps stay bright. */
  litGroup: string | null;
  light: (group: string | null) => void;
  set: SetParams;
}

const NO_GAPS: readonly Gap[] = [];

/** The address bar's texts as values, steady as long as they say the same. */
export function useTraceState(props: TraceStateProps): TraceState {
  const { view, recordings, span, main } = props;
  const { params } = view;
  const set = useSetter(view);
  const handle = useRef<TimelineHandle | null>(null);
  const [visible, setSeen] = useState<VisibleRange | null>(null);
  const [litGroup, light] = useState<string | null>(null);
  const setVisible = (seen: VisibleRange): void => {
    setSeen(seen);
    props.comparison?.look(seen);
  };
  const named = useNames(recordings, handle);
  const choice = useSelection(recordings, params, set, handle);
  const wish = useWish(params);
  const found = useSearch(recordings, span, wish, named);
  const finder = useFinder(recordings, found.wish, choice, handle);
  const keys = useMemo(() => recordings.map(({ key }) => key), [recordings]);
  const area = useMemo(
    () => readArea(params.area, params.arealanes, keys),
    [params.area, params.arealanes, keys],
  );
  const { open, shut, pin, order, filter } = params;
  const [peek, setPeek] = useState<RowState["peek"]>(null);
  const rows = useMemo(
    () => ({ ...readRows(params), peek }),
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [open, shut, pin, order, filter, peek],
  );
  const kinds = useMemo(() => listOf(params.arrows), [params.arrows]);
  const all = useArrows(recordings, visible, kinds);
  const path = usePath(recordings, visible, params.path === "1");
  const { payload, source, recording } = choice;
  const peers = usePeers(recording, payload);
  const arrows = useMemo(() => {
    const drawn = [...all.arrows, ...path.arrows];
    if (!payload || !recording) return drawn;
    const own = arrowsOfEvent(payload, source, recording);
    return [...drawn, ...own, ...arrowsToPeers(peers, recordings, source, payload)];
  }, [all, path, payload, source, recording, recordings, peers]);
  const marks = useMemo(() => marksOf(recordings, params.mark), [recordings, params.mark]);
  const boundaries = useMemo(() => boundariesOf(recordings, main), [recordings, main]);
  const activity = useMemo(() => activityOf(recordings, span), [recordings, span]);
  useLinkedSearch(view, found, finder);
  return {
    ...props,
    ...{ handle, visible, setVisible, choice, area, rows, wish, found, finder, kinds, all },
    ...{ arrows, path, peers, marks, boundaries, activity, set, litGroup, light },
    gaps: props.comparison?.gaps ?? NO_GAPS,
    setWish: ({ text, ...how }) => set({ q: text, re: how.regex, args: how.args, kind: how.kind }),
    setArea: (next) => {
      set(next ? writeArea(next, keys) : { area: null, arealanes: null });
      if (next && !area) set({ table: "area" });
      if (!next && params.table === "area") set({ table: null });
    },
    setRows: (next) => {
      setPeek(next.peek);
      set(writeRows(next));
    },
  };
}

/** Sets only what is new: every setting draws the page again. */
function useSetter(view: ViewProps): SetParams {
  const newest = useRef(view);
  newest.current = view;
  return (values) => {
    const { params, setParam } = newest.current;
    for (const [key, text] of changesOf(values, params)) setParam(key, text);
  };
}

/** Draws again when names came, and counts how often. */
function useNames(
  recordings: readonly Recording[],
  handle: { current: TimelineHandle | null },
): number {
  const [named, setNamed] = useState(0);
  useEffect(() => {
    const ends = recordings.map(({ names }) =>
      names.watch(() => {
        handle.current?.redraw();
        setNamed((n) => n + 1);
      }),
    );
    return () => ends.forEach((end) => end());
  }, [recordings, handle]);
  return named;
}

export interface Finder {
  /** Place of the selected hit among those of its recording; `null` when no hit is selected. */
  index: number | null;
  problem: string;
  next: (direction: Direction) => void;
  /** Zooms to all events of a name and selects the first. */
  name: (name: string) => void;
}

/** The search that the address bar names. */
function useWish({ q, re, args, kind }: Params): Wish {
  return useMemo(
    () => ({
      text: q ?? "",
      regex: re === "1",
      args: args === "1",
      kind: readKind(kind),
    }),
    [q, re, args, kind],
  );
}

function useFinder(
  recordings: readonly Recording[],
  wish: Wish,
  choice: Choice,
  handle: { current: TimelineHandle | null },
): Finder {
  const [last, setLast] = useState<{ hit: Hit; wish: Wish } | null>(null);
  const { problem, ask } = useOneAtATime();
  const { selected, go, summary } = choice;
  const next = (direction: Direction): void => {
    // The keys are there without a search, too.
    if (!wish.text.trim()) return;
    ask(async (signal) => {
      const start = { event: summary ? null : selected, time: handle.current?.view().t0 ?? 0 };
      const hit = await nextHit(recordings, wish, start, direction, signal);
      if (hit) to(hit);
    });
  };
  const to = (hit: Hit): void => {
    go(hit.source, hit.ref);
    setLast({ hit, wish });
  };
  const name = (wanted: string): void =>
    ask(async (signal) => {
      const extent = await extentOfName(recordings, wanted, signal);
      if (!extent) return;
      go(extent.first.source, extent.first.ref);
      handle.current?.zoomTo(extent.range);
    });
  const { hit } = last?.wish === wish ? last : { hit: null };
  const current =
    hit && hit.ref.event === selected?.event && hit.source === selected.source ? hit.index : null;
  return { index: recordings.length === 1 ? current : null, problem, next, name };
}

/** A link from another page names what is looked for and no view: it opens on the first hit. So does what is asked for here. */
function useLinkedSearch({ params }: ViewProps, found: Found, finder: Finder): void {
  const { q, t, sel } = params;
  const wanted = useRef(q !== undefined && t === undefined && sel === undefined);
  const before = useRef(q);
  if (before.current !== q) {
    before.current = q;
    wanted.current = q !== undefined;
  }
  const { idle, busy, total } = found;
  const next = useRef(finder.next);
  next.current = finder.next;
  useEffect(() => {
    if (!wanted.current || idle || busy) return;
    wanted.current = false;
    if (total > 0) next.current("next");
  }, [idle, busy, total]);
}

export function obey(state: TraceState, command: Command, help: () => void): void {
  const { choice, finder } = state;
  const to = (ref: Parameters<Choice["go"]>[1] | null | undefined): void => {
    if (ref) choice.go(choice.source, ref);
  };
  const actions: Readonly<Record<Command, () => void>> = {
    help,
    next_hit: () => finder.next("next"),
    previous_hit: () => finder.next("previous"),
    arrows: () =>
      state.set({ arrows: state.kinds.length ? null : arrowKinds(state.recordings).join(",") }),
    path: () => togglePath(state),
    clear: () => letGo(state),
    previous: () => to(choice.payload?.previous),
    next: () => to(choice.payload?.next),
    parent: () => to(choice.payload?.parent),
    child: () => to(choice.payload?.first_child),
  };
  actions[command]();
}

export const togglePath = ({ view, set }: TraceState): void =>
  set({ path: view.params.path !== "1" });

/** One thing at a time, what was chosen last first. */
function letGo(state: TraceState): void {
  if (state.area) state.setArea(null);
  else if (state.choice.selected) state.choice.choose(null);
  else state.set({ q: null });
}

const arrowKinds = (recordings: readonly Recording[]): string[] => [
  ...new Set(
    recordings.flatMap(({ timeline }) =>
      timeline.arrow_kinds.flatMap(({ kind, total }) => (total > 0 ? [kind] : [])),
    ),
  ),
];

/** Marks that a person set. */
export const personal = (state: TraceState): Mark[] =>
  state.marks.filter(({ kind }) => kind === "person");

const setMarks = ({ set }: TraceState, marks: Parameters<typeof writeMarks>[0]): void =>
  set({ mark: writeMarks(marks) });

export const withMark = (state: TraceState, { t0, t1 }: TimeRange): void =>
  setMarks(state, [...personal(state), { start: t0, end: t1 }]);

export const withoutMark = (state: TraceState, gone: Mark): void =>
  setMarks(
    state,
    personal(state).filter(({ key }) => key !== gone.key),
  );

export const withNote = (state: TraceState, { key }: Mark, note: string): void =>
  setMarks(
    state,
    personal(state).map((mark) => (mark.key === key ? { ...mark, note } : mark)),
  );

/** What the page opens on: from the first event with a length to the last. Instants may lie far behind. */
export function homeView(recordings: readonly Recording[], span: TimeRange): TimeRange {
  const begins = recordings.map((item) => onAxis(item, item.timeline.work_start_ns));
  const ends = recordings.map((item) => endOnAxis(item, item.timeline.work_end_ns));
  return around({ t0: Math.min(...begins), t1: Math.max(...ends) }, span);
}

/** The view that the page opens on needs no word in the address. */
export function keepView({ recordings, span, set }: TraceState, view: TimeRange): void {
  const home = writeView(homeView(recordings, span));
  const t = writeView(view);
  set({ t: t === home ? null : t });
}

/** The address's view, where it lies in the span at all. */
export function firstView(text: string | undefined, span: TimeRange): TimeRange | null {
  const view = readView(text);
  return view && view.t1 > span.t0 && view.t0 < span.t1 ? view : null;
}

/** The steps that were chosen on another page, on the common clock: whoever chose an odd one wants to look at it. */
export function viewOfSteps({ first, last }: StepRange, recording: Recording): TimeRange | null {
  const { steps } = recording.timeline;
  const from = first === null ? undefined : rowOfStep(steps, first);
  const to = first === null ? undefined : rowOfStep(steps, last ?? first);
  return from && to && to.end_ns > from.start_ns
    ? { t0: onAxis(recording, from.start_ns), t1: endOnAxis(recording, to.end_ns) }
    : null;
}

export function goToMark(state: TraceState, { start, end }: Mark): void {
  const { handle } = state;
  const least = Math.max(1000, end - start);
  handle.current?.zoomTo({ t0: start, t1: start + least }, { margin: end > start ? 0.5 : 20 });
}

/** More stretches cannot be told apart. */
const MOST_DEFECTS = 200;
const PARTS = 1024;

const NOWHERE: Placed = { offset: 0 };

/** Steps of the first recording: those of all would be a thicket. */
export function boundariesOf(recordings: readonly Recording[], main: number): Boundary[] {
  const recording = recordings[main] ?? recordings[0];
  // A trace without steps is one step without a name: nothing to draw.
  return (recording?.timeline.steps ?? [])
    .filter((step) => step.name)
    .map((step) => ({
      name: step.name,
      ...aboutStep(step),
      start: onAxis(recording ?? NOWHERE, step.start_ns),
      end: endOnAxis(recording ?? NOWHERE, step.end_ns),
    }));
}

/** The row of the host's thread shows the annotation alone, which is another stretch under the same name. */
function aboutStep({
  start_ns,
  end_ns,
  host_start_ns,
  host_end_ns,
}: TimelineStep): Pick<Boundary, "of" | "about"> {
  const stretch = (start: number, end: number): string =>
    `${formatTime(end - start)} at ${timeText(start)}`;
  const whole = stretch(start_ns, end_ns);
  return start_ns === host_start_ns && end_ns === host_end_ns
    ? { of: "host", about: [whole, "The host's time; no device work lasts longer."] }
    : {
        of: "host and device",
        about: [
          whole,
          "From its begin, or when earlier work is done, until the host and the device work that it launched are done.",
          `Host alone: ${stretch(host_start_ns, host_end_ns)}`,
        ],
      };
}

export function marksOf(recordings: readonly Recording[], text: string | undefined): Mark[] {
  const defects = recordings.flatMap((item) =>
    item.timeline.marks.slice(0, MOST_DEFECTS).map((mark, place) => ({
      key: `defect-${item.key}-${place}`,
      label: mark.defect.replace(/_/g, " "),
      start: onAxis(item, mark.start_ns),
      end: onAxis(item, mark.start_ns + mark.dur_ns),
      kind: "defect" as const,
    })),
  );
  return [...readMarks(text), ...defects];
}

/** Busy shares over the span of all recordings: the mean of those that recorded then. */
export function activityOf(recordings: readonly Recording[], span: TimeRange): Activity {
  const [only, second] = recordings;
  if (only && !second)
    return { device: only.timeline.device_activity, host: only.timeline.host_activity };
  const merged = (of: "device_activity" | "host_activity"): number[] | null => {
    const known = recordings.flatMap((at) => {
      const values = at.timeline[of];
      return values?.length ? [{ values, at, span: at.timeline.span_ns }] : [];
    });
    return known.length
      ? Array.from({ length: PARTS }, (_, part) =>
          meanAt(known, span.t0 + ((part + 0.5) * (span.t1 - span.t0)) / PARTS),
        )
      : null;
  };
  return { device: merged("device_activity"), host: merged("host_activity") };
}

function meanAt(
  known: readonly { values: readonly number[]; at: Placed; span: number }[],
  time: number,
): number {
  const there = known.flatMap(
    ({ values, at, span }) => values[Math.floor((ownAt(at, time) / span) * values.length)] ?? [],
  );
  return there.length ? Math.round(there.reduce((sum, value) => sum + value) / there.length) : 0;
}
