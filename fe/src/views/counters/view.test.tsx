import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/preact";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { CountersTablePayload } from "../../api/types.gen";
import type { Params } from "../../state/view";
import { viewProps } from "../fixtures";
import { counters, FADD } from "./fixtures";
import { CountersView } from "./view";

let answer: CountersTablePayload;

beforeEach(() => {
  answer = counters();
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify(answer))));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function show(params: Params = {}): { setParam: ReturnType<typeof vi.fn>; setSteps: ReturnType<typeof vi.fn> } {
  const [setParam, setSteps] = [vi.fn(), vi.fn()];
  render(<CountersView {...viewProps(params, { setParam, setSteps, navigate: vi.fn() })} />);
  return { setParam, setSteps };
}
const text = (): string => document.body.textContent;
const ready = (): Promise<void> => waitFor(() => expect(text()).toContain("measured with 3 counters each"));

it("shows each profiled kernel with its operators and its counters under their own names", async () => {
  show();
  await ready();
  expect(text()).toContain("2 of 2 ranges were tied to their launches by order.");
  const table = screen.getByRole("grid", { name: "Profiled kernels" });
  const heads = within(table).getAllByRole("columnheader").map((head) => head.textContent);
  for (const head of [FADD, "dram__bytes.sum", "Top operator", "Bottom operator", "FLOPs", "FLOP/B", "FLOP/s"]) expect(heads).toContain(head);
  expect(within(table).getByRole("button", { name: FADD }).getAttribute("aria-description")).toBe("FP32 add instructions, in instructions");
  const [, first, second] = within(table).getAllByRole("row");
  for (const part of ["aten::conv2d", "aten::cudnn_convolution", "86\u202f114\u202f304", "4.00 KiB", "37.5 %", "86.1 MFLOP", "43.1 TFLOP/s"]) expect(first?.textContent).toContain(part);
  expect(second?.textContent).toContain("none");
  const hrefs = within(table).getAllByRole("link").map((link) => link.getAttribute("href"));
  expect(hrefs).toContain("#trace?sel=21");
  expect(hrefs).toContain("#trace?sel=32");
});

it("opens a row to its full name and the way through its operators", async () => {
  show();
  await ready();
  fireEvent.click(screen.getByRole("button", { name: /^Details of void fft2d/ }));
  expect(text()).toContain("aten::conv2d → aten::convolution → aten::cudnn_convolution");
  expect(text()).toContain("Achieved occupancy");
});

it("has no column for what was measured of no kernel", async () => {
  const nothing = [null, null];
  answer = counters({ profiled: { ...counters().profiled, time_ns: nothing, flops: nothing, bytes: nothing } });
  show();
  await ready();
  const table = screen.getByRole("grid", { name: "Profiled kernels" });
  const heads = within(table).getAllByRole("columnheader").map((head) => head.textContent);
  for (const head of ["Time", "FLOPs", "FLOP/B", "FLOP/s", "Memory traffic"]) expect(heads).not.toContain(head);
});

it("draws sampled counters per step of a device, and leads to their curves", async () => {
  const { setParam, setSteps } = show();
  await ready();
  fireEvent.click(screen.getByRole("button", { name: /^step 4 .ProfilerStep#4.: 60.0 %/ }));
  expect(setSteps).toHaveBeenCalledWith({ first: 1, last: 1, skipCold: false });
  expect(text()).toContain("from 40.0 % to 80.0 %");
  fireEvent.change(screen.getByLabelText("Device"), { target: { value: "GPU 1" } });
  expect(setParam).toHaveBeenLastCalledWith("device", "GPU 1");
  expect(screen.getByText("their curves are on the Trace view").getAttribute("href")).toBe("#trace?");
  expect(within(screen.getByRole("grid", { name: "Sampled counters" })).getAllByRole("row")).toHaveLength(5);
});

it("draws a few charts at first where there are many", async () => {
  const many = Array.from({ length: 9 }, (_, i) => ({ name: `counter ${i}`, label: `counter ${i}`, unit: "" }));
  const all = <T,>(value: T): T[] => many.map(() => value);
  answer = counters({ sampled_counters: many, sampled: { counter: many.map((_, i) => i), device: all("GPU 0"), step: all(0), samples: all(1), mean: all(2), least: all(1), greatest: all(3) } });
  show();
  await ready();
  expect(screen.getAllByRole("figure")).toHaveLength(6);
  fireEvent.click(screen.getByText("Draw all 9"));
  expect(screen.getAllByRole("figure")).toHaveLength(9);
});

it("says how to record counters where there are none", async () => {
  const { profiled, sampled } = counters();
  const emptied = <T extends object>(columns: T): T => Object.fromEntries(Object.keys(columns).map((key) => [key, []])) as unknown as T;
  answer = counters({ profiled: emptied(profiled), sampled: emptied(sampled), missing: [{ what: "Hardware counters", why: "None was asked for.", call: "profile(experimental_config=…)" }] });
  show();
  await waitFor(() => expect(text()).toContain("None was asked for."));
  expect(text()).toContain("profile(experimental_config=…)");
});
