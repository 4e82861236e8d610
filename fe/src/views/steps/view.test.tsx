import { cleanup, fireEvent, screen, waitFor } from "@testing-library/preact";
import { beforeEach, expect, it, vi } from "vitest";
import type { DifferencePart, StepCausesPayload, StepDifferencePayload } from "../../api/types.gen";
import { type Params, type StepRange, type ViewProps } from "../../state/view";
import { HOSTILE, rowsOf } from "../../testing/cases";
import { GPU, reply } from "../../testing/replies";
import { serve, showLive } from "../../testing/page";
import { barsOf, fallsOf, noteOf, panelsOf, seriesOf, tableOf } from "./model";
import { StepCauses, StepsView } from "./view";

const RECORDED = reply("critical_path/steps", GPU);
const WHY = reply("critical_path/step?step=1", GPU);
const NONE = [0, 0, 0, 0];

const steps = (over: Partial<StepCausesPayload["steps"]> = {}): StepCausesPayload["steps"] =>
  rowsOf(RECORDED.steps, [0, 1, 2, 3], {
    ...{ wall_ns: [500, 100, 110, 400], compute_ns: [100, 90, 100, 90], copies_ns: NONE },
    ...{ data_loading_ns: [400, 10, 10, 310], communication_ns: NONE, waiting_ns: NONE },
    ...{ host_code_ns: NONE, not_recorded_ns: NONE },
    ...{ cold: [true, false, false, false], odd: [false, false, false, true] },
    ...{ cut: [false, false, false, false], own_step: [0, 1, 2, 3], longest: [0, 1, 2, 3] },
    ...over,
  });

const causes = (over: Partial<StepCausesPayload> = {}): StepCausesPayload => ({
  ...RECORDED,
  ...{ ready: 2, workers_total: 2, ranks: 2, median: 1, median_ns: 100, slowest_odd: 3 },
  steps: steps(),
  ...over,
});

const part = (over: Partial<DifferencePart>): DifferencePart => ({
  ...{ group: "data_loading", label: "Data loading", difference_ns: 310, who: "rank 1" },
  ...{ what: "batches", at: "train.py:12", line: "src/train.py(12): batches" },
  ...over,
});

const difference = (over: Partial<StepDifferencePayload> = {}): StepDifferencePayload => ({
  ...WHY,
  headline: "Step 6 takes 300 ns longer: rank 1 loads data at train.py:12.",
  ...{ worker: "w1", span: "s1" },
  step: { step: 3, trace_step: 3, label: "6", wall_ns: 400 },
  median: { step: 1, trace_step: 1, label: "4", wall_ns: 100 },
  parts: [
    part({}),
    part({
      ...{ group: "compute", label: "Compute", difference_ns: -10, who: "", what: HOSTILE, at: "" },
    }),
  ],
  places: [],
  late: [
    { name: "rank 0", late_ns: 0 },
    { name: "rank 1", late_ns: 305 },
    { name: "rank 2", late_ns: null },
  ],
  ...over,
});

let payload: StepCausesPayload;
let told: StepDifferencePayload;
let asked: URL[];
let setSteps: ReturnType<typeof vi.fn<(range: StepRange) => void>>;
beforeEach(() => {
  payload = causes();
  told = difference();
  setSteps = vi.fn();
  asked = serve({ "critical_path/steps": () => payload, "critical_path/step": () => told });
});

const draw = (start: Params = {}, view = StepsView) => showLive(view, start, { setSteps });
async function show(start: Params = {}): Promise<void> {
  draw(start);
  await waitFor(() => expect(bar(3)).toBeTruthy());
}
const bar = (index: number): HTMLElement =>
  screen.getAllByRole("button", { name: /^step / })[index]!;
const headline = (): string | null => document.querySelector(".why h3")?.textContent ?? null;
const opened = () => waitFor(() => expect(headline()).toBe(told.headline));

it("answers why the slowest odd step is slow in one action, and Escape closes", async () => {
  await show();
  expect(headline()).toBeNull();
  const why = screen.getByRole("button", { name: "Why is step 6 slow?" });
  fireEvent.click(why);
  await opened();
  expect(asked.at(-1)?.searchParams.get("step")).toBe("3");
  expect(asked.at(-1)?.searchParams.has("steps")).toBe(false);
  expect(bar(3).getAttribute("aria-pressed")).toBe("true");
  const falls = [...document.querySelectorAll(".fall")].map((row) => row.textContent);
  expect(falls).toEqual([
    "Step 4the median100 ns",
    "Data loadingrank 1, batches, train.py:12+310 ns",
    `Compute${HOSTILE}−10 ns`,
    "Step 6400 ns",
  ]);
  const late = [...document.querySelectorAll(".bar-row")].map((row) => row.textContent);
  expect(late.slice(0, 2)).toEqual(["rank 00 ns", "rank 1305 ns"]);
  expect(document.querySelectorAll(".fall-of-data_loading")).toHaveLength(1);
  fireEvent.keyDown(why, { key: "Escape" });
  expect(headline()).toBeNull();
});

it("opens a step from the keyboard, and from its address", async () => {
  await show({ why: "2" });
  await opened();
  expect(bar(2).getAttribute("aria-pressed")).toBe("true");
  fireEvent.focus(bar(1));
  fireEvent.keyDown(bar(1), { key: "Enter" });
  await waitFor(() => expect(asked.at(-1)?.searchParams.get("step")).toBe("1"));
  fireEvent.keyDown(bar(1), { key: "Enter" });
  await waitFor(() => expect(headline()).toBeNull());
});

it("leads to both steps on the rank that makes the difference, and chooses the step alone", async () => {
  await show({ why: "3" });
  await opened();
  const href = (name: string) => screen.getByRole("link", { name }).getAttribute("href");
  expect(href("Both steps on one timeline")).toBe("#trace?path=1");
  expect(href("Compare them")).toBe("#diff?run2=r&worker2=w1&span2=s1&steps2=3&skip_cold2=");
  fireEvent.click(screen.getByRole("button", { name: "Only this step everywhere" }));
  expect(setSteps).toHaveBeenCalledWith({ first: 3, last: 3, skipCold: false });
});

it("lists operators and lines of a program without other ranks", async () => {
  payload = causes({ ranks: 0 });
  told = difference({
    late: [],
    worker: "",
    span: "",
    places: [part({ who: "", what: "aten::mm" })],
  });
  await show({ why: "3" });
  await opened();
  expect(screen.getByText("Operators and lines that differ")).toBeTruthy();
  expect(document.querySelector(".bar-row")?.textContent).toBe("aten::mmtrain.py:12+310 ns");
});

it("says what the server says of the steps first, but not beside another answer", async () => {
  payload = causes({ sentences: ["No step is odd.", "Step 6 takes longer."] });
  await show();
  const said = screen.getByRole("region", { name: "In short" });
  expect(said.textContent).toBe("No step is odd.Step 6 takes longer.");
  cleanup();
  draw({}, (props: ViewProps) => <StepCauses {...props} brief />);
  await waitFor(() => expect(bar(3)).toBeTruthy());
  expect(screen.queryByRole("region", { name: "In short" })).toBeNull();
});

it("draws one step alone without a median, and says that there is none and that ranks are being read", async () => {
  const one = causes({ steps: rowsOf(RECORDED.steps, [0]) });
  expect(panelsOf(one)).toMatchObject([{ line: undefined, bars: [{ key: 0 }] }]);
  payload = causes({ sentences: ["No step."], steps: { ...steps(), step: [] } });
  draw();
  await screen.findByText("No step.");
  expect(document.querySelector(".step-causes")).toBeNull();
  cleanup();
  payload = causes({ progress: 0.5, steps: { ...steps(), step: [] } });
  draw();
  await screen.findByText("Reading the ranks");
});

it("names a step without a comparison and draws nothing", async () => {
  told = difference({ headline: "Step 4 is the median step.", parts: [], late: [] });
  await show({ why: "1" });
  await opened();
  expect(document.querySelectorAll(".fall, .bar-row")).toHaveLength(0);
});

it("dims cold steps, marks odd ones, and shows unknown ones as unknown, not as 0", () => {
  const unknown = causes({
    lanes: [],
    steps: steps({
      wall_ns: [500, 100, -1, 400],
      compute_ns: [100, 90, -1, 90],
      data_loading_ns: [400, 10, -1, 310],
    }),
  });
  expect(seriesOf(unknown).map(({ label }) => label)).toEqual(["Data loading", "GPU compute"]);
  const bars = barsOf(unknown);
  expect(bars.map(({ faded }) => faded)).toEqual([true, false, false, false]);
  expect(bars.map(({ mark }) => !!mark)).toEqual([false, false, false, true]);
  expect(bars[2]).toMatchObject({ values: [0, 0], note: "its critical path is not known" });
  expect(tableOf(unknown).rows[2]).toEqual(["ProfilerStep#5", null, null, null]);
  expect(noteOf(unknown)).toBe("through all 2 ranks; step 3 is cold");
});

it("lets each difference begin where the one before it ended", () => {
  const falls = fallsOf(
    difference({ parts: [part({ difference_ns: 400 }), part({ difference_ns: -100 })] }),
  );
  expect(falls.map(({ from, to }) => [from, to])).toEqual([
    [0, 0.2],
    [0.2, 1],
    [0.8, 1],
    [0, 0.8],
  ]);
});
