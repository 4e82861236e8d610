import { onAxis, type Placed } from "../../timeline/clock";
import { useMemo } from "preact/hooks";
import type { EventPayload, EventRef } from "../../api/types.gen";
import type { VisibleRange } from "../../timeline/props";
import type { Arrow } from "../../timeline/types";
import type { Recording } from "./recordings";
import { useWindow, useWindowed, type More, type Windowed } from "./use_window";

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
  visible: VisibleRange | null,
  kinds: readonly string[],
): ShownArrows {
  const asked = useWindowed(
    "trace/arrows",
    recordings,
    useWindow(visible),
    kinds.join(","),
    ofKnownKinds,
  );
  return useMemo(
    () => ({
      arrows: asked.flatMap((answer) => arrowsOf(answer, { strong: false })),
      total: asked.reduce((total, { data }) => total + (data?.total ?? 0), 0),
    }),
    [asked],
  );
}

/** Not every worker has every kind, and a link may name one that is gone. */
const ofKnownKinds: More<"trace/arrows"> = ({ recording, wanted, among }) => {
  const kinds = wanted
    .split(",")
    .filter((kind) => recording.timeline.arrow_kinds.some((had) => had.kind === kind))
    .join(",");
  return kinds ? { kinds, cap: `${Math.ceil(MOST_ARROWS / among)}` } : null;
};

/** On the clock that all recordings share. */
export function arrowsOf(
  { data, recording, source }: Windowed<"trace/arrows" | "trace/path">,
  look: Pick<Arrow, "strong" | "straight">,
): Arrow[] {
  if (!data) return [];
  const { source_lane, source_ns, target_lane, target_ns } = data;
  const end = (lane = -1, time = 0): Arrow["source"] => ({
    source,
    lane,
    time: onAxis(recording, time),
  });
  return source_lane.map((lane, i) => ({
    source: end(lane, source_ns[i]),
    target: end(target_lane[i], target_ns[i]),
    ...look,
  }));
}

/** The arrows of the selected event, and of the others of its chain from launch to device. */
export function arrowsOfEvent(payload: EventPayload, source: number, at: Placed): Arrow[] {
  const ends = (from: EventRef, to: EventRef): Arrow => ({
    source: { source, lane: from.lane, time: onAxis(at, leaves(from, to)) },
    target: { source, lane: to.lane, time: onAxis(at, to.start_ns) },
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
