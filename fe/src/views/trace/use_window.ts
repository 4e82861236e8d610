/** What the server knows of the stretch in sight, asked of each recording that lies in it. */

import { useMemo, useRef } from "preact/hooks";
import type { Parameters, Routes } from "../../api/client";
import { useResources, type Resource } from "../../state/resource";
import type { VisibleRange } from "../../timeline/props";
import type { Recording } from "./recordings";
import { ownWindow, timesOf, windowFor, type Window } from "./window";

type WindowRoute = "trace/arrows" | "trace/counters" | "trace/path";

interface Place {
  recording: Recording;
  source: number;
}

export type Windowed<R extends WindowRoute> = Place &
  Omit<Resource<Routes[R]>, "reload"> & { query: Parameters[R] };

/** What else is asked of a recording for a stretch of its own time; `null`: nothing is. `among`: so many are asked. */
export type More<R extends WindowRoute> = (
  place: Place & { own: Window; wanted: string; among: number },
) => Omit<Parameters[R], keyof Recording["query"] | "t0" | "t1"> | null;

/** The stretch that is fetched for what is in sight; the same object as long as it does. */
export function useWindow(visible: VisibleRange | null): Window | null {
  const last = useRef<Window | null>(null);
  if (visible) last.current = windowFor(last.current, visible);
  return last.current;
}

/** An answer per recording in the window; none where nothing is wanted. `more` has to stay the same function. */
export function useWindowed<R extends WindowRoute>(
  route: R,
  recordings: readonly Recording[],
  window: Window | null,
  wanted: string,
  more: More<R>,
): readonly Windowed<R>[] {
  const questions = useMemo(
    () =>
      (wanted ? recordings : []).flatMap((recording, source) => {
        const own = window && ownWindow(window, recording, recording.timeline.span_ns);
        const asked = own && more({ recording, source, own, wanted, among: recordings.length });
        if (!asked) return [];
        const query = { ...recording.query, ...timesOf(own), ...asked } as Parameters[R];
        return [{ recording, source, query }];
      }),
    [recordings, window, wanted, more],
  );
  const queries = useMemo(() => questions.map(({ query }) => query), [questions]);
  const answers = useResources(route, queries);
  return useMemo(
    () => answers.map((answer, place) => ({ ...answer, ...questions[place] }) as Windowed<R>),
    [questions, answers],
  );
}
