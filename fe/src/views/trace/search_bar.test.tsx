import { fireEvent, render, screen } from "@testing-library/preact";
import { expect, it, vi } from "vitest";
import { recording, ref } from "./fixtures";
import type { Found } from "./search";
import { SearchBar } from "./search_bar";
import type { TraceState } from "./trace_state";

const wish = {
  text: "soft",
  regex: false,
  args: false,
  kind: "first" as const,
  order: "time" as const,
};
const found: Found = {
  wish: { ...wish, kind: "device" },
  idle: false,
  busy: false,
  error: null,
  kind: "device",
  kinds: [
    { kind: "device", count: 2 },
    { kind: "python", count: 7 },
  ],
  total: 2,
  list: [3, 4].map((event, index) => ({ source: 0, ref: ref(event), index })),
  names: { name: [], look: [], count: [], total_ns: [] },
  namesTotal: 1,
  hits: [null],
  heat: null,
};

function open() {
  const calls = { setWish: vi.fn(), next: vi.fn(), to: vi.fn() };
  const { setWish, next, to } = calls;
  const state = {
    ...{ wish, found, setWish },
    recordings: [recording()],
    span: { t0: 0, t1: 1_000_000 },
    finder: { index: null, problem: "", next, to },
    view: { params: {} },
  } as unknown as TraceState;
  render(<SearchBar state={state} box={{ current: null }} />);
  const box = screen.getByRole("combobox");
  box.focus();
  const press = (key: string) => fireEvent.keyDown(box, { key });
  return { ...calls, box, press };
}

it("chooses in the list by arrows and goes to the hit by Enter, which folds the list", () => {
  const { box, press, to, next } = open();
  expect(screen.queryByRole("listbox")).toBeNull();
  press("ArrowDown");
  press("ArrowDown");
  press("ArrowDown");
  const options = screen.getAllByRole("option");
  expect(options.map((option) => option.getAttribute("aria-selected"))).toEqual(["false", "true"]);
  expect(box.getAttribute("aria-activedescendant")).toBe(options[1]?.id);
  press("Enter");
  expect(to.mock.calls).toEqual([[found.list[1]]]);
  expect([next.mock.calls.length, screen.queryByRole("listbox")]).toEqual([0, null]);
});

it("offers the kinds with their hits, and all", () => {
  const { press, setWish } = open();
  press("ArrowDown");
  const kinds = screen.getAllByRole("radio");
  expect(kinds.map((kind) => kind.closest("label")?.textContent)).toEqual([
    "Device work 2",
    "Python 7",
    "All 9",
    "By time",
    "By duration",
  ]);
  fireEvent.click(kinds[1]!);
  expect(setWish).toHaveBeenLastCalledWith({ ...wish, kind: "python" });
  fireEvent.click(kinds[4]!);
  expect(setWish).toHaveBeenLastCalledWith({ ...wish, order: "duration" });
});

it("folds the list by Escape before the search is cleared", () => {
  const { press, setWish } = open();
  press("ArrowDown");
  press("Escape");
  expect([screen.queryByRole("listbox"), setWish.mock.calls.length]).toEqual([null, 0]);
  press("Escape");
  expect(setWish).toHaveBeenCalledWith({ ...wish, text: "" });
});
