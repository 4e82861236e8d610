import { expect, it } from "vitest";
import { hoverText, spokenText } from "./hover_text";
import type { Slice, Source } from "./types";

const SOURCE: Source = {
  offset: 0,
  span: 1e9,
  levelMax: 20,
  load: () => Promise.reject(new Error("not asked")),
  name: (number) => ["gemm", ""][number],
};
const SLICE: Slice = {
  source: 0,
  lane: 1,
  event: 5,
  start: 1_001_500,
  end: 1_004_000,
  name: 0,
  count: 1,
  busy: 1,
  look: 3,
};
const plain = (text: string): string => text.replaceAll("\u202f", " ");

it("names an event and says when and how long", () => {
  const { title, lines } = hoverText(SLICE, [SOURCE], 1_000_000, ["Kernel"]);
  expect([title, ...lines].map(plain)).toEqual(["gemm", "2.50 µs at 1.500 µs", "Kernel"]);
});

it("says what a summary holds", () => {
  const { title, lines } = hoverText({ ...SLICE, count: 1370, busy: 0.82 }, [SOURCE], 0, []);
  expect([title, ...lines].map(plain)).toEqual([
    "1 370 events, 82.0 % busy",
    "2.50 µs at 1.001 500 ms",
    "longest: gemm",
  ]);
});

it("does not invent names", () => {
  expect(hoverText({ ...SLICE, name: 9 }, [SOURCE], 0, []).title).toBe("…");
  expect(hoverText({ ...SLICE, name: 1 }, [SOURCE], 0, []).title).toBe("(no name)");
});

it("speaks in one sentence", () =>
  expect(plain(spokenText(SLICE, [SOURCE], 1_000_000, "stream 7"))).toBe(
    "gemm, 2.50 µs at 1.500 µs, in stream 7",
  ));
