import { cleanup, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CriticalPathPayload } from "../../api/types.gen";
import { PATH_EVENTS, PATH_KINDS, PATH_STEPS } from "../../api/tables.gen";
import { declaredTable, GPU_WORDS, viewProps } from "../fixtures";
import { barsOf, stretchesOf } from "./model";
import { CriticalPathView } from "./view";

function payload(over: Partial<CriticalPathPayload> = {}): CriticalPathPayload {
  return {
    vocabulary: GPU_WORDS,
    headline: ["Kernel: 75 % of the critical path, 75 ns of a step", "Most of it is gemm."],
    parts: declaredTable(PATH_KINDS, 2, {
      kind: ["kernel", "python"],
      path_ns: [150, 50],
      share: [0.75, 0.25],
      segments: [2, 2],
    }),
    steps: declaredTable<CriticalPathPayload["steps"]>(PATH_STEPS, 2, {
      step: [0, 1],
      name: ["ProfilerStep#4", "ProfilerStep#5"],
      kernel_ns: [60, 90],
      python_ns: [40, 10],
    }),
    strip_step: 1,
    strip: { kind: ["python", "kernel"], start_ns: [1000, 1010], end_ns: [1010, 1100] },
    rows: declaredTable(PATH_EVENTS, 2, {
      name: ["gemm", null],
      kind: ["kernel", "python"],
      line: ["train.py(7): step", null],
      operator: ["aten::mm", null],
      path_ns: [150, 50],
      share: [0.75, 0.25],
      work_ns: [600, null],
      segments: [2, 2],
      event: [17, -1],
    }),
    pooled: 0,
    missing: [],
    ...over,
  };
}

let answer: CriticalPathPayload;
beforeEach(() => {
  answer = payload();
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify(answer))));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});
const text = (): string => document.body.textContent;
const show = (): void => {
  render(<CriticalPathView {...viewProps({}, { setParam: vi.fn(), setSteps: vi.fn() })} />);
};

describe("the page", () => {
  it("says the answer, draws the longest step and lists what is on the path", async () => {
    show();
    await waitFor(() => expect(screen.getByRole("grid", { name: "On the path" })).toBeTruthy());
    expect(text()).toContain("Kernel: 75 % of the critical path");
    expect(text()).toContain("drawn: ProfilerStep#5, the longest");
    const strip = screen.getByRole("group", {
      name: "Critical path: Kernel 75.0 %, Python 25.0 %",
    });
    expect([...strip.querySelectorAll("a")].map((link) => link.getAttribute("href"))).toEqual([
      "#trace?t=1000%2C10",
      "#trace?t=1010%2C90",
    ]);
    expect(screen.getByRole("link", { name: "gemm" }).getAttribute("href")).toBe("#trace?sel=17");
    expect(text()).toContain("nothing recorded");
  });

  it("draws no chart of a single step", async () => {
    const { step, name, ...times } = payload().steps;
    answer = payload({ steps: { ...times, step: step.slice(1), name: name.slice(1) } });
    show();
    await waitFor(() => expect(screen.getByRole("grid", { name: "On the path" })).toBeTruthy());
    expect(text()).not.toContain("By step");
  });

  it("says so where there is nothing", async () => {
    answer = payload({
      parts: declaredTable<CriticalPathPayload["parts"]>(PATH_KINDS, 0, { kind: [] }),
    });
    show();
    await waitFor(() => expect(text()).toContain("This trace has no steps"));
  });
});

describe("the model", () => {
  it("stacks the kinds of each step, the largest part first", () => {
    expect(barsOf(payload()).map(({ label, values }) => [label, values])).toEqual([
      ["4", [60, 40]],
      ["5", [90, 10]],
    ]);
  });

  it("lays the strip out by time", () => {
    expect(stretchesOf(payload()).map(({ kind, from, width }) => [kind, from, width])).toEqual([
      ["python", 0, 0.1],
      ["kernel", 0.1, 0.9],
    ]);
  });
});
