/** The critical path over the timeline: what lies on it stays bright, and arrows join its parts on different rows. */

import { ownAt, type Placed } from "../../timeline/clock";
import { useMemo, useRef } from "preact/hooks";
import type { PathOverlayPayload } from "../../api/types.gen";
import { formatTime } from "../../base/units";
import type { VisibleRange } from "../../timeline/props";
import { highlightedTime } from "../../timeline/highlight";
import type { Arrow, Highlight, Slice } from "../../timeline/types";
import { groupLooks, groupOfKind } from "../critical_path/groups";
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
      const onHost = !recordings[source]?.timeline.groups.some(({ device }) => device);
      return data ? highlightOf(data, onHost) : (before[source] ?? null);
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

export function highlightOf(
  { lane, kind, event, start_ns, end_ns }: PathOverlayPayload,
  onHost = false,
): Highlight {
  const lanes = new Map<number, number[]>();
  const groups = new Map<number, number[]>();
  lane.forEach((number, i) => {
    append(lanes, number, start_ns[i] ?? 0, end_ns[i] ?? 0);
    append(groups, number, KEYS.indexOf(groupOfKind(kind[i] ?? "", onHost)));
  });
  return {
    lanes: new Map([...lanes].map(([number, times]) => [number, Float64Array.from(times)])),
    groups: new Map([...groups].map(([number, own]) => [number, Uint8Array.from(own)])),
    events: new Set(event),
  };
}

/** The groups in the order of the palette's colours. */
const KEYS = groupLooks("").map(({ key }) => key);

function append(to: Map<number, number[]>, key: number, ...values: number[]): void {
  const own = to.get(key);
  if (own) own.push(...values);
  else to.set(key, values);
}

/** What the path has of a slice, in words; nothing where it is not shown or not on it. */
export function timeOnPath(
  highlight: Highlight | null | undefined,
  { lane, start, end }: Pick<Slice, "lane" | "start" | "end">,
  at: Placed | undefined,
): string[] {
  const time =
    highlight && at ? highlightedTime(highlight, lane, ownAt(at, start), ownAt(at, end)) : 0;
  return time > 0 ? [`${formatTime(time)} on the critical path`] : [];
}

function messageOf(answers: readonly Windowed<"trace/path">[]): string {
  if (answers.some(({ state }) => state === "importing")) return "Finding the critical path …";
  return answers.find(({ error }) => error)?.error?.message ?? "";
}
