import { type ApiError, asApiError, fetchJson } from "../api/client";
import type { RunItem, RunsPayload, SpanItem, WorkerItem } from "../api/types.gen";
import { createStore } from "./store";
import {
  type Params,
  parseSteps,
  sameTrace,
  type Selection,
  type Side,
  type ViewProps,
} from "./view";

export interface Runs {
  payload: RunsPayload | null;
  /** Why the newest question failed, or null. The last payload stays. */
  error: ApiError | null;
}

export const runsStore = createStore<Runs>({ payload: null, error: null });

/** Pause between two looks at the catalogue, ms: visible and quiet, something is being imported, hidden. */
export const POLL = { quiet: 3000, busy: 1000, hidden: 30_000 } as const;

/** A text that changes when the server's answers about this trace may change; empty while the trace is not known. */
export function freshnessOf(run: string, worker: string, span: string): string {
  if (!run) return runsStore.get().payload?.version ?? "";
  const entries = find(runsStore.get().payload, { run, worker, span });
  // While a trace waits or is imported its questions repeat by themselves, so only the end of that counts as a change.
  return entries.span
    ? `${entries.span.bytes} ${settled(entries.span) ? entries.span.state : "…"}`
    : "";
}

function settled(span: SpanItem): boolean {
  return span.state === "ready" || span.state === "failed";
}

export interface Found {
  run: RunItem | null;
  worker: WorkerItem | null;
  span: SpanItem | null;
}

export function find(payload: RunsPayload | null, selection: Selection): Found {
  const run = payload?.runs.find((item) => item.name === selection.run) ?? null;
  const worker = run?.workers.find((item) => item.name === selection.worker) ?? null;
  const span = worker?.spans.find((item) => item.name === selection.span) ?? null;
  return { run, worker, span };
}

/** The workers of the selected one's job, itself among them; those of unknown job may belong to it. */
export function besideOf(payload: RunsPayload | null, selection: Selection): WorkerItem[] {
  const { run, worker } = find(payload, selection);
  if (!run || !worker) return [];
  return run.workers.filter(({ job }) => job === worker.job || job < 0 || worker.job < 0);
}

const isReadable = ({ spans }: WorkerItem): boolean =>
  spans.some(({ state }) => state !== "failed");

/**
 * Fills what a selection leaves open: the first run, its first worker, its first span, those before others of which something can be read.
 *
 * A name that is given and not in the catalogue stays as it is, so that the page can say that it is gone.
 */
export function complete(payload: RunsPayload | null, wanted: Selection): Selection {
  if (!payload) return wanted;
  const run = wanted.run
    ? payload.runs.find(({ name }) => name === wanted.run)
    : (payload.runs.find(({ workers }) => workers.some(isReadable)) ?? payload.runs[0]);
  if (!run) return wanted;
  const worker = wanted.worker
    ? run.workers.find(({ name }) => name === wanted.worker)
    : (run.workers.find(isReadable) ?? run.workers[0]);
  if (!worker) return { run: run.name, worker: wanted.worker, span: wanted.span };
  const usable = worker.spans.filter((item) => item.state !== "failed");
  const span = wanted.span || (usable[0] ?? worker.spans[0])?.name || "";
  return { run: run.name, worker: worker.name, span };
}

/** Where a run lies, as an argument of a command. */
export function pathOfRun(payload: RunsPayload | null, run: string): string {
  const folder = payload?.logdirs[0] ?? "./log";
  return JSON.stringify([folder.replace(/\/$/, ""), run].filter(Boolean).join("/"));
}

/** The other side of a comparison, as the address names it; `null` where nothing is compared. */
export function otherSide(payload: RunsPayload | null, params: Params): Side | null {
  const { run2 = "", worker2 = "", span2 = "", steps2 = "", skip_cold2 } = params;
  const selection = complete(payload, { run: run2, worker: worker2, span: span2 });
  return run2
    ? { selection, steps: { ...parseSteps(steps2), skipCold: skip_cold2 === "1" } }
    : null;
}

/** The other trace of a comparison; `null` where nothing is compared, or steps of one trace are. */
export function otherTrace({ params, selection }: Pick<ViewProps, "params" | "selection">) {
  const other = otherSide(runsStore.get().payload, params)?.selection;
  return other && !sameTrace(other, selection) ? other : null;
}

export async function refreshRuns(signal?: AbortSignal): Promise<void> {
  try {
    const payload = await fetchJson("runs", {}, signal);
    const before = runsStore.get();
    const { version, scanning } = before.payload ?? {};
    if (before.error || version !== payload.version || scanning !== payload.scanning)
      runsStore.set({ payload, error: null });
  } catch (thrown) {
    if (signal?.aborted) return;
    runsStore.set({ payload: runsStore.get().payload, error: asApiError(thrown) });
  }
}

export function pollRuns(): () => void {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking = false;
  const turn = async (): Promise<void> => {
    clearTimeout(timer);
    if (asking) return;
    asking = true;
    await refreshRuns(controller.signal);
    asking = false;
    if (!controller.signal.aborted) timer = setTimeout(() => void turn(), pauseNow());
  };
  const now = (): void => {
    if (document.visibilityState !== "hidden") void turn();
  };
  document.addEventListener("visibilitychange", now);
  const endListening = onTensorBoardReload(() => void turn());
  void turn();
  return () => {
    controller.abort();
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", now);
    endListening();
  };
}

function pauseNow(): number {
  if (document.visibilityState === "hidden") return POLL.hidden;
  const payload = runsStore.get().payload;
  if (!payload || payload.scanning) return POLL.busy;
  const busy = payload.runs.some((run) =>
    run.workers.some((worker) => worker.spans.some((span) => !settled(span))),
  );
  return busy ? POLL.busy : POLL.quiet;
}

/** Calls back when TensorBoard says that it reloaded its data: a message port that the page offers to the parent window. */
function onTensorBoardReload(listener: () => void): () => void {
  if (window.parent === window) return () => undefined;
  const channel = new MessageChannel();
  channel.port1.onmessage = (event: MessageEvent<unknown>) => {
    if (typeof event.data !== "string") return;
    let message: unknown;
    try {
      message = JSON.parse(event.data);
    } catch {
      return;
    }
    const { type, id, isReply } = message as { type?: unknown; id?: unknown; isReply?: unknown };
    if (type !== "experimental.DataReloaded" || isReply === true) return;
    // TensorBoard waits for a reply to each message.
    const reply = { type, id, payload: null, error: null, isReply: true };
    channel.port1.postMessage(JSON.stringify(reply));
    listener();
  };
  window.parent.postMessage("experimental.bootstrap", "*", [channel.port2]);
  return () => channel.port1.close();
}
