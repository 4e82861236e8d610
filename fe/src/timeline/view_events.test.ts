import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FrameClock } from "./scene";
import type { VisibleRange } from "./props";
import { ViewEvents } from "./view_events";
import type { Row, TimeRange } from "./types";

const ROWS: readonly Row[] = [];
const visible = (t0: number, rows = ROWS): VisibleRange => ({
  view: { t0, t1: t0 + 10 },
  width: 10,
  nsPerPx: 1,
  rows,
  lanes: new Map(),
});

let seen: number[];
let settled: TimeRange[];
let viewEvents: ViewEvents;
beforeEach(() => {
  vi.useFakeTimers();
  seen = [];
  settled = [];
  viewEvents = new ViewEvents(
    (now) => seen.push(now.view.t0),
    (view) => settled.push(view),
  );
});
afterEach(() => vi.useRealTimers());

it("tells the first sight at once, which is no move", () => {
  viewEvents.see(0, visible(0));
  vi.advanceTimersByTime(1000);
  expect([seen, settled]).toEqual([[0], []]);
});

it("tells the rest of a move, and its view a little later", () => {
  viewEvents.see(0, visible(0));
  for (let i = 1; i <= 5; i++) viewEvents.see(i * 16, visible(i));
  expect(seen).toEqual([0]);
  vi.advanceTimersByTime(130);
  expect([seen, settled]).toEqual([[0, 5], []]);
  vi.advanceTimersByTime(130);
  expect(settled).toEqual([{ t0: 5, t1: 15 }]);
});

it("tells a long move now and then", () => {
  for (let i = 0; i <= 60; i++) viewEvents.see(i * 16, visible(i));
  expect(seen).toEqual([0, 25, 50]);
});

it("tells new rows, which do not move the view", () => {
  viewEvents.see(0, visible(0));
  viewEvents.see(16, visible(0, [...ROWS]));
  viewEvents.see(32, visible(0, [...ROWS]));
  vi.advanceTimersByTime(500);
  expect([seen, settled]).toEqual([[0, 0], []]);
});

it("is silent after its end", () => {
  viewEvents.see(0, visible(0));
  viewEvents.see(16, visible(1));
  viewEvents.end();
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
