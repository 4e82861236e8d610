/** Fetches JSON from the plugin's routes and decodes the one error shape. */

import type {
  DiagnosisPayload,
  ErrorBody,
  KernelPayload,
  OperatorPayload,
  OperatorStacksPayload,
  OverviewPayload,
  RunsPayload,
  StepsPayload,
  TracePayload,
} from "./types.gen";

/** What each route answers with. */
export interface Routes {
  runs: RunsPayload;
  diagnosis: DiagnosisPayload;
  steps: StepsPayload;
  overview: OverviewPayload;
  operator: OperatorPayload;
  "operator/stacks": OperatorStacksPayload;
  kernel: KernelPayload;
  trace: TracePayload;
}

export type Route = keyof Routes;
export type Query = Readonly<Record<string, string>>;

/** An answer that is not the payload. `code` is the server's, or `network`, `bad_answer`. */
export class ApiError extends Error {
  readonly code: string;
  readonly hint: string;
  /** 0 to 1 with code `not_ready`. */
  readonly progress: number | null;
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number;

  constructor(body: ErrorBody, status: number) {
    super(body.message);
    this.name = "ApiError";
    this.code = body.code;
    this.hint = body.hint;
    this.progress = body.progress;
    this.status = status;
  }

  /** The trace is known and on its way: worth asking again. */
  get notReady(): boolean {
    return this.code === "not_ready";
  }
}

let base = new URL("./", document.baseURI);

/** Where the routes are, as an absolute URL that ends in a slash. Called once, by the entry module. */
export function setBase(url: URL): void {
  base = url;
}

/** The absolute URL of a route, for links and downloads; routes other than those of `Routes` are allowed. */
export function urlOf(route: string, query: Query = {}): string {
  const url = new URL(route, base);
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
  return url.href;
}

/**
 * The payload of a route.
 *
 * Throws `ApiError` for every answer but the payload, and the signal's `AbortError` when aborted. The browser's own cache deals with ETags.
 */
export async function fetchJson<R extends Route>(route: R, query: Query = {}, signal?: AbortSignal): Promise<Routes[R]> {
  const response = await request(urlOf(route, query), signal);
  const text = await bodyOf(response, signal);
  const value = parse(text);
  if (response.status === 200 && value !== null && !hasError(value)) return value as Routes[R];
  if (hasError(value)) throw new ApiError(errorBody(value.error), response.status);
  throw new ApiError(unexpected(response, text), response.status);
}

async function request(url: string, signal: AbortSignal | undefined): Promise<Response> {
  try {
    return await fetch(url, { headers: { Accept: "application/json" }, credentials: "same-origin", ...(signal ? { signal } : {}) });
  } catch (thrown) {
    throw lost(thrown, signal);
  }
}

async function bodyOf(response: Response, signal: AbortSignal | undefined): Promise<string> {
  try {
    return await response.text();
  } catch (thrown) {
    throw lost(thrown, signal);
  }
}

function lost(thrown: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return thrown;
  const hint = "Is TensorBoard still running? The page goes on by itself when the server answers again.";
  return new ApiError({ code: "network", message: "The server cannot be reached.", hint, progress: null }, 0);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function hasError(value: unknown): value is { error: Record<string, unknown> } {
  return typeof value === "object" && value !== null && "error" in value && typeof value.error === "object" && value.error !== null;
}

function errorBody(error: Record<string, unknown>): ErrorBody {
  const text = (key: string, otherwise: string): string => {
    const value = error[key];
    return typeof value === "string" ? value : otherwise;
  };
  const progress = error.progress;
  return {
    code: text("code", "bad_answer"),
    message: text("message", "The server reports an error without a message."),
    hint: text("hint", ""),
    progress: typeof progress === "number" && Number.isFinite(progress) ? Math.min(1, Math.max(0, progress)) : null,
  };
}

function unexpected(response: Response, text: string): ErrorBody {
  const kind = response.headers.get("Content-Type") ?? "no content type";
  const start = text.slice(0, 120).replace(/\s+/g, " ").trim();
  return {
    code: "bad_answer",
    message: `The server answered ${response.status} with ${kind} instead of JSON${start ? `: ${start}` : "."}`,
    hint: "A proxy between the browser and TensorBoard may have answered instead.",
    progress: null,
  };
}
