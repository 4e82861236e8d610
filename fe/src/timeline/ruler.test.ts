import { describe, expect, it } from "vitest";
import { niceStep, ticksOf, timeOnScreen, timeText } from "./ruler";

const plain = (text: string): string => text.replaceAll("\u202f", " ");

describe("niceStep", () => {
  it.each([
    [0.2, 1],
    [1, 1],
    [1.2, 2],
    [3, 5],
    [7, 10],
    [1500, 2000],
    [2000, 2000],
    [9.9e8, 1e9],
  ])("of %d is %d", (least, step) => expect(niceStep(least)).toBe(step));
});

describe("timeText", () => {
  it.each([
    [0, 1, "0"],
    [7, 1, "7 ns"],
    [1_234_567, 1, "1.234 567 ms"],
    [1_234_567, 1000, "1.235 ms"],
    [-5_000_000, 1e6, "−5 ms"],
    [61_000_000_000, 1e9, "61 s"],
    [999_999, 1000, "1.000 ms"],
    [1_234e9, 1e9, "1 234 s"],
  ])("%d known to %d is %s", (time, step, text) => expect(plain(timeText(time, step))).toBe(text));
});

it("says no more than a px shows", () => {
  expect(plain(timeOnScreen(1_234_567_891, 37_000))).toBe("1.234 57 s");
  expect(plain(timeOnScreen(1_234_567_891, 0.2))).toBe("1.234 567 891 s");
});

describe("ticksOf", () => {
  const labels = (t0: number, t1: number, origin = 0): string[] =>
    ticksOf({ t0, t1 }, 920, origin).ticks.map((tick) => plain(tick.label));

  it("has one unit for a view from the begin", () => {
    expect(labels(0, 10e6)).toEqual([
      "0",
      "1 ms",
      "2 ms",
      "3 ms",
      "4 ms",
      "5 ms",
      "6 ms",
      "7 ms",
      "8 ms",
      "9 ms",
      "10 ms",
    ]);
    expect(labels(0, 1.2e9).slice(0, 3)).toEqual(
      ["0.0 s", "0.2 s", "0.4 s"].map((text, i) => (i === 0 ? "0" : text)),
    );
  });

  it("counts from the origin", () => expect(labels(1e15, 1e15 + 1e6, 1e15)[1]).toBe("0.1 ms"));

  it("shows the common part once where labels would get long", () => {
    const { ticks, offset, step } = ticksOf({ t0: 1_234_567_890, t1: 1_234_569_890 }, 920, 0);
    expect([plain(offset), step]).toEqual(
      ["1.234 56 s", 500].map((value, i) => (i === 1 ? 200 : value)),
    );
    expect(ticks.map((tick) => plain(tick.label)).slice(0, 3)).toEqual([
      "+8.0 µs",
      "+8.2 µs",
      "+8.4 µs",
    ]);
    expect(ticks[0]?.time).toBe(1_234_568_000);
  });

  it("never has endless digits, at any zoom and place", () => {
    for (let power = 1; power <= 14; power += 0.5) {
      for (const start of [0, 17, 123_456_789, 86_399_123_456_789]) {
        const { ticks, step } = ticksOf({ t0: start, t1: start + 10 ** power }, 1000, 0);
        expect(ticks.length).toBeGreaterThan(3);
        expect(ticks.length).toBeLessThan(14);
        for (const { label, time } of ticks) {
          expect(label.replace(/\D/g, "").length).toBeLessThanOrEqual(6);
          expect(time % step).toBe(0);
        }
        expect(new Set(ticks.map((tick) => tick.label)).size).toBe(ticks.length);
      }
    }
  });

  it("stands on whole ns at full zoom", () => {
    const { ticks, offset, parts } = ticksOf({ t0: 1_000_000_003.2, t1: 1_000_000_013.2 }, 920, 0);
    expect(ticks.map((tick) => tick.label).slice(0, 2)).toEqual(["+4 ns", "+5 ns"]);
    expect([plain(offset), parts]).toEqual(["1 s", 1]);
  });

  it("cuts a step into parts that are round themselves", () => {
    const parts = (length: number): number[] =>
      [ticksOf({ t0: 0, t1: length }, 920, 0)].map(({ step, parts: cut }) => step / cut);
    for (const length of [100, 200, 400, 1e4, 2e5, 5e6, 1e9])
      expect([1, 2, 5]).toContain(Number(String(parts(length)[0])[0]));
  });
});
