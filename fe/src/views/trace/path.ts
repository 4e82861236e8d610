/** The critical path over the timeline: what lies on it stays bright, and arrows join its parts on different rows. */

import { useMemo, useRef } from "preact/hooks";
import type { PathOverlayPayload } from "../../api/types.gen";
import { formatTime } from "../../base/units";
import { useResources } from "../../state/resource";
import type { Sight } from "../../timeline/props";
import { litTime } from "../../timeline/lit";
import type { Arrow, Lit, Slice } from "../../timeline/types";
import { useWindow } from "./curves";
import type { Recording } from "./recordings";
import { ownWindow, type Window } from "./window";

/** More arrows hide what they should show. */
const MOST_ARROWS = 400;

export interface ShownPath {
  /** By recording; `null` while it is not known. */
  lit: readonly (Lit | null)[];
  arrows: readonly Arrow[];
  /** What to say of it; empty when it is drawn. */
  message: string;
}

export function usePath(
  recordings: readonly Recording[],
  sight: Sight | null,
  on: boolean,
): ShownPath {
  const window = useWindow(sight);
  const questions = useMemo(
    () => (window && on ? questionsFor(recordings, window) : []),
    [recordings, window, on],
  );
  const queries = useMemo(() => questions.map((question) => question.query), [questions]);
  const answers = useResources("trace/path", queries);
  const last = useRef<readonly (Lit | null)[]>([]);
  return useMemo(() => {
    if (!on) last.current = [];
    const before = last.current;
    const lit = recordings.map((_, source) => {
      const place = questions.findIndex((question) => question.source === source);
      const payload = answers[place]?.data;
      return payload ? litOf(payload) : (before[source] ?? null);
    });
    last.current = lit;
    const arrows = questions.flatMap(({ recording, source }, place) => {
      const payload = answers[place]?.data;
      return payload ? arrowsOf(payload, source, recording.offset) : [];
    });
    return { lit, arrows, message: messageOf(answers) };
  }, [recordings, questions, answers, on]);
}

function questionsFor(recordings: readonly Recording[], window: Window) {
  return recordings.flatMap((recording, source) => {
    const own = ownWindow(window, recording.offset, recording.timeline.span_ns);
    if (!own) return [];
    const query = {
      ...recording.query,
      t0: String(own.t0),
      t1: String(own.t1),
      n: String(own.parts),
      arrows: String(Math.ceil(MOST_ARROWS / recordings.length)),
    };
    return [{ recording, source, query }];
  });
}

export function litOf({ lane, event, start_ns, end_ns }: PathOverlayPayload): Lit {
  const lanes = new Map<number, number[]>();
  lane.forEach((number, i) => {
    const own = lanes.get(number) ?? [];
    own.push(start_ns[i] ?? 0, end_ns[i] ?? 0);
    lanes.set(number, own);
  });
  return {
    lanes: new Map([...lanes].map(([number, times]) => [number, Float64Array.from(times)])),
    events: new Set(event),
  };
}

/** What the path has of a slice, in words; nothing where it is not shown or not on it. */
export function onPath(
  lit: Lit | null | undefined,
  { lane, start, end }: Pick<Slice, "lane" | "start" | "end">,
  offset: number,
): string[] {
  const time = lit ? litTime(lit, lane, start - offset, end - offset) : 0;
  return time > 0 ? [`${formatTime(time)} on the critical path`] : [];
}

function arrowsOf(payload: PathOverlayPayload, source: number, offset: number): Arrow[] {
  return payload.source_lane.map((lane, i) => ({
    source: { source, lane, time: (payload.source_ns[i] ?? 0) + offset },
    target: {
      source,
      lane: payload.target_lane[i] ?? -1,
      time: (payload.target_ns[i] ?? 0) + offset,
    },
    strong: true,
    straight: true,
  }));
}

function messageOf(
  answers: readonly { state: string; error: { message: string } | null }[],
): string {
  if (answers.some(({ state }) => state === "importing")) return "Finding the critical path …";
  return answers.find(({ error }) => error)?.error?.message ?? "";
}
