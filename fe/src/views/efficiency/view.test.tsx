import { fireEvent, screen, waitFor, within } from "@testing-library/preact";
import { beforeEach, expect, it } from "vitest";
import type { CallersTable, EfficiencyPayload } from "../../api/types.gen";
import type { Params, ViewProps } from "../../state/view";
import { declaredTable, findings, lacking } from "../../testing/cases";
import {
  type Answers,
  plainHeads,
  serve,
  show as draw,
  type Shown,
  text,
} from "../../testing/page";
import { efficiency, onHost, rows } from "./fixtures";
import { GPU, reply } from "../../testing/replies";
import { exactly } from "../grid_params";
import { EfficiencyView } from "./view";

const CALLERS = {
  of: "operator",
  name: "aten::mm",
  rows: declaredTable<CallersTable>("callers", 2, {
    name: ["aten::linear", "src/net.py(3): forward"],
    kind: ["operator", "line"],
    parent: [1, -1],
    layers: [null, "Net"],
  }),
  missing: [],
};
let asked: URL[];
let answers: Answers;

beforeEach(() => {
  answers = { efficiency: efficiency(), findings: findings([]), callers: CALLERS };
  asked = serve(answers);
});

const show = (params: Params = {}, over: Partial<ViewProps> = {}): Shown =>
  draw(EfficiencyView, params, over);
const ready = (): Promise<void> => waitFor(() => expect(text()).toContain("Roofline"));

it("says what is furthest over its roof, and shows table, chart, peaks and steps", async () => {
  show();
  await ready();
  fireEvent.click(screen.getByText(/Peaks of the device/));
  await waitFor(() => expect(text()).toContain("H100 SXM"));
  for (const part of [
    "record_param_comms takes 31.2 ms of 88.0 ms on the GPU.",
    "3.35 TB/s",
    "989 TFLOP/s",
    ...reply("efficiency", GPU).notes,
    "7.3 %, 71.8 TFLOP/s",
    "54.0 %memory",
  ])
    expect(text()).toContain(part);
  const table = screen.getByRole("grid", { name: "Efficiency of operators" });
  const heads = within(table).getAllByRole("columnheader");
  expect(heads.map((head) => head.textContent)).toEqual([
    "Operator",
    "Time",
    "Of its roof",
    "Over it",
  ]);
  const sort = within(table)
    .getAllByRole("row")
    .find((row) => row.textContent.includes("aten::sort"));
  expect(sort?.textContent).toContain("not modelled");
  expect(sort?.textContent).not.toContain("0 %");
  expect(plainHeads()).toEqual([]);
});

it("chooses by table and by picture alike, and says of the chosen row where it stands", async () => {
  show();
  await ready();
  const chosen = (): string =>
    document.querySelector('[role="row"][aria-selected="true"]')?.textContent ?? "";
  const point = (name: RegExp): HTMLElement => screen.getByRole("button", { name });
  expect(chosen()).toContain("aten::mm");
  await waitFor(() => expect(text()).toContain("Linenet.py:3 forwardModuleNet"));
  fireEvent.click(point(/^aten::add: Time 2.00 µs/));
  expect(chosen()).toContain("aten::add");
  expect(text()).toContain("Moves7.26 TB/s of 8.07 TB/s");
  const table = screen.getByRole("grid", { name: "Efficiency of operators" });
  fireEvent.focus(table);
  fireEvent.keyDown(table, { key: "Home", ctrlKey: true });
  expect(chosen()).toContain("aten::mm");
  expect(point(/^aten::mm: Time/).getAttribute("aria-pressed")).toBe("true");
  fireEvent.mouseDown(within(table).getByText("aten::sort"));
  expect(text()).toContain("Roofunknown: not modelled");
  fireEvent.click(point(/^aten::mm: Time/));
  const hrefs = screen.getAllByRole("link").map((link) => link.getAttribute("href"));
  expect(hrefs).toContain("#trace?sel=11");
  expect(hrefs).toContain("#operator?search=%5Eaten%3A%3Amm%24&regex=1");
  expect(
    hrefs.some((href) => href?.startsWith("#efficiency?") && href.endsWith("group=kernel")),
  ).toBe(true);
});

it("begins with the row that the link asks for", async () => {
  show(exactly("aten::add"));
  await ready();
  await waitFor(() => expect(text()).toContain("Moves7.26 TB/s"));
});

it("groups by kernel", async () => {
  const { setParam } = show();
  await ready();
  fireEvent.click(screen.getByLabelText("+ kernel"));
  expect(setParam).toHaveBeenLastCalledWith("group", "kernel");
});

it("shows kernels with the operator that launched each", async () => {
  answers.efficiency = efficiency({
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
  answers.efficiency = onHost();
  show();
  await ready();
  expect(text()).toContain("on the CPU.");
  expect(text()).not.toContain("Of its roof");
  expect(text()).not.toContain("Device and its peaks");
  expect(screen.queryByLabelText("+ kernel")).toBeNull();
});

it("says what to record where there is nothing", async () => {
  const none = Object.fromEntries(
    Object.keys(rows()).map((key) => [key, []]),
  ) as unknown as EfficiencyPayload["rows"];
  answers.efficiency = efficiency({
    rows: none,
    missing: [lacking({ key: "shapes" })],
  });
  show();
  await waitFor(() => expect(text()).toContain("They were not recorded."));
  expect(text()).toContain("profile(with_stack=True)");
});
