import { describe, expect, it } from "vitest";
import { curveOf, formatCounter } from "./canvas";
import { activityOf, boundariesOf, marksOf } from "./trace_state";
import { recording, timeline } from "./fixtures";
import { ownWindow, windowFor } from "./window";

describe("windowFor", () => {
  const visible = (t0: number, t1: number, width = 1000) => ({ view: { t0, t1 }, width });
  it("reaches beyond what is seen, about one part per px", () => {
    expect(windowFor(null, visible(1000, 2000))).toEqual({ t0: 500, t1: 2500, parts: 2000 });
  });
  it("stays the same for small moves", () => {
    const first = windowFor(null, visible(1000, 2000));
    expect(windowFor(first, visible(1200, 2200))).toBe(first);
    expect(windowFor(first, visible(1100, 1900))).toBe(first);
  });
  it("is a new one for what lies outside, and for what needs finer parts", () => {
    const first = windowFor(null, visible(1000, 2000));
    expect(windowFor(first, visible(2000, 3000))).not.toBe(first);
    expect(windowFor(first, visible(1500, 1600))).not.toBe(first);
  });
  it("never asks for more parts than the server takes", () =>
    expect(windowFor(null, visible(0, 1e9, 9000)).parts).toBe(4096));
});

describe("ownWindow", () => {
  it("is in the recording's own time and inside it", () => {
    expect(ownWindow({ t0: 50, t1: 250, parts: 100 }, { offset: 100 }, 500)).toEqual({
      t0: 0,
      t1: 150,
      parts: 75,
    });
  });
  it("is null where they do not touch", () =>
    expect(ownWindow({ t0: 0, t1: 100, parts: 10 }, { offset: 100 }, 500)).toBeNull());
});

describe("curveOf", () => {
  const about = {
    key: "m",
    name: "Memory",
    process_key: "",
    unit: "bytes",
    mean: false,
    lowest: 5,
    highest: 2048,
    samples: 9,
  };
  it("keeps unknown unknown and counts from zero", () => {
    const curve = curveOf(
      { t0_ns: 0, t1_ns: 10 },
      { lowest: [null, 5], highest: [null, 9], mean: [null, 7] },
      about,
      { offset: 100 },
    );
    expect([...curve.lowest]).toEqual([NaN, 5]);
    expect(curve.mean).toBeNull();
    expect([curve.from, curve.to, curve.range]).toEqual([0, 2048, { t0: 100, t1: 110 }]);
    expect(curve.format(2048)).toBe("2.00 KiB");
  });
  it("has an axis even for a counter that stays at zero", () => {
    const curve = curveOf(
      { t0_ns: 0, t1_ns: 1 },
      { lowest: [], highest: [], mean: [] },
      { ...about, unit: "calls", lowest: 0, highest: 0 },
      { offset: 0 },
    );
    expect(curve.to).toBeGreaterThan(curve.from);
    expect(curve.format(3)).toBe("3 calls");
  });
});

it("formatCounter writes shares as per cent", () =>
  expect(formatCounter(0.5, "share")).toBe("50.0 %"));

describe("what is drawn beside the slices", () => {
  it("moves steps and defects onto the common clock", () => {
    const moved = recording({
      offset: 1000,
      timeline: timeline({ marks: [{ defect: "overlap_repaired", start_ns: 5, dur_ns: 10 }] }),
    });
    const [step] = boundariesOf([moved], 0);
    expect(step).toMatchObject({ name: "3", of: "host and device", start: 1000, end: 501_000 });
    expect(step?.about.at(-1)).toBe("Host alone: 400 µs at 0");
    expect(
      marksOf([moved], "7,9").map(({ label, start, end, kind }) => [label, start, end, kind]),
    ).toEqual([
      ["Mark 1", 7, 9, "person"],
      ["overlap repaired", 1005, 1015, "defect"],
    ]);
  });
  it("shows the mean of the workers that recorded then", () => {
    const one = recording({ timeline: timeline({ span_ns: 100, device_activity: [200, 200] }) });
    const other = recording({
      offset: 100,
      timeline: timeline({ span_ns: 100, device_activity: [100, 0] }),
    });
    const { device, host } = activityOf([one, other], { t0: 0, t1: 200 });
    expect([device?.[0], device?.[600], device?.at(-1), host]).toEqual([200, 100, 0, null]);
  });
});
