/** What is selected: an event, or a summary of several. The event stands in the address bar. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { EventPayload, EventRef } from "../../api/types.gen";
import { useResource, type Resource } from "../../state/resource";
import type { Params } from "../../state/view";
import { endOnAxis, onAxis, type Placed } from "../../timeline/clock";
import type { Selected, TimelineHandle } from "../../timeline/props";
import type { Slice } from "../../timeline/types";
import { readEvent, writeEvent, type SetParams } from "./params";
import { type Recording } from "./recordings";

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
  /** Selects and shows an event of which only the number is known. */
  reach: (source: number, event: number) => void;
}

/** Nothing to do with a handle that is not there yet. */
export interface Handle {
  readonly current: TimelineHandle | null;
}

export function useSelection(
  recordings: readonly Recording[],
  params: Params,
  set: SetParams,
  handle: Handle,
): Choice {
  const [chosen, setChosen] = useState<Selected | Slice | null>(null);
  const key = useMemo(() => readEvent(params.sel), [params.sel]);
  const source = recordings.findIndex((item) => item.key === key?.key);
  const recording = recordings[source] ?? null;
  const query = key && recording ? { ...recording.query, event: String(key.event) } : null;
  const event = useResource("trace/event", query);
  const payload = event.data && event.data.ref.event === key?.event ? event.data : null;
  // The event's own times as soon as they came: a tile has only a part of what began before it.
  const placed = useMemo(
    () => (payload && recording ? sliceOf(source, payload.ref, recording) : null),
    [payload, source, recording],
  );
  const setWanted = useWanted(placed, handle, params);
  const select = (next: Selected | Slice | null, of: number, number: number): void => {
    setChosen(next);
    set({ sel: writeEvent({ key: recordings[of]?.key ?? "", event: number }) });
  };
  const choose = (slice: Slice | null): void => {
    if (slice && slice.count <= 1) select(slice, slice.source, slice.event);
    else {
      setChosen(slice);
      set({ sel: null });
    }
  };
  const go = (of: number, ref: EventRef): void => {
    const selected = sliceOf(of, ref, recordings[of] ?? { offset: 0 });
    select(selected, of, ref.event);
    show(handle.current, selected);
  };
  const reach = (of: number, number: number): void => {
    setWanted(number);
    select(null, of, number);
  };
  const summary = chosen && "count" in chosen && chosen.count > 1 ? chosen : null;
  const known = chosen?.event === key?.event && chosen?.source === source ? chosen : null;
  const selected = summary ?? placed ?? known;
  return { selected, summary, recording, source, event, payload, choose, go, reach };
}

/** Brings an event into sight when it is known where it lies: that of the link that was opened, and those that are asked for by their number. */
function useWanted(
  placed: Selected | null,
  handle: Handle,
  params: Params,
): (event: number) => void {
  const [wanted, setWanted] = useState<number | "linked" | null>(
    params.sel === undefined ? null : "linked",
  );
  // A link that names a view opens on exactly that.
  const zoom = wanted !== "linked" || params.t === undefined;
  useEffect(() => {
    if (!placed || !handle.current || (wanted !== "linked" && wanted !== placed.event)) return;
    setWanted(null);
    if (zoom) show(handle.current, placed);
    else handle.current.reveal(placed.source, placed.lane);
  }, [placed, handle, zoom, wanted]);
  return setWanted;
}

function sliceOf(source: number, ref: EventRef, at: Placed): Selected {
  const start = onAxis(at, ref.start_ns);
  const end = Math.max(start, endOnAxis(at, ref.start_ns + ref.dur_ns));
  return { source, event: ref.event, lane: ref.lane, start, end };
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
