import { describe, expect, it } from "vitest";
import type { TimelinePayload } from "../../api/types.gen";
import type { Recording } from "./recordings";
import { firstView, viewOfSteps } from "./trace_state";

const STEPS = [
  {
    step: 0,
    steps: 1,
    name: "ProfilerStep#3",
    start_ns: 100,
    end_ns: 200,
    host_start_ns: 100,
    host_end_ns: 200,
  },
  {
    step: 1,
    steps: 1,
    name: "ProfilerStep#4",
    start_ns: 200,
    end_ns: 500,
    host_start_ns: 200,
    host_end_ns: 500,
  },
  {
    step: 2,
    steps: 1,
    name: "ProfilerStep#5",
    start_ns: 500,
    end_ns: 500,
    host_start_ns: 500,
    host_end_ns: 500,
  },
];
const recording = {
  offset: 1000,
  timeline: { steps: STEPS } as unknown as TimelinePayload,
} as Recording;
const chosen = (first: number | null, last: number | null): ReturnType<typeof viewOfSteps> =>
  viewOfSteps({ first, last, skipCold: false }, recording);

describe("the first view", () => {
  it("is that of the address where it lies in the span", () => {
    expect(firstView("150,50", { t0: 0, t1: 1000 })).toEqual({ t0: 150, t1: 200 });
    expect(firstView("2000,50", { t0: 0, t1: 1000 })).toBeNull();
    expect(firstView(undefined, { t0: 0, t1: 1000 })).toBeNull();
  });

  it("shows the steps that were chosen on another page, on the common clock", () => {
    expect(chosen(1, null)).toEqual({ t0: 1200, t1: 1500 });
    expect(chosen(0, 1)).toEqual({ t0: 1100, t1: 1500 });
  });

  it("shows everything where no step, an unknown or an empty one is chosen", () => {
    expect([chosen(null, null), chosen(7, 8), chosen(2, 2)]).toEqual([null, null, null]);
  });
});
