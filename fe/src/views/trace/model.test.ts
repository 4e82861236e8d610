import { describe, expect, it } from "vitest";
import {
  checkWindow,
  parseTime,
  readMode,
  seenWindow,
  wallClock,
  windowForPerfetto,
  windowOfSteps,
} from "./model";

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
  const step = (
    number: number,
    start_ns: number,
    wall_ns: number,
  ): { step: number; steps: number; start_ns: number; wall_ns: number } => ({
    step: number,
    steps: 1,
    start_ns,
    wall_ns,
  });
  const steps = [step(0, 100, 50), step(1, 150, 70), step(2, 200, 10)];
  it("reaches to the latest end, which need not be that of the last step", () => {
    expect(windowOfSteps(steps, 1, 2)).toEqual({ t0: 150, t1: 220 });
  });
  it("is null when no such step exists", () => {
    expect(windowOfSteps(steps, 7, 9)).toBeNull();
    expect(windowOfSteps([], 0, 0)).toBeNull();
  });
});

describe("seenWindow", () => {
  it("is what is seen, in the recording's own whole ns and inside it", () => {
    expect(seenWindow({ t0: 110.5, t1: 150.2 }, { offset: 100 }, 1000)).toEqual({ t0: 10, t1: 51 });
    expect(seenWindow({ t0: -50, t1: 5000 }, { offset: 100 }, 1000)).toEqual({ t0: 0, t1: 1001 });
  });
  it("is null where nothing of it is seen", () =>
    expect(seenWindow({ t0: 0, t1: 50 }, { offset: 100 }, 1000)).toBeNull());
});

it("windowForPerfetto asks for a whole file that Perfetto does not read as a window, and for nothing else so", () => {
  expect(windowForPerfetto("w.json.zst", null, 100)).toEqual({ t0: 0, t1: 101 });
  expect(windowForPerfetto("report1.sqlite", null, 100)).toEqual({ t0: 0, t1: 101 });
  expect(windowForPerfetto("W.JSON", null, 100)).toBeNull();
  expect(windowForPerfetto("w.json.gz", null, 100)).toBeNull();
  expect(windowForPerfetto("rank0.pftrace.gz", null, 100)).toBeNull();
  expect(windowForPerfetto("w.json.zst", { t0: 5, t1: 6 }, 100)).toEqual({ t0: 5, t1: 6 });
});

describe("wallClock", () => {
  it("reads a clock that starts in 1970", () =>
    expect(wallClock("1623143568000000000")).toBe("2021-06-08 09:12:48.000 UTC"));
  it.each(["0", "81234567890", "-5", "", "99999999999999999999", "<b>"])(
    "is not known for %s",
    (origin) => {
      expect(wallClock(origin)).toBeNull();
    },
  );
});

describe("readMode", () => {
  it("believes the address bar, then the header", () => {
    expect(readMode("window", true)).toBe("window");
    expect(readMode("<img>", true)).toBe("steps");
    expect(readMode("whole", false)).toBe("whole");
    expect(readMode(undefined, false)).toBe("seen");
  });
});
