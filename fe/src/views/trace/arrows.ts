import { useMemo } from "preact/hooks";
import type { ArrowsPayload, EventPayload, EventRef } from "../../api/types.gen";
import { useResources } from "../../state/resource";
import type { Sight } from "../../timeline/props";
import type { Arrow } from "../../timeline/types";
import { useWindow } from "./curves";
import type { Recording } from "./recordings";
import { ownWindow, type Window } from "./window";

/** More than this hides what it should show. */
const MOST_ARROWS = 2000;

export interface ShownArrows {
  arrows: readonly Arrow[];
  /** How many there are in the stretch that was asked for. */
  total: number;
}

/** All arrows of some kinds that touch what is in sight, capped. */
export function useArrows(
  recordings: readonly Recording[],
  sight: Sight | null,
  kinds: readonly string[],
): ShownArrows {
  const window = useWindow(sight);
  const wanted = kinds.join(",");
  const questions = useMemo(
    () => (window && wanted ? questionsFor(recordings, wanted, window) : []),
    [recordings, wanted, window],
  );
  const queries = useMemo(() => questions.map((question) => question.query), [questions]);
  const answers = useResources("trace/arrows", queries);
  return useMemo(
    () => ({
      arrows: questions.flatMap(({ recording, source }, place) =>
        arrowsOf(answers[place]?.data, source, recording.offset),
      ),
      total: answers.reduce((total, answer) => total + (answer.data?.total ?? 0), 0),
    }),
    [questions, answers],
  );
}

function questionsFor(recordings: readonly Recording[], kinds: string, window: Window) {
  return recordings.flatMap((recording, source) => {
    const own = ownWindow(window, recording.offset, recording.timeline.span_ns);
    const cap = Math.ceil(MOST_ARROWS / recordings.length);
    // Not every worker has every kind, and a link may name one that is gone.
    const known = kinds
      .split(",")
      .filter((kind) => recording.timeline.arrow_kinds.some((had) => had.kind === kind))
      .join(",");
    if (!own || !known) return [];
    const [t0, t1] = [String(own.t0), String(own.t1)];
    const query = { ...recording.query, t0, t1, kinds: known, cap: String(cap) };
    return [{ recording, source, query }];
  });
}

function arrowsOf(
  payload: ArrowsPayload | null | undefined,
  source: number,
  offset: number,
): Arrow[] {
  if (!payload) return [];
  const end = (lane: number | undefined, time: number | undefined): Arrow["source"] => ({
    source,
    lane: lane ?? -1,
    time: (time ?? 0) + offset,
  });
  return payload.kind.map((_, i) => ({
    source: end(payload.source_lane[i], payload.source_ns[i]),
    target: end(payload.target_lane[i], payload.target_ns[i]),
    strong: false,
  }));
}

/** The arrows of the selected event, and of the others of its chain from launch to device. */
export function arrowsOfEvent(payload: EventPayload, source: number, offset: number): Arrow[] {
  const ends = (from: EventRef, to: EventRef): Arrow => ({
    source: { source, lane: from.lane, time: leaves(from, to) + offset },
    target: { source, lane: to.lane, time: to.start_ns + offset },
    strong: true,
  });
  const own = payload.arrows.map(({ direction, other }) =>
    direction === "out" ? ends(payload.ref, other) : ends(other, payload.ref),
  );
  const launch = payload.chain.find((link) => link.kind === "launch")?.ref;
  const work = payload.chain.find((link) => link.kind === "device")?.ref;
  const drawn = payload.arrows.some(
    ({ other }) => other.event === launch?.event || other.event === work?.event,
  );
  return launch && work && !drawn ? [...own, ends(launch, work)] : own;
}

/** An arrow leaves where its event ends, or where it begins if the other began before that end. */
const leaves = (from: EventRef, to: EventRef): number =>
  Math.min(from.start_ns + from.dur_ns, Math.max(from.start_ns, to.start_ns));
