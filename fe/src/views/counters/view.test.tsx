import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/preact";
import { beforeEach, expect, it } from "vitest";
import type { CountersTablePayload } from "../../api/types.gen";
import type { Params } from "../../state/view";
import { plainHeads, serve, show as draw, type Shown, text } from "../../testing/page";
import { counters, FADD } from "./fixtures";
import { CountersView } from "./view";
import { lacking } from "../../testing/cases";

let answer: CountersTablePayload;

beforeEach(() => {
  answer = counters();
  serve({ counters: () => answer });
});

const show = (params: Params = {}): Shown => draw(CountersView, params);
const ready = (): Promise<void> =>
  waitFor(() => expect(text()).toContain("measured with 3 counters each"));

it("shows each profiled kernel with its operators and its counters by labels whose hint is their name", async () => {
  show();
  await ready();
  expect(text()).toContain("2 of 2 ranges were tied to their launches by order.");
  const table = screen.getByRole("grid", { name: "Profiled kernels" });
  const heads = within(table)
    .getAllByRole("columnheader")
    .map((head) => head.textContent);
  for (const head of [
    "FP32 add instructions",
    "Device memory traffic",
    "Top operator",
    "Bottom operator",
    "FLOPs",
    "FLOP/B",
    "FLOP/s",
  ])
    expect(heads).toContain(head);
  expect(
    within(table)
      .getByRole("button", { name: "FP32 add instructions" })
      .getAttribute("aria-description"),
  ).toBe(`${FADD}, in instructions`);
  const [, first, second] = within(table).getAllByRole("row");
  for (const part of [
    "aten::conv2d",
    "aten::cudnn_convolution",
    "86\u202f114\u202f304",
    "4.00 KiB",
    "37.5 %",
    "86.1 MFLOP",
    "43.1 TFLOP/s",
  ])
    expect(first?.textContent).toContain(part);
  expect(second?.textContent).toContain("none");
  const hrefs = within(table)
    .getAllByRole("link")
    .map((link) => link.getAttribute("href"));
  expect(hrefs).toContain("#trace?sel=21");
  expect(hrefs).toContain("#trace?sel=32");
  expect(plainHeads()).toEqual([]);
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
  answer = counters({
    profiled: {
      ...counters().profiled,
      time_ns: nothing,
      flops: nothing,
      bytes: nothing,
      intensity: nothing,
      flops_rate: nothing,
    },
  });
  show();
  await ready();
  const table = screen.getByRole("grid", { name: "Profiled kernels" });
  const heads = within(table)
    .getAllByRole("columnheader")
    .map((head) => head.textContent);
  for (const head of ["Time", "FLOPs", "FLOP/B", "FLOP/s", "Memory traffic"])
    expect(heads).not.toContain(head);
});

it("leads from a mark of the roofline to the rows of its kernel, and back", async () => {
  const { setParam } = show();
  await ready();
  fireEvent.click(screen.getByRole("button", { name: /^fft2d_r2c_32x32: Time 2.00 µs/ }));
  const pattern = String(setParam.mock.calls.at(-1)?.[1]);
  expect(setParam.mock.calls).toEqual([
    ["regex", "1"],
    ["search", pattern],
  ]);
  cleanup();
  const again = show({ search: pattern, regex: "1" });
  await ready();
  expect(
    within(screen.getByRole("grid", { name: "Profiled kernels" })).getAllByRole("row"),
  ).toHaveLength(2);
  fireEvent.click(screen.getByRole("button", { name: /^fft2d_r2c_32x32: Time/ }));
  expect(again.setParam.mock.calls).toEqual([
    ["regex", null],
    ["search", null],
  ]);
});

it("says why no roofline is drawn", async () => {
  answer = counters({
    profiled: { ...counters().profiled, bytes: [null, null], intensity: [null, null] },
    no_roofline: "No roofline is drawn: memory traffic is not known.",
  });
  show();
  await ready();
  expect(text()).toContain("No roofline is drawn: memory traffic is not known.");
  expect(screen.queryByRole("group", { name: /^Measured roofline/ })).toBeNull();
});

it("draws sampled counters per step of a device, and leads to their curves", async () => {
  const { setParam, setSteps } = show();
  await ready();
  fireEvent.click(screen.getByRole("button", { name: /^step 4 .ProfilerStep#4.: 60.0 %/ }));
  expect(setSteps).toHaveBeenCalledWith({ first: 1, last: 1, skipCold: false });
  expect(text()).toContain("from 40.0 % to 80.0 %");
  fireEvent.change(screen.getByLabelText("Device"), { target: { value: "GPU 1" } });
  expect(setParam).toHaveBeenLastCalledWith("device", "GPU 1");
  expect(screen.getByText("their curves are on the Trace view").getAttribute("href")).toBe(
    "#trace?",
  );
  expect(
    within(screen.getByRole("grid", { name: "Sampled counters" })).getAllByRole("row"),
  ).toHaveLength(5);
});

it("draws a few charts at first where there are many", async () => {
  const many = Array.from({ length: 9 }, (_, i) => ({
    name: `counter ${i}`,
    label: `counter ${i}`,
    unit: "",
  }));
  const all = <T,>(value: T): T[] => many.map(() => value);
  answer = counters({
    sampled_counters: many,
    sampled: {
      counter: many.map(({ name }) => name),
      unit: all(""),
      device: all("GPU 0"),
      step: all(0),
      samples: all(1),
      mean: all(2),
      min: all(1),
      max: all(3),
    },
  });
  show();
  await ready();
  expect(screen.getAllByRole("figure")).toHaveLength(7);
  fireEvent.click(screen.getByText("Draw all 9"));
  expect(screen.getAllByRole("figure")).toHaveLength(10);
});

it("says how to record counters where there are none", async () => {
  const { profiled, sampled } = counters();
  const emptied = <T extends object>(columns: T): T =>
    Object.fromEntries(Object.keys(columns).map((key) => [key, []])) as unknown as T;
  answer = counters({
    profiled: emptied(profiled),
    sampled: emptied(sampled),
    missing: [lacking({ key: "counters" })],
  });
  show();
  await waitFor(() => expect(text()).toContain("They were not recorded."));
  expect(text()).toContain("profile(with_stack=True)");
});
