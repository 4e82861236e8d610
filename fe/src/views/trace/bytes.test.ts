import { describe, expect, it, vi } from "vitest";
import { fetchBytes, type Progress } from "./bytes";

const answer = (body: BodyInit | null, init: ResponseInit = {}): void => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(body, init)));
};
const get = async (): Promise<{ bytes: number[]; seen: Progress[] }> => {
  const seen: Progress[] = [];
  const buffer = await fetchBytes("trace/file", (p) => seen.push(p), new AbortController().signal);
  return { bytes: [...new Uint8Array(buffer)], seen };
};

describe("fetchBytes", () => {
  it("joins the pieces in order and reports each", async () => {
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array([1, 2]));
        controller.enqueue(new Uint8Array([3]));
        controller.close();
      },
    });
    answer(stream, { headers: { "Content-Length": "3" } });
    const { bytes, seen } = await get();
    expect(bytes).toEqual([1, 2, 3]);
    expect(seen).toEqual([
      { received: 2, total: 3 },
      { received: 3, total: 3 },
    ]);
  });

  it("does not promise a length that is that of the compressed bytes", async () => {
    answer(new Uint8Array([1]), { headers: { "Content-Length": "1", "Content-Encoding": "gzip" } });
    expect((await get()).seen.every((p) => p.total === null)).toBe(true);
  });

  it("passes on what the server says went wrong", async () => {
    answer(
      JSON.stringify({
        error: { code: "not_found", message: "No such span.", hint: "Choose another." },
      }),
      { status: 404 },
    );
    await expect(get()).rejects.toThrow("No such span. Choose another.");
    answer("<html>", { status: 502 });
    await expect(get()).rejects.toThrow("HTTP 502");
  });

  it("takes an answer that is on its way for no file", async () => {
    answer(
      JSON.stringify({ error: { code: "not_ready", message: "It is being imported.", hint: "" } }),
      { status: 202 },
    );
    await expect(get()).rejects.toThrow("It is being imported.");
  });
});
