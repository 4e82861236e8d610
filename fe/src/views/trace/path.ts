/** The critical path over the timeline: what lies on it stays bright, and arrows join its parts on different rows. */

import { useMemo, useRef } from "preact/hooks";
import type { PathOverlayPayload } from "../../api/types.gen";
import { formatTime } from "../../base/units";
import type { Sight } from "../../timeline/props";
import { litTime } from "../../timeline/lit";
import type { Arrow, Lit, Slice } from "../../timeline/types";
import { arrowsOf } from "./arrows";
import type { Recording } from "./recordings";
import { useWindow, useWindowed, type More, type Windowed } from "./windowed";

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
  const asked = useWindowed("trace/path", recordings, useWindow(sight), on ? "1" : "", perPixel);
  const last = useRef<readonly (Lit | null)[]>([]);
  return useMemo(() => {
    const before = on ? last.current : [];
    const lit = recordings.map((_, source) => {
      const data = asked.find((answer) => answer.source === source)?.data;
      return data ? litOf(data) : (before[source] ?? null);
    });
    last.current = lit;
    const arrows = asked.flatMap((answer) => arrowsOf(answer, { strong: true, straight: true }));
    return { lit, arrows, message: messageOf(asked) };
  }, [recordings, asked, on]);
}

const perPixel: More<"trace/path"> = ({ own, among }) => ({
  n: `${own.parts}`,
  arrows: `${Math.ceil(MOST_ARROWS / among)}`,
});

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

function messageOf(answers: readonly Windowed<"trace/path">[]): string {
  if (answers.some(({ state }) => state === "importing")) return "Finding the critical path …";
  return answers.find(({ error }) => error)?.error?.message ?? "";
}
