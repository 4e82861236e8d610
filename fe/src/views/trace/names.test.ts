import { describe, expect, it, vi } from "vitest";
import type { NamesPayload } from "../../api/types.gen";
import { nameBook } from "./names";

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
