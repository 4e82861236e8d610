/**
 * Handing a trace over to the Perfetto UI in a window of its own, by its documented protocol
 * (https://perfetto.dev/docs/visualization/embedding-api-reference): ask `PING` until the page answers `PONG`, then send the
 * bytes once. Only the window that was opened, and only its exact origin, is listened and spoken to.
 */

import { messageOf } from "../../base/errors";

export type HandoverState =
  "opening" | "handed" | "blocked" | "no_answer" | "closed" | "failed" | "cancelled";

export interface Popup {
  readonly closed: boolean;
  postMessage(message: unknown, origin: string, transfer?: Transferable[]): void;
}

export interface Received {
  source: unknown;
  origin: string;
  data: unknown;
}

/** What the browser does, so that tests can do it instead. Each function returns how to stop it. */
export interface Browser {
  open(url: string): Popup | null;
  listen(heard: (message: Received) => void): () => void;
  every(ms: number, run: () => void): () => void;
}

export interface Handover {
  url: string;
  title: string;
  fileName: string;
  /** Fetches the bytes, once the window is open; rejects when they cannot be had. */
  bytes: () => Promise<ArrayBuffer>;
  onState: (state: HandoverState, reason: string) => void;
}

export const PING_MS = 50;
export const PATIENCE_MS = 30_000;

/** Where the Perfetto UI lives; an address that is not http(s) is refused. */
export function perfettoOrigin(url: string): string {
  const parsed = new URL(url);
  if (parsed.protocol !== "https:" && parsed.protocol !== "http:")
    throw new Error(`${parsed.protocol} is not an address to open`);
  return parsed.origin;
}

/** Opens the window; call it in the click handler, or the browser blocks it. Returns how to cancel. */
export function handOver(browser: Browser, handover: Handover): () => void {
  const { url, title, fileName, onState } = handover;
  const origin = perfettoOrigin(url);
  const popup = browser.open(url);
  if (!popup) {
    onState("blocked", "");
    return () => undefined;
  }
  let buffer: ArrayBuffer | null = null;
  let ready = false;
  let waited = 0;
  let over = false;
  const end = (state: HandoverState, reason = ""): void => {
    if (over) return;
    over = true;
    stopListening();
    stopAsking();
    onState(state, reason);
  };
  const send = (): void => {
    if (over || !ready || !buffer) return;
    popup.postMessage({ perfetto: { buffer, title, fileName, localOnly: true } }, origin, [buffer]);
    end("handed");
  };
  const stopListening = browser.listen((message) => {
    if (message.source !== popup || message.origin !== origin || message.data !== "PONG") return;
    ready = true;
    send();
  });
  const stopAsking = browser.every(PING_MS, () => {
    if (popup.closed) end("closed");
    else if (!ready && (waited += PING_MS) > PATIENCE_MS) end("no_answer");
    else if (!ready) popup.postMessage("PING", origin);
  });
  onState("opening", "");
  handover.bytes().then(
    (got) => {
      buffer = got;
      send();
    },
    (thrown: unknown) => end("failed", messageOf(thrown)),
  );
  return () => end("cancelled");
}

export function realBrowser(host: Window): Browser {
  return {
    open: (url) => host.open(url, "_blank"),
    listen: (heard) => {
      const listener = (event: MessageEvent): void => heard(event);
      host.addEventListener("message", listener);
      return () => host.removeEventListener("message", listener);
    },
    every: (ms, run) => {
      const timer = host.setInterval(run, ms);
      return () => host.clearInterval(timer);
    },
  };
}
