/** The data hook: a route's payload with its loading, importing and failing. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  type ApiError,
  asApiError,
  fetchJson,
  type Parameters,
  type Route,
  type Routes,
} from "../api/client";
import type { OfTrace } from "../api/routes.gen";
import { freshnessOf, runsStore } from "./runs";
import { createStore, useStore } from "./store";

export interface Resource<T> {
  /** `loading`: asked and not answered; `importing`: the server still reads the trace. Old `data` stays in both. */
  state: "loading" | "importing" | "ready" | "error";
  /** The newest payload. While another one is on its way (`stale`) it is that of the earlier query, so that nothing flickers. */
  data: T | null;
  stale: boolean;
  error: ApiError | null;
  /** How far the server says that it is; only while it is not ready. */
  progress?: string;
  reload: () => void;
}

/** First and longest pause between two questions while a trace is imported, ms. */
const FIRST_PAUSE = 300;
const LONGEST_PAUSE = 1000;
/** Pause after a question that got no answer at all, ms. */
const OFFLINE_PAUSE = 4000;

/** Pause between two questions while a payload is not whole, ms. */
const COMPLETING_PAUSE = 1000;

/** How many things of the page wait for what the server makes of a trace. */
export const waitingStore = createStore(0);

function useWaiting(waits: boolean): void {
  useEffect(() => {
    if (!waits) return undefined;
    waitingStore.set(waitingStore.get() + 1);
    return () => waitingStore.set(waitingStore.get() - 1);
  }, [waits]);
}

type Answer<T> = Omit<Resource<T>, "reload">;

interface Held<T> {
  subject: string;
  key: string;
  answer: Answer<T>;
}

/**
 * The payload of `path` for `query`; a `null` asks nothing (state `loading`, no data).
 *
 * Asks again by itself: while the trace is not ready, when the server comes back, when the catalogue says that the trace changed, and on `reload()`.
 * Data of another trace (run, worker, span) is dropped at once; data of another step choice or grouping stays until the new one is there.
 */
export function useResource<R extends Route>(
  path: R | null,
  query: Parameters[R] | null,
): Resource<Routes[R]> {
  type T = Routes[R];
  const key =
    path === null || query === null ? "" : JSON.stringify([path, ...Object.entries(query).sort()]);
  const { run, worker, span } = traceOf(query);
  const subject = [path, run, worker, span].join("\n");
  const [held, setHeld] = useState<Held<T> | null>(null);
  const reload = useAsking(key, [query], () => {
    if (path === null || query === null) return undefined;
    return ask<R>(path, query, (answer) =>
      setHeld((before) => {
        const data = before?.subject === subject ? before.answer.data : null;
        return { subject, key, answer: answer.data === null ? { ...answer, data } : answer };
      }),
    );
  });
  const answer = answerFor(held, subject, key);
  useWaiting(answer.state === "importing");
  return { ...answer, reload };
}

/** Begins to ask whenever `key` or what the catalogue says of the traces changes, and when the function that it returns is called. */
function useAsking(
  key: string,
  queries: readonly (object | null)[],
  begin: () => (() => void) | undefined,
): () => void {
  const newest = useRef({ queries, begin });
  newest.current = { queries, begin };
  const select = useCallback(() => {
    const traces = newest.current.queries.map(traceOf);
    return traces.map(({ run, worker, span }) => freshnessOf(run, worker, span)).join("\n");
  }, []);
  const freshness = useStore(runsStore, select);
  const [turn, setTurn] = useState(0);
  useEffect(() => newest.current.begin(), [key, freshness, turn]);
  return useCallback(() => setTurn((n) => n + 1), []);
}

/**
 * Asks until there is an answer that stays: while the trace is not ready, and when the server cannot be reached. Returns the function that ends it.
 *
 * Answers without a payload have `data` null and are `stale`.
 */
function ask<R extends Route>(
  path: R,
  query: Parameters[R],
  heard: (answer: Answer<Routes[R]>) => void,
): () => void {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pause = FIRST_PAUSE;
  const again = (after: number): void => {
    timer = setTimeout(() => void turn(), after);
  };
  const turn = async (): Promise<void> => {
    try {
      const data = await fetchJson(path, query, controller.signal);
      if (!controller.signal.aborted) heard({ ...NOTHING, state: "ready", data });
    } catch (thrown) {
      if (controller.signal.aborted) return;
      const error = asApiError(thrown);
      if (error.notReady) {
        heard({ ...NOTHING, state: "importing", stale: true, progress: error.message });
        again(pause);
        pause = Math.min(LONGEST_PAUSE, pause * 1.5);
      } else {
        heard({ ...NOTHING, state: "error", stale: true, error });
        if (error.code === "network") again(OFFLINE_PAUSE);
      }
    }
  };
  void turn();
  return () => {
    controller.abort();
    clearTimeout(timer);
  };
}

/** One answer per query, each asked for as `useResource` does; for things of which there are as many as the trace has workers. */
export function useResources<R extends Route>(
  path: R,
  queries: readonly Parameters[R][],
): readonly Resource<Routes[R]>[] {
  const [held, setHeld] = useState<ReadonlyMap<string, Answer<Routes[R]>>>(() => new Map());
  const all = queries.map(keyOf).join("\n");
  const reload = useAsking(`${path}\n${all}`, queries, () => {
    const keys = new Set(queries.map(keyOf));
    setHeld((before) => new Map([...before].filter(([key]) => keys.has(key))));
    const ends = queries.map((query) => {
      const key = keyOf(query);
      return ask<R>(path, query, (answer) =>
        setHeld((before) => {
          const data = answer.data ?? before.get(key)?.data ?? null;
          return new Map(before).set(key, { ...answer, data });
        }),
      );
    });
    return () => ends.forEach((end) => end());
  });
  const answers = useMemo(() => {
    const keys = all ? all.split("\n") : [];
    return keys.map((key) => ({ ...(held.get(key) ?? NOTHING), reload }));
  }, [all, held, reload]);
  useWaiting(answers.some(({ state }) => state === "importing"));
  return answers;
}

/** A payload without `progress` is whole. */
export type Incomplete = Pick<Resource<{ progress?: number }>, "data" | "reload">;

/** Asks again while a payload says that it is not whole. */
export function useAgain({ data, reload }: Incomplete): void {
  useEffect(() => {
    if ((data?.progress ?? 1) >= 1) return undefined;
    const timer = setTimeout(reload, COMPLETING_PAUSE);
    return () => clearTimeout(timer);
  }, [data, reload]);
}

/** Likewise where the page waits for that: the server answers with the workers that it has read, and the others join them. */
export function useUntilComplete(resource: Incomplete): void {
  useAgain(resource);
  useWaiting((resource.data?.progress ?? 1) < 1);
}

/** The trace that a query names; empty texts where it names none. */
function traceOf(query: object | null): OfTrace {
  return { run: "", worker: "", span: "", ...query };
}

const keyOf = (query: object): string => JSON.stringify(Object.entries(query).sort());

export const NOTHING = {
  state: "loading",
  data: null,
  stale: false,
  error: null,
} as const;

function answerFor<T>(held: Held<T> | null, subject: string, key: string): Answer<T> {
  if (held?.subject !== subject) return NOTHING;
  if (held.key === key) return held.answer;
  return { ...held.answer, state: "loading", stale: held.answer.data !== null, error: null };
}
