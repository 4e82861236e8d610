import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/preact";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { IterationsPayload, IterationsTable, PhasesTable } from "../../api/types.gen";
import { declaredTable, HOSTILE, plainHeads, viewProps } from "../fixtures";
import { barsOf, marksOf, shortName } from "./view";
import { IterationsView } from "./view";

const VLLM =
  "execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37sk34489sqsq37sqsk34489)";

function payload(names: string[]): IterationsPayload {
  const count = names.length;
  return {
    headline: count ? "3 iterations: 1 mixed, 2 decode." : "The trace has no iterations.",
    iterations: declaredTable<IterationsTable>("iterations", count, {
      name: names,
      step: names.map((_, i) => i),
      phase: names.map((_, i) => (i ? "decode" : "mixed")),
      part: names.map((_, i) => (i ? "steady" : "ramp-up")),
      context_tokens: names.map((_, i) => (i ? 0 : 8155)),
      generation_tokens: names.map(() => 37),
      wall_ns: names.map((_, i) => 1000 * (i + 1)),
      interval_ns: names.map((_, i) => (i ? 1100 : null)),
      odd: names.map((_, i) => i === 2),
    }),
    phases: declaredTable<PhasesTable>("phases", count ? 1 : 0, {
      phase: ["decode"].slice(0, count),
      iterations: [2].slice(0, count),
    }),
    recorded_by: [{ server: "vLLM", how: "POST /start_profile" }],
  };
}

let answer: IterationsPayload;
beforeEach(() => {
  answer = payload([VLLM, "step[DECODE bs=37]", HOSTILE]);
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify(answer))));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const text = (): string => document.body.textContent;
function show(): ReturnType<typeof vi.fn> {
  const setSteps = vi.fn();
  render(<IterationsView {...viewProps({}, { setParam: vi.fn(), setSteps })} />);
  return setSteps;
}

it("lists iterations, compares phases and draws both charts", async () => {
  show();
  await waitFor(() => expect(text()).toContain("3 iterations: 1 mixed, 2 decode."));
  const table = screen.getByRole("grid", { name: "Iterations" });
  expect(within(table).getAllByRole("row")).toHaveLength(4);
  expect(text()).toContain("execute_8192_context_9(sq8155)_generation_37(sq37)");
  expect(screen.getByRole("group", { name: "Time between tokens, 3 bars" })).toBeTruthy();
  expect(screen.getByRole("group", { name: /^Time over tokens, 3 points/ })).toBeTruthy();
  expect(plainHeads()).toEqual([]);
});

it("opens a row to where its time went", async () => {
  const setSteps = show();
  await waitFor(() => expect(text()).toContain("3 iterations"));
  fireEvent.click(screen.getByRole("button", { name: /^Details of step\[DECODE/ }));
  expect(screen.getByRole("link", { name: "Critical Path" })).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Choose this step" }));
  expect(setSteps.mock.calls[0]?.[0]).toMatchObject({ first: 1, last: 1 });
});

it("says how servers record where there is no iteration", async () => {
  answer = payload([]);
  show();
  await waitFor(() => expect(text()).toContain("POST /start_profile"));
});

it("marks odd iterations and pales what is outside the steady state", () => {
  const { iterations } = answer;
  expect(barsOf(iterations).map(({ values, faded, mark }) => [values, faded, mark])).toEqual([
    [[0, 1000], true, undefined],
    [[1100, 0], false, undefined],
    [[1100, 0], false, "odd among its phase"],
  ]);
  expect(
    marksOf(iterations, 1).map(({ intensity, group, selected }) => [intensity, group, selected]),
  ).toEqual([
    [8192, 1, false],
    [37, 0, true],
    [37, 0, false],
  ]);
});

it("shortens long annotations alone", () => {
  expect(shortName("step[DECODE bs=37]")).toBe("step[DECODE bs=37]");
  expect(shortName(VLLM)).toBe("execute_8192_context_9(sq8155)_generation_37(sq37)");
});
