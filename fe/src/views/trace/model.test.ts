import { describe, expect, it } from "vitest";
import type { StepItem } from "../../api/types.gen";
import { checkWindow, exactTime, parseTime, windowName, windowOfSteps } from "./model";

describe("parseTime", () => {
  it.each([
    ["1.5 ms", 1_500_000],
    ["20us", 20_000],
    ["20 µs", 20_000],
    ["3", 3_000_000],
    ["0,25 s", 250_000_000],
    ["7 ns", 7],
    [".5ms", 500_000],
    ["0", 0],
    ["", null],
    ["-1 ms", null],
    ["1e9", null],
    ["ten ms", null],
    ["99999999999 s", null],
  ])("%s", (text, ns) => expect(parseTime(text)).toBe(ns));
});

describe("checkWindow", () => {
  const span = 1_000_000_000;
  it("takes empty fields for the ends of the trace", () => {
    expect(checkWindow("", "", span)).toEqual({ window: { t0: 0, t1: span }, problem: "" });
  });
  it("cuts a window to the trace", () => {
    expect(checkWindow("0.5 s", "9 s", span).window).toEqual({ t0: 500_000_000, t1: span });
  });
  it.each([
    ["x", "", "“x” is not a time"],
    ["", "y", "“y” is not a time"],
    ["2 ms", "1 ms", "ends before it begins"],
    ["1 ms", "1 ms", "ends before it begins"],
    ["2 s", "3 s", "begins after the end"],
  ])("says why %s to %s is no window", (from, to, problem) => {
    const checked = checkWindow(from, to, span);
    expect(checked.window).toBeNull();
    expect(checked.problem).toContain(problem);
  });
});

describe("windowOfSteps", () => {
  const step = (index: number, start_ns: number, wall_ns: number): StepItem => ({ index, start_ns, wall_ns }) as StepItem;
  const steps = [step(0, 100, 50), step(1, 150, 70), step(2, 200, 10)];
  it("reaches to the latest end, which need not be that of the last step", () => {
    expect(windowOfSteps(steps, 1, 2)).toEqual({ t0: 150, t1: 220 });
  });
  it("is null when no such step exists", () => {
    expect(windowOfSteps(steps, 7, 9)).toBeNull();
    expect(windowOfSteps([], 0, 0)).toBeNull();
  });
});

describe("exactTime", () => {
  it.each([0, 1, 999, 1000, 1001, 1_234_567, 500_000_000, 187_948_123_457])("%d ns reads back to itself", (ns) => {
    expect(parseTime(exactTime(ns))).toBe(ns);
  });
  it("uses the largest unit that fits", () => expect(exactTime(1_500_000)).toBe("1.5 ms"));
});

describe("windowName", () => {
  it("keeps the ending that tools recognise", () => {
    expect(windowName("run/w0.123.pt.trace.json.gz", { t0: 10_000_000, t1: 20_000_000 })).toBe("w0.123.10ms-20ms.pt.trace.json.gz");
    expect(windowName("plain.json", { t0: 0, t1: 1500 })).toBe("plain.0ns-1.5us.json");
    expect(windowName("odd", { t0: 0, t1: 1 })).toBe("odd.0ns-1ns");
  });
});
