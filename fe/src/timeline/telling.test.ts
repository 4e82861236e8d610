import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FrameClock } from "./scene";
import type { Sight } from "./props";
import { Telling } from "./telling";
import type { Row, TimeRange } from "./types";

const ROWS: readonly Row[] = [];
const sight = (t0: number, rows = ROWS): Sight => ({
  view: { t0, t1: t0 + 10 },
  width: 10,
  nsPerPx: 1,
  rows,
  lanes: new Map(),
});

let seen: number[];
let settled: TimeRange[];
let telling: Telling;
beforeEach(() => {
  vi.useFakeTimers();
  seen = [];
  settled = [];
  telling = new Telling(
    (now) => seen.push(now.view.t0),
    (view) => settled.push(view),
  );
});
afterEach(() => vi.useRealTimers());

it("tells the first sight at once, which is no move", () => {
  telling.see(0, sight(0));
  vi.advanceTimersByTime(1000);
  expect([seen, settled]).toEqual([[0], []]);
});

it("tells the rest of a move, and its view a little later", () => {
  telling.see(0, sight(0));
  for (let i = 1; i <= 5; i++) telling.see(i * 16, sight(i));
  expect(seen).toEqual([0]);
  vi.advanceTimersByTime(130);
  expect([seen, settled]).toEqual([[0, 5], []]);
  vi.advanceTimersByTime(130);
  expect(settled).toEqual([{ t0: 5, t1: 15 }]);
});

it("tells a long move now and then", () => {
  for (let i = 0; i <= 60; i++) telling.see(i * 16, sight(i));
  expect(seen).toEqual([0, 25, 50]);
});

it("tells new rows, which do not move the view", () => {
  telling.see(0, sight(0));
  telling.see(16, sight(0, [...ROWS]));
  telling.see(32, sight(0, [...ROWS]));
  vi.advanceTimersByTime(500);
  expect([seen, settled]).toEqual([[0, 0], []]);
});

it("is silent after its end", () => {
  telling.see(0, sight(0));
  telling.see(16, sight(1));
  telling.end();
  vi.advanceTimersByTime(500);
  expect([seen, settled]).toEqual([[0], []]);
});

it("keeps the last frames only, and gaps of moves only", () => {
  const clock = new FrameClock();
  for (let i = 0; i < 700; i++) clock.add(3, 2);
  expect([clock.frames.length, clock.draws.length]).toEqual([600, 600]);
  clock.clear();
  expect(clock.draws).toEqual([]);
});
