import { fireEvent, screen, waitFor, within } from "@testing-library/preact";
import { beforeEach, expect, it } from "vitest";
import type { IterationsPayload } from "../../api/types.gen";
import { HOSTILE, rowsOf } from "../../testing/cases";
import { GPU, reply } from "../../testing/replies";
import { plainHeads, serve, show as draw, type Shown, text } from "../../testing/page";
import { marksOf } from "./charts";
import { drawnOf, logScale, shortName } from "./model";
import { IterationsView } from "./view";

const VLLM =
  "execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37sk34489sqsq37sqsk34489)";

const RECORDED = reply("iterations", "server");

/** The first iteration computes prompts, the third is odd. */
function payload(names: string[]): IterationsPayload {
  const count = names.length;
  const all = <T,>(first: T, others: T): T[] => names.map((_, i) => (i ? others : first));
  return {
    ...RECORDED,
    headline: count ? "A decode takes 2.00 µs." : "The trace has no iterations.",
    detail: count ? ["3 iterations were recorded: 1 mixed, 2 decode."] : [],
    iterations: rowsOf(RECORDED.iterations, [3, 1, 2].slice(0, count), {
      name: names,
      step: [...names.keys()],
      part: all("ramp-up", "steady"),
      ...{ context_tokens: all(8155, 0), context_requests: all(9, 0) },
      ...{ generation_tokens: all(37, 37), generation_requests: all(37, 37) },
      begin_ns: names.map((_, i) => 5000 * i),
      ...{ earlier_ns: all(300, 0), interval_ns: all<number | null>(null, 1100) },
      wall_ns: names.map((_, i) => 1000 * (i + 1)),
      odd: names.map((_, i) => i === 2),
    }),
    phases: rowsOf(RECORDED.phases, count ? [0] : [], { iterations: [2].slice(0, count) }),
    recorded_by: [{ server: "vLLM", how: "POST /start_profile" }],
  };
}

let answer: IterationsPayload;
beforeEach(() => {
  answer = payload([VLLM, "step[DECODE bs=37]", HOSTILE]);
  serve({ iterations: () => answer, "critical_path/steps": reply("critical_path/steps", GPU) });
});

const show = (): Shown["setSteps"] => draw(IterationsView).setSteps;

it("lists iterations, compares phases, and draws them as steps and by tokens", async () => {
  show();
  await waitFor(() => expect(text()).toContain("3 iterations were recorded"));
  const table = screen.getByRole("grid", { name: "Iterations" });
  expect(within(table).getAllByRole("row")).toHaveLength(4);
  expect(text()).toContain("execute_8192_context_9(sq8155)_generation_37(sq37)");
  expect(await screen.findByRole("group", { name: /^Steps by what their ends/ })).toBeTruthy();
  expect(screen.getByRole("group", { name: /^Time by tokens, 3 iterations/ })).toBeTruthy();
  expect(plainHeads()).toEqual([]);
});

it("tells and chooses iterations by key", async () => {
  const setSteps = show();
  await waitFor(() => expect(text()).toContain("3 iterations"));
  const chart = screen.getByRole("group", { name: /^Time by tokens/ });
  fireEvent.focus(chart);
  for (const key of ["ArrowRight", "ArrowRight"]) fireEvent.keyDown(chart, { key });
  expect(chart.parentElement?.querySelector("[role=status]")?.textContent).toContain(
    "iteration 2: decode, steady, odd; time 3.00 µs",
  );
  fireEvent.keyDown(chart, { key: "Enter" });
  expect(setSteps.mock.calls).toMatchObject([[{ first: 2 }]]);
});

it("says what a single iteration was in words, without a chart", async () => {
  answer = payload(["step[DECODE bs=37]"]);
  show();
  await waitFor(() => expect(text()).toContain("Nothing recorded on the device300 ns"));
  expect(text()).toContain("Requests46");
  expect(document.querySelector(".iterations-chart")).toBeNull();
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

it("tells the recorded part of each iteration, and marks those with tokens", () => {
  const bars = drawnOf(answer.iterations);
  expect(bars.map(({ begin, end, look, odd }) => [begin, end, look, odd])).toEqual([
    [300, 1300, "prompt", false],
    [5000, 7000, "decode", false],
    [10000, 13000, "decode", true],
  ]);
  expect(marksOf(bars)).toEqual([1, 2, 0]);
});

it("has round marks on a logarithmic axis", () => {
  const { ticks, at } = logScale([4, 40]);
  expect(ticks).toEqual([5, 10, 20, 50]);
  expect(at(40) - at(4)).toBeGreaterThan(0.7);
  expect(logScale([1, 10000]).ticks).toEqual([1, 10, 100, 1000, 10000]);
  expect(logScale([7]).at(7)).toBeCloseTo(0.5);
});

it("shortens long annotations alone", () => {
  expect(shortName("step[DECODE bs=37]")).toBe("step[DECODE bs=37]");
  expect(shortName(VLLM)).toBe("execute_8192_context_9(sq8155)_generation_37(sq37)");
});
