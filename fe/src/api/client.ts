/** Fetches JSON from the plugin's routes and decodes the one error shape. */

import { messageOf } from "../base/errors";
import type { Parameters, Routes } from "./routes.gen";
import type { ErrorBody } from "./types.gen";

export type { Parameters, Routes };
export type Route = keyof Routes;
/** How far what is waited for is, `/waiting` says. */
type Said = Omit<ErrorBody, "progress">;
type Query = Readonly<Record<string, string | undefined>>;

/** An answer that is not the payload. `code` is the server's, or `network`, `bad_answer`. */
export class ApiError extends Error {
  readonly code: string;
  readonly hint: string;

  constructor(body: Said) {
    super(body.message);
    this.name = "ApiError";
    this.code = body.code;
    this.hint = body.hint;
  }

  /** The trace is known and on its way: worth asking again. */
  get notReady(): boolean {
    return this.code === "not_ready";
  }
}

/** Anything thrown as the error that the page shows. */
export function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const hint = "This is a bug of the page; please report it.";
  return new ApiError({ code: "page", message: messageOf(thrown), hint });
}

let base = new URL("http://localhost/");

/** Where the routes are, as an absolute URL that ends in a slash. Called once, by the entry module. */
export function setBase(url: URL): void {
  base = url;
}

let ask: (url: string, how: RequestInit) => Promise<Response> = (url, how) => fetch(url, how);

/** Whether a server is there to write files and draw timelines. */
export let served = true;

/** Answers from elsewhere than a server: those that a report has kept. */
export function setFetch(kept: typeof ask): void {
  ask = kept;
  served = false;
}

/** The absolute URL of a route, for links and downloads. */
export function urlOf<R extends keyof Parameters>(route: R, query: Parameters[R]): string {
  const url = new URL(route, base);
  for (const [key, value] of Object.entries(query as Query))
    if (value !== undefined) url.searchParams.set(key, value);
  return url.href;
}

/**
 * The payload of a route.
 *
 * Throws `ApiError` for every answer but the payload, and the signal's `AbortError` when aborted. The browser's own cache deals with ETags.
 */
export async function fetchJson<R extends Route>(
  route: R,
  query: Parameters[R],
  signal?: AbortSignal,
): Promise<Routes[R]> {
  return payload(await request(urlOf(route, query), "application/json", signal), signal);
}

async function payload<P>(response: Response, signal?: AbortSignal): Promise<P> {
  const text = await reached(response.text(), signal);
  const value = parse(text);
  if (response.status === 200 && value !== null && !hasError(value)) return value as P;
  throw refusal(response, text, value, "JSON");
}

/** The bytes of a route that answers with columns instead of JSON, e.g. `trace/tiles`. Throws as `fetchJson` does. */
export async function fetchColumns<R extends Exclude<keyof Parameters, Route>>(
  route: R,
  query: Parameters[R],
  signal?: AbortSignal,
): Promise<ArrayBuffer> {
  const response = await request(urlOf(route, query), "application/octet-stream", signal);
  const type = response.headers.get("Content-Type") ?? "";
  // A proxy's own page comes with status 200, too.
  if (response.status === 200 && !/json|html/.test(type))
    return reached(response.arrayBuffer(), signal);
  const text = await reached(response.text(), signal);
  throw refusal(response, text, parse(text), "columns");
}

function request(url: string, accept: string, signal: AbortSignal | undefined): Promise<Response> {
  const how = { headers: { Accept: accept }, credentials: "same-origin" } as const;
  return reached(ask(url, { ...how, ...(signal ? { signal } : {}) }), signal);
}

/** What the server sends; where it is lost on the way, an error that says so. */
async function reached<T>(coming: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await coming;
  } catch (thrown) {
    if (signal?.aborted) throw thrown;
    const hint =
      "Is TensorBoard still running? The page continues by itself when the server answers again.";
    const message = "The server cannot be reached.";
    throw new ApiError({ code: "network", message, hint });
  }
}

function refusal(response: Response, text: string, value: unknown, wanted: string): ApiError {
  return new ApiError(
    hasError(value) ? errorBody(value.error) : unexpected(response, text, wanted),
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function hasError(value: unknown): value is { error: Record<string, unknown> } {
  return (
    typeof value === "object" &&
    value !== null &&
    "error" in value &&
    typeof value.error === "object" &&
    value.error !== null
  );
}

function errorBody(error: Record<string, unknown>): Said {
  const text = (key: string, otherwise: string): string => {
    const value = error[key];
    return typeof value === "string" ? value : otherwise;
  };
  return {
    code: text("code", "bad_answer"),
    message: text("message", "The server reports an error without a message."),
    hint: text("hint", ""),
  };
}

function unexpected(response: Response, text: string, wanted: string): Said {
  const kind = response.headers.get("Content-Type") ?? "no content type";
  const start = text.slice(0, 120).replace(/\s+/g, " ").trim();
  return {
    code: "bad_answer",
    message: `The server answered ${response.status} with ${kind} instead of ${wanted}${start ? `: ${start}` : "."}`,
    hint: "A proxy between the browser and TensorBoard may have answered instead.",
  };
}
