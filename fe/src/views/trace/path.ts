/** The critical path over the timeline: what lies on it stays bright, and arrows join its parts on different rows. */

import { useMemo, useRef } from "preact/hooks";
import type { PathOverlayPayload } from "../../api/types.gen";
import { formatTime } from "../../base/units";
import type { VisibleRange } from "../../timeline/props";
import { highlightedTime } from "../../timeline/highlight";
import type { Arrow, Highlight, Slice } from "../../timeline/types";
import { arrowsOf } from "./arrows";
import type { Recording } from "./recordings";
import { useWindow, useWindowed, type More, type Windowed } from "./use_window";

/** More arrows hide what they should show. */
const MOST_ARROWS = 400;

export interface ShownPath {
  /** By recording; `null` while it is not known. */
  highlight: readonly (Highlight | null)[];
  arrows: readonly Arrow[];
  /** What to say of it; empty when it is drawn. */
  message: string;
}

export function usePath(
  recordings: readonly Recording[],
  visible: VisibleRange | null,
  on: boolean,
): ShownPath {
  const asked = useWindowed("trace/path", recordings, useWindow(visible), on ? "1" : "", perPixel);
  const last = useRef<readonly (Highlight | null)[]>([]);
  return useMemo(() => {
    const before = on ? last.current : [];
    const highlight = recordings.map((_, source) => {
      const data = asked.find((answer) => answer.source === source)?.data;
      return data ? highlightOf(data) : (before[source] ?? null);
    });
    last.current = highlight;
    const arrows = asked.flatMap((answer) => arrowsOf(answer, { strong: true, straight: true }));
    return { highlight, arrows, message: messageOf(asked) };
  }, [recordings, asked, on]);
}

const perPixel: More<"trace/path"> = ({ own, among }) => ({
  n: `${own.parts}`,
  arrows: `${Math.ceil(MOST_ARROWS / among)}`,
});

export function highlightOf({ lane, event, start_ns, end_ns }: PathOverlayPayload): Highlight {
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
  highlight: Highlight | null | undefined,
  { lane, start, end }: Pick<Slice, "lane" | "start" | "end">,
  offset: number,
): string[] {
  const time = highlight ? highlightedTime(highlight, lane, start - offset, end - offset) : 0;
  return time > 0 ? [`${formatTime(time)} on the critical path`] : [];
}

function messageOf(answers: readonly Windowed<"trace/path">[]): string {
  if (answers.some(({ state }) => state === "importing")) return "Finding the critical path …";
  return answers.find(({ error }) => error)?.error?.message ?? "";
}
