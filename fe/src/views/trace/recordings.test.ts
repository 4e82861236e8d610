import { describe, expect, it, vi } from "vitest";
import type { NamesPayload } from "../../api/types.gen";
import { recording, timeline } from "./fixtures";
import { fromAlignment, nameBook, recordingOf } from "./recordings";

const wanted = {
  key: "",
  label: "w",
  worker: null,
  query: { run: "r", worker: "w", span: "s" },
  offset: 0,
  ranks: "",
};
const signal = new AbortController().signal;

it("a recording asks for tiles of its content, lanes as ranges", async () => {
  const fetched = vi.fn((_: string) =>
    Promise.resolve(
      new Response(new Uint8Array(3), { headers: { "Content-Type": "application/octet-stream" } }),
    ),
  );
  vi.stubGlobal("fetch", fetched);
  const { source } = recordingOf(wanted, timeline(), recording().names, vi.fn());
  expect(
    (await source.load({ level: 4, ks: [1, 2], lanes: [3, 1, 2, 9] }, signal)).byteLength,
  ).toBe(3);
  expect(Object.fromEntries(new URL(fetched.mock.calls[0]?.[0] ?? "").searchParams)).toEqual({
    run: "r",
    worker: "w",
    span: "s",
    id: "content",
    level: "4",
    k: "1,2",
    lanes: "1-3,9",
  });
});

it("tells that its content is gone, and no other failure", async () => {
  const answer = (code: string, status: number): void =>
    void vi.stubGlobal("fetch", () =>
      Promise.resolve(
        new Response(JSON.stringify({ error: { code, message: "No.", hint: "" } }), { status }),
      ),
    );
  const outdated = vi.fn();
  const { source } = recordingOf(wanted, timeline(), recording().names, outdated);
  answer("bad_request", 400);
  await expect(source.load({ level: 4, ks: [1], lanes: [1] }, signal)).rejects.toThrow("No.");
  expect(outdated).not.toHaveBeenCalled();
  answer("outdated", 409);
  await expect(source.load({ level: 4, ks: [1], lanes: [1] }, signal)).rejects.toThrow("No.");
  expect(outdated).toHaveBeenCalledWith("content");
});

it("workers keep their place, and are called by their rank where it is known", () => {
  const worker = (name: string, rank: number | null) => ({
    worker: name,
    span: "s",
    rank,
    ready: true,
    offset_ns: 7,
    method: "clock" as const,
    error_ns: null,
    matched: 0,
  });
  expect(
    fromAlignment("r", {
      workers: [worker("a", 3), worker("b", null)],
      workers_chosen: 2,
      workers_total: 2,
    }).map(({ key, label, offset, query }) => [key, label, offset, query.worker]),
  ).toEqual([
    ["0", "rank 3", 7, "a"],
    ["1", "b", 7, "b"],
  ]);
  expect(fromAlignment("r", null)).toEqual([]);
});

const pages = (count: number) =>
  vi.fn((first: number): Promise<NamesPayload> =>
    Promise.resolve({
      first,
      names: Array.from({ length: Math.min(4, count - first) }, (_, i) => `n${first + i}`),
    }),
  );

describe("nameBook", () => {
  it("asks for the page of a name once and tells when it came", async () => {
    const fetchPage = pages(10);
    const book = nameBook(fetchPage, 4, 10);
    const told = vi.fn();
    book.watch(told);
    expect([book.name(5), book.name(6), book.name(5)]).toEqual([undefined, undefined, undefined]);
    expect(fetchPage.mock.calls).toEqual([[4]]);
    await vi.waitFor(() => expect(told).toHaveBeenCalledOnce());
    expect([book.name(4), book.name(7)]).toEqual(["n4", "n7"]);
    expect([...book.numbers((name) => name > "n5")]).toEqual([6, 7]);
  });

  it("does not ask for what the trace does not have", () => {
    const fetchPage = pages(10);
    const book = nameBook(fetchPage, 4, 10);
    expect([book.name(10), book.name(-1)]).toEqual([undefined, undefined]);
    expect(fetchPage).not.toHaveBeenCalled();
  });

  it("asks again, later, for a page that could not be had", async () => {
    vi.useFakeTimers();
    const fetchPage = vi.fn(() => Promise.reject(new Error("gone")));
    const book = nameBook(fetchPage, 4, 10);
    book.name(0);
    await vi.advanceTimersByTimeAsync(100);
    book.name(0);
    expect(fetchPage).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(6000);
    book.name(0);
    expect(fetchPage).toHaveBeenCalledTimes(2);
    vi.useRealTimers();
  });
});
