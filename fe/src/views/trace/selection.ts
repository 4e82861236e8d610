/** What is selected: an event, or a summary of several. The event stands in the address bar. */

import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { EventPayload, EventRef } from "../../api/types.gen";
import { useResource, type Resource } from "../../state/resource";
import type { Params } from "../../state/view";
import type { Selected, TimelineHandle } from "../../timeline/props";
import type { Slice } from "../../timeline/types";
import { readEvent, writeEvent } from "./params";
import type { Recording } from "./recordings";

export interface Choice {
  selected: Selected | null;
  summary: Slice | null;
  recording: Recording | null;
  source: number;
  event: Resource<EventPayload>;
  /** The payload of the selected event; `null` while that of another one is shown. */
  payload: EventPayload | null;
  choose: (slice: Slice | null) => void;
  /** Selects an event and brings it into sight. */
  go: (source: number, ref: EventRef) => void;
  /** The same for an event of which only the number is known. */
  reach: (source: number, event: number) => void;
}

/** Nothing to do with a handle that is not there yet. */
export interface Handle {
  readonly current: TimelineHandle | null;
}

export function useSelection(
  recordings: readonly Recording[],
  params: Params,
  setParam: (key: string, value: string | null) => void,
  handle: Handle,
): Choice {
  const [summary, setSummary] = useState<Slice | null>(null);
  const [known, setKnown] = useState<Selected | null>(null);
  const key = useMemo(() => readEvent(params.sel), [params.sel]);
  const source = recordings.findIndex((item) => item.key === key?.key);
  const recording = recordings[source] ?? null;
  const query = key && recording ? { ...recording.query, event: String(key.event) } : null;
  const event = useResource("trace/event", query);
  const payload = event.data && event.data.ref.event === key?.event ? event.data : null;
  const wanted = useWanted(payload, source, recording, handle, params);
  const select = useCallback(
    (of: number, number: number) =>
      setParam("sel", writeEvent({ key: recordings[of]?.key ?? "", event: number })),
    [recordings, setParam],
  );
  const choose = useCallback(
    (slice: Slice | null) => {
      const several = slice !== null && slice.count > 1;
      setSummary(several ? slice : null);
      setKnown(slice && !several ? selectedOf(slice) : null);
      if (slice && !several) select(slice.source, slice.event);
      else setParam("sel", null);
    },
    [select, setParam],
  );
  const go = useCallback(
    (of: number, ref: EventRef) => {
      const selected = selectedOf(sliceOf(of, ref, recordings[of]?.offset ?? 0));
      setSummary(null);
      setKnown(selected);
      select(of, ref.event);
      show(handle.current, selected);
    },
    [recordings, select, handle],
  );
  const reach = useCallback(
    (of: number, number: number) => {
      setSummary(null);
      setKnown(null);
      wanted(number);
      select(of, number);
    },
    [select, wanted],
  );
  const selected = shownSelection(summary, known, key, source, payload, recording);
  return { selected, summary, recording, source, event, payload, choose, go, reach };
}

function shownSelection(
  summary: Slice | null,
  known: Selected | null,
  key: { event: number } | null,
  source: number,
  payload: EventPayload | null,
  recording: Recording | null,
): Selected | null {
  if (summary) return selectedOf(summary);
  // The event's own times as soon as they came: a tile has only a part of what began before it.
  if (payload && recording) return selectedOf(sliceOf(source, payload.ref, recording.offset));
  return known && known.event === key?.event && known.source === source ? known : null;
}

/** Brings an event into sight when it is known where it lies: that of the link that was opened, and those that are asked for by their number. */
function useWanted(
  payload: EventPayload | null,
  source: number,
  recording: Recording | null,
  handle: Handle,
  params: Params,
): (event: number) => void {
  const wanted = useRef<number | "linked" | null>(params.sel === undefined ? null : "linked");
  // A link that names a view opens on exactly that.
  const zoom = params.t === undefined;
  const [asked, ask] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    const now = wanted.current;
    if (now === null || !payload || !recording || !handle.current) return;
    if (now !== "linked" && now !== payload.ref.event) return;
    wanted.current = null;
    const selected = selectedOf(sliceOf(source, payload.ref, recording.offset));
    if (now !== "linked" || zoom) show(handle.current, selected);
    else handle.current.reveal(source, selected.lane);
  }, [payload, source, recording, handle, zoom, asked]);
  return useCallback((event) => {
    wanted.current = event;
    ask(undefined);
  }, []);
}

const selectedOf = ({ source, event, lane, start, end }: Selected): Selected => ({
  source,
  event,
  lane,
  start,
  end,
});

function sliceOf(source: number, ref: EventRef, offset: number): Selected {
  return {
    source,
    event: ref.event,
    lane: ref.lane,
    start: ref.start_ns + offset,
    end: ref.start_ns + ref.dur_ns + offset,
  };
}

/** Of the view: what is shorter can hardly be seen, what is longer does not fit. */
const SHORTEST = 1 / 300;
const LONGEST = 0.9;
/** Least stretch around an event without a length, ns. */
const AROUND = 500;

/** Brings an event into sight, and changes the scale only where it would not be seen otherwise. */
export function show(handle: TimelineHandle | null, { source, lane, start, end }: Selected): void {
  if (!handle) return;
  handle.reveal(source, lane);
  const view = handle.view();
  const share = (end - start) / (view.t1 - view.t0);
  if (share > LONGEST) handle.zoomTo({ t0: start, t1: end });
  else if (share >= SHORTEST) handle.panTo({ t0: start, t1: end });
  else {
    const around = Math.max(AROUND, (end - start) * 5);
    handle.zoomTo({ t0: start - around, t1: end + around }, { margin: 0 });
  }
}
