import { fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { beforeEach, expect, it } from "vitest";
import type { Params } from "../../state/view";
import { HOSTILE, rowsOf } from "../../testing/cases";
import { GPU, reply } from "../../testing/replies";
import { type Answers, serve, show as draw, type Shown } from "../../testing/page";
import { ApiCallsView, bucketLabels, Costs } from "./view";

const RECORDED = reply("api_calls", GPU);

let answers: Answers;
let asked: URL[];
beforeEach(() => {
  const longest = rowsOf(RECORDED.longest, [0, 1], { name: [HOSTILE, "cudaMalloc"] });
  answers = { api_calls: { ...RECORDED, longest } };
  asked = serve(answers);
});

async function show(params: Params = {}): Promise<Shown["setParam"]> {
  const { setParam } = draw(ApiCallsView, params);
  await waitFor(() => expect(screen.getByText("Runtime and driver calls")).toBeTruthy());
  for (const fold of document.querySelectorAll("details")) {
    if (!fold.open) fireEvent.click(fold.querySelector("summary") ?? fold);
  }
  return setParam;
}

it("shows a table of each kind, whose rows lead to the timeline", async () => {
  await show();
  expect(screen.getAllByRole("grid").map((grid) => grid.getAttribute("aria-label"))).toEqual([
    "Runtime and driver calls",
    "Longest calls",
    "Launches",
    "Copies",
  ]);
  const links = [...document.querySelectorAll("a")].map((link) => link.getAttribute("href"));
  const { rows, longest, launches, copies } = RECORDED;
  for (const { event } of [rows, longest, launches, copies])
    expect(links).toContain(`#trace?sel=${event[0]}`);
  expect(document.body.textContent).toContain("NVLink 4, 450 GB/s");
  expect(document.querySelector("img")).toBeNull();
});

it("asks for the limit of the link, and puts a new one into it", async () => {
  const setParam = await show({ short: "5000" });
  expect(asked.map(({ searchParams }) => searchParams.get("short_ns"))).toEqual(["5000"]);
  fireEvent.change(screen.getByLabelText("Short below"), { target: { value: "10000" } });
  expect(setParam.mock.calls).toEqual([["short", null]]);
});

it("draws what costs before what only waits", () => {
  const rows = rowsOf(RECORDED.rows, [0, 1, 2], {
    name: ["cudaDeviceSynchronize", "cudaLaunchKernel", "other"],
    kind: ["synchronization", "launch", null],
    calls: [1, 1200, 9],
    total_ns: [9000, 3000, 500],
  });
  render(<Costs rows={rows} pooled={4} />);
  expect([...document.querySelectorAll("li")].map((bar) => bar.textContent)).toEqual([
    "cudaLaunchKernel3.00 µs1\u202f200 ×",
    "cudaDeviceSynchronize9.00 µswaits",
  ]);
  expect(document.querySelectorAll(".call-waits")).toHaveLength(1);
});

it("says why there is nothing", async () => {
  answers.api_calls = {
    ...RECORDED,
    rows: rowsOf(RECORDED.rows, []),
    launches: rowsOf(RECORDED.launches, []),
    copies: rowsOf(RECORDED.copies, []),
  };
  draw(ApiCallsView);
  await waitFor(() =>
    expect(document.body.textContent).toContain("No call of a runtime or driver was recorded"),
  );
});

it("names the buckets that hold a launch by where they begin", () => {
  const histogram = {
    edges_ns: [0, 1000, 2000, 5000],
    delays: [0, 0, 3, 0],
    durations: [0, 2, 0, 0],
  };
  expect(bucketLabels(histogram)).toEqual({
    labels: ["less", "≥ 1.00 µs", "≥ 2.00 µs", "≥ 5.00 µs"],
    first: 1,
    last: 2,
  });
  expect(bucketLabels({ edges_ns: [0], delays: [0], durations: [0] }).last).toBe(-1);
});
