import { cleanup, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { LinesPayload } from "../../api/types.gen";
import { declaredTable, viewProps } from "../fixtures";
import { LinesView } from "./view";

const missing = {
  key: "stack",
  what: "Call stacks",
  why: "They were not recorded.",
  call: "profile(with_stack=True)",
};
const lines = (names: (string | null)[]): LinesPayload => ({
  vocabulary: { device: "GPU", multiprocessor: "SM", matrix_cores: "Tensor Cores" },
  rows: declaredTable<LinesPayload["rows"]>("lines", names.length, {
    line: names,
    path_ns: names.map((_, row) => 9000 - row),
    share: names.map(() => 0.5),
    event: names.map((_, row) => row - 1),
  }),
  sentences: names.length ? ["main at train.py:3 takes 1.00 s.", "Sums over all 2 steps."] : [],
  pooled: 0,
  missing: names.length ? [] : [missing],
});

let answer = lines([]);
beforeEach(() => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify(answer))));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});
const text = (): string => document.body.textContent;

it("names the line that the steps wait for, and lists those without one, too", async () => {
  answer = lines([null, "/w/train.py(3): main"]);
  render(<LinesView {...viewProps({}, { setParam: vi.fn(), setSteps: vi.fn() })} />);
  await waitFor(() =>
    expect(screen.getByRole("region", { name: "In short" }).textContent).toBe(
      "main at train.py:3 takes 1.00 s.Sums over all 2 steps.",
    ),
  );
  expect(text()).toContain("no line is known");
  expect(screen.getAllByRole("link", { name: "longest" })).toHaveLength(1);
});

it("says which call records lines where none are", async () => {
  answer = lines([]);
  render(<LinesView {...viewProps({}, { setParam: vi.fn(), setSteps: vi.fn() })} />);
  await waitFor(() => expect(text()).toContain("profile(with_stack=True)"));
});
