/** Fetches the bytes of a trace with progress, and hands bytes to the person as a file. */

import type { ErrorBody } from "../../api/types.gen";

export interface Progress {
  received: number;
  /** `null` where the server does not say how many there will be. */
  total: number | null;
}

/** The bytes behind `url`. Rejects with a sentence when the answer is not the file. */
export async function fetchBytes(
  url: string,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<ArrayBuffer> {
  const response = await fetch(url, { signal, credentials: "same-origin" });
  if (response.status !== 200) throw new Error(await complaint(response));
  const total = expectedLength(response.headers);
  const reader = response.body?.getReader();
  if (!reader) return response.arrayBuffer();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let received = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    received += value.length;
    onProgress({ received, total });
  }
  return new Blob(chunks).arrayBuffer();
}

/** What the browser inflates on the way has another length than the header says. */
function expectedLength(headers: Headers): number | null {
  if ((headers.get("Content-Encoding") ?? "identity") !== "identity") return null;
  return Number(headers.get("Content-Length")) || null;
}

async function complaint(response: Response): Promise<string> {
  try {
    const { error } = (await response.json()) as { error: ErrorBody };
    return [error.message, error.hint].filter(Boolean).join(" ");
  } catch {
    // Not the error shape: the status has to do.
    return `The server answered with HTTP ${response.status}.`;
  }
}
