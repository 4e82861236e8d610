import { describe, expect, it } from "vitest";
import { CATEGORIES } from "../../base/theme";
import {
  categoryShares,
  deviceTitle,
  leading,
  occurring,
  stepMarks,
  topSentences,
  unrecorded,
} from "./model";
import { device, hostOnly, overview, step } from "../fixtures";

const texts = (payload: Parameters<typeof topSentences>[0]): string[] =>
  topSentences(payload).map((s) => s.text);

describe("topSentences", () => {
  it("answers in plain words: busy, how long, where", () => {
    expect(texts(overview())).toEqual([
      "GPU 0 was busy 55.5 % of 6 steps.",
      "A step takes 178 ms: 55.1 % of it in kernels, 33.1 % in DataLoader, 7.9 % in host operators.",
    ]);
  });

  it("warns where a part of the recording is lost, and only there", () => {
    const defect = {
      name: "",
      severity: "data_loss",
      sentence: "",
      count: 1,
      touched_ns: null,
      touched_share: null,
      doubtful: [],
    };
    expect(texts(overview({ health: [defect] })).at(-1)).toContain("Part of the recording is lost");
    expect(texts(overview({ health: [{ ...defect, severity: "notice" }] })).join()).not.toContain(
      "lost",
    );
  });

  it("names the odd step and why", () => {
    const steps = [
      step(0),
      step(1, { odd: true, odd_reason: "12 ms more DataLoader than the median step" }),
    ];
    expect(texts(overview({ steps })).at(-1)).toBe(
      "Step 1 is odd: 12 ms more DataLoader than the median step.",
    );
  });

  it("names the odd step also while another one is looked at", () => {
    const steps = [step(0), step(1, { odd: true, odd_reason: "x", selected: false })];
    expect(texts(overview({ steps })).at(-1)).toBe("Step 1 is odd: x.");
  });

  it("names the one step that is looked at", () => {
    const steps = [step(0, { selected: false }), step(1, { name: "ProfilerStep#7" })];
    expect(texts(overview({ steps }))[0]).toBe("GPU 0 was busy 55.5 % of step 7.");
  });

  it("speaks of the step where there is but one", () => {
    const one = { ...overview().average!, steps: 1 };
    expect(texts(overview({ steps: [step(0)], average: one }))[0]).toBe(
      "GPU 0 was busy 55.5 % of the step.",
    );
  });

  it("gives both reasons of two odd steps", () => {
    const steps = [
      step(0, { odd: true, odd_reason: "a" }),
      step(1, { odd: true, odd_reason: "b" }),
      step(2),
    ];
    expect(texts(overview({ steps })).at(-1)).toBe("2 steps are odd: 0 (a), 1 (b).");
  });

  it("lists at most four odd steps", () => {
    const steps = [0, 1, 2, 3, 4, 5].map((i) => step(i, { odd: true }));
    expect(texts(overview({ steps })).at(-1)).toBe("6 steps are odd: 0, 1, 2, 3 ….");
  });

  it("gives a range for several devices", () => {
    const devices = [
      device({ utilization: 0.4 }),
      device({ id: 1, utilization: 0.6 }),
      device({ id: 2, utilization: null }),
    ];
    expect(texts(overview({ devices }))[0]).toBe("2 GPUs were busy 40.0 % to 60.0 % of 6 steps.");
  });

  it("says that utilization is unknown, and why, instead of 0", () => {
    const text = texts(
      overview({
        devices: [device({ utilization: null, unknown: ["no kernel has a duration."] })],
      }),
    )[0];
    expect(text).toBe("How busy GPU 0 was is not known: no kernel has a duration.");
  });

  it("speaks of the recording, not of steps, when there are none", () => {
    expect(texts(hostOnly())).toEqual([
      "The recording lasts 178 ms: 95.5 % of it in host operators.",
      "No accelerator activity was recorded: every figure here is the host’s.",
    ]);
  });

  it("says when counters were recorded in place of times, and shows no time of the device as 0", () => {
    const payload = {
      ...hostOnly(),
      missing: [{ key: "device_times", what: "Times of kernels", why: "", call: "" }],
    };
    expect(texts(payload)[1]).toBe(
      "Hardware counters were recorded in place of the times of kernels: every figure here is the host’s.",
    );
    expect(unrecorded(payload).has("kernel")).toBe(true);
  });

  it("says how much of a step nothing was recorded of", () => {
    const average = {
      steps: 2,
      wall_ns: 100,
      categories_ns: {
        kernel: 0,
        memcpy: 0,
        memset: 0,
        communication: 0,
        runtime: 0,
        dataloader: 0,
        cpu_exec: 60,
        other: 40,
      },
    };
    expect(texts(overview({ average }))[1]).toBe(
      "A step takes 100 ns: 60.0 % of it in host operators, 40.0 % not covered by anything recorded.",
    );
  });

  it("stands an empty selection", () => {
    const none = "No step is selected, so there is no average step.";
    expect(texts(overview({ average: null, steps: [step(0, { selected: false })] }))).toContain(
      none,
    );
    expect(texts(overview({ average: null, steps: [] }))).not.toContain(none);
  });

  it("stands a step of no length", () => {
    const average = {
      steps: 1,
      wall_ns: 0,
      categories_ns: {
        kernel: 0,
        memcpy: 0,
        memset: 0,
        communication: 0,
        runtime: 0,
        dataloader: 0,
        cpu_exec: 0,
        other: 0,
      },
    };
    expect(categoryShares(average).every((x) => x.share === null)).toBe(true);
    expect(texts(overview({ average }))[1]).toBe("The step takes 0 ns.");
  });
});

describe("categories", () => {
  it("keep the priority order and sum to the wall time", () => {
    const shares = categoryShares(overview().average!);
    expect(shares.map((x) => x.category)).toEqual(CATEGORIES);
    expect(shares.reduce((sum, x) => sum + x.ns, 0)).toBe(178_000_000);
    expect(shares.reduce((sum, x) => sum + x.share!, 0)).toBeCloseTo(1, 12);
  });

  it("name only leaders above a twentieth", () => {
    expect(leading(overview().average!, 8).map((x) => x.category)).toEqual([
      "kernel",
      "dataloader",
      "cpu_exec",
    ]);
  });

  it("that never occur need no legend entry", () => {
    expect(occurring(overview().steps)).toEqual([
      "kernel",
      "memcpy",
      "runtime",
      "dataloader",
      "cpu_exec",
      "other",
    ]);
    expect(occurring([])).toEqual([]);
  });
});

it("stepMarks says each mark in words", () => {
  expect(stepMarks(step(0, { cold: true, odd: true, cut: true })).map((m) => m.word)).toEqual([
    "odd",
    "cold",
    "cut off",
  ]);
  expect(stepMarks(step(0))).toEqual([]);
});

it("deviceTitle numbers a device in the vendor’s word", () => {
  expect(deviceTitle(device({ id: 3 }), "accelerator")).toBe("accelerator 3");
});
