import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/preact";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { EfficiencyPayload } from "../../api/types.gen";
import type { Params, ViewProps } from "../../state/view";
import { findings, plainHeads, viewProps } from "../fixtures";
import { efficiency, onHost, rows } from "./fixtures";
import { EfficiencyView } from "./view";

const asked: URL[] = [];
let answer: EfficiencyPayload;

beforeEach(() => {
  asked.length = 0;
  answer = efficiency();
  vi.stubGlobal("fetch", (address: string) => {
    const url = new URL(address);
    asked.push(url);
    return Promise.resolve(
      new Response(JSON.stringify(url.pathname.endsWith("/findings") ? findings([]) : answer)),
    );
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function show(
  params: Params = {},
  more: Partial<ViewProps> = {},
): { setParam: ReturnType<typeof vi.fn>; setSteps: ReturnType<typeof vi.fn> } {
  const [setParam, setSteps] = [vi.fn(), vi.fn()];
  render(<EfficiencyView {...viewProps(params, { setParam, setSteps })} {...more} />);
  return { setParam, setSteps };
}
const text = (): string => document.body.textContent;
const ready = (): Promise<void> => waitFor(() => expect(text()).toContain("Roofline"));

it("says how far the steps are from the peak, and shows device, steps, families, chart and table", async () => {
  show();
  await ready();
  for (const part of [
    "18.8 % of what NVIDIA H100 80GB HBM3 can do",
    "H100 SXM",
    "3.35 TB/s",
    "989 TFLOP/s",
    "A note.",
    "Tensor Cores by family",
    "87.5 % used",
    "MFU per step",
    "47.0 %of 989 TFLOP/s bf16",
  ])
    expect(text()).toContain(part);
  const table = screen.getByRole("grid", { name: "Efficiency of operators" });
  const sort = within(table)
    .getAllByRole("row")
    .find((row) => row.textContent.includes("aten::sort"));
  expect(sort?.textContent).toContain("not modelled");
  expect(sort?.textContent).not.toContain("0 FLOP");
  expect(plainHeads()).toEqual([]);
});

it("tells a fast convolution and a rate from a cache in the row", async () => {
  answer = efficiency({
    rows: rows({
      fast: [true, false, false],
      flops_share: [null, 0.009, null],
      bytes_share: [0.54, 1.3, null],
    }),
  });
  show();
  await ready();
  const table = screen.getByRole("grid", { name: "Efficiency of operators" });
  const row = (name: string): string =>
    within(table)
      .getAllByRole("row")
      .find((item) => item.textContent.includes(name))?.textContent ?? "";
  expect(row("aten::mm")).toContain("Winograd or FFT");
  expect(row("aten::mm")).not.toContain("cache");
  expect(row("aten::add")).toContain("130.0 %cache");
});

it("leads from a point to its row, and from there to kernels, operator and timeline", async () => {
  const { setParam } = show();
  await ready();
  fireEvent.click(screen.getByRole("button", { name: /^aten::mm: Time 8.00 µs/ }));
  const pattern = String(setParam.mock.calls.at(-1)?.[1]);
  expect(setParam.mock.calls).toEqual([
    ["regex", "1"],
    ["search", pattern],
  ]);
  cleanup();
  const again = show({ search: pattern, regex: "1" });
  await ready();
  const table = screen.getByRole("grid", { name: "Efficiency of operators" });
  expect(within(table).getAllByRole("row")).toHaveLength(2);
  const hrefs = screen.getAllByRole("link").map((link) => link.getAttribute("href"));
  expect(hrefs).toContain("#trace?sel=11");
  expect(hrefs).toContain("#operator?search=%5Eaten%3A%3Amm%24&regex=1");
  expect(
    hrefs.some((href) => href?.startsWith("#efficiency?") && href.endsWith("group=kernel")),
  ).toBe(true);
  fireEvent.click(screen.getByRole("button", { name: /^aten::mm: Time/ }));
  expect(again.setParam.mock.calls).toEqual([
    ["regex", null],
    ["search", null],
  ]);
});

it("chooses a step by its bar", async () => {
  const { setSteps } = show();
  await ready();
  fireEvent.click(screen.getByRole("button", { name: /^step 5 .ProfilerStep#5.: 10.0 %/ }));
  expect(setSteps).toHaveBeenCalledWith({ first: 1, last: 1, skipCold: false });
});

it("filters by precision and groups by kernel", async () => {
  const { setParam } = show({ precision: "fp32" });
  await ready();
  expect(screen.queryByRole("button", { name: /^aten::mm: Time/ })).toBeNull();
  fireEvent.click(screen.getByLabelText("bf16"));
  expect(setParam).toHaveBeenLastCalledWith("precision", "bf16");
  fireEvent.click(screen.getByLabelText("kernel"));
  expect(setParam).toHaveBeenLastCalledWith("group", "kernel");
});

it("shows kernels with the operator that launched each", async () => {
  answer = efficiency({
    group: "kernel",
    rows: rows({
      kernel: ["void gemm<1>()", "void add()", "sort"],
      short_name: ["gemm", "add", "sort"],
      name: ["aten::mm", null, "aten::sort"],
    }),
  });
  show({ group: "kernel" });
  await ready();
  expect(asked.find((url) => url.pathname.endsWith("/efficiency"))?.searchParams.get("group")).toBe(
    "kernel",
  );
  expect(text()).toContain("launched by no operator");
  expect(screen.getByRole("button", { name: /^gemm: Time/ })).toBeTruthy();
});

it("shows rates of a CPU recording without peaks", async () => {
  answer = onHost();
  show();
  await ready();
  expect(text()).toContain("Nothing ran on an accelerator");
  expect(text()).toContain("FLOP/s per step");
  expect(text()).toContain("Time by family");
  expect(text()).not.toContain("Device and its peaks");
  expect(screen.queryByLabelText("kernel")).toBeNull();
});

it("says what to record where there is nothing", async () => {
  const none = Object.fromEntries(
    Object.keys(rows()).map((key) => [key, []]),
  ) as unknown as EfficiencyPayload["rows"];
  answer = efficiency({
    rows: none,
    missing: [
      {
        key: "shapes",
        what: "Input shapes",
        why: "The operators carry no input shapes.",
        call: "profile(record_shapes=True)",
      },
    ],
  });
  show();
  await waitFor(() => expect(text()).toContain("The operators carry no input shapes."));
  expect(text()).toContain("profile(record_shapes=True)");
});

it("keeps all steps in sight when one is chosen", async () => {
  const [first] = efficiency().steps;
  answer = efficiency({ steps: first ? [first] : [] });
  const whole = efficiency();
  vi.stubGlobal("fetch", (address: string) => {
    const url = new URL(address);
    const efficient = url.searchParams.get("steps") === null ? whole : answer;
    return Promise.resolve(
      new Response(JSON.stringify(url.pathname.endsWith("/findings") ? findings([]) : efficient)),
    );
  });
  show({}, { steps: { first: 0, last: 0, skipCold: false } });
  await waitFor(() => expect(screen.getAllByRole("button", { name: /^step \d/ })).toHaveLength(2));
  expect(screen.getByRole("button", { name: /^step 4/ }).getAttribute("aria-pressed")).toBe("true");
  expect(screen.getByRole("button", { name: /^step 5/ }).getAttribute("class")).toContain("faded");
});
