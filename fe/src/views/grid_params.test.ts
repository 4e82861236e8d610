import { describe, expect, it, vi } from "vitest";
import { compileSearch } from "../base/search";
import { exactly, gridParams, readSort, toggleSearch, writeSort } from "./grid_params";

describe("sort", () => {
  it.each([
    { key: "calls", descending: true },
    { key: "host_self", descending: false },
  ])("reads back what it wrote: %o", (sort) => {
    expect(readSort(writeSort(sort))).toEqual(sort);
  });
  it("is none for nothing", () => {
    for (const text of [undefined, "", "-"]) expect(readSort(text)).toBeNull();
  });
});

it("gridParams writes only what changed", () => {
  const setParam = vi.fn();
  gridParams({ search: "mm" }, setParam).onSearch({ text: "mm", regex: true });
  expect(setParam.mock.calls).toEqual([["regex", "1"]]);
});

describe("exactly", () => {
  const names = [
    "aten::mm",
    "aten::mm_out",
    "Optimizer.step#SGD.step",
    "OptimizerXstep#SGD.step",
    "void k<4, (a)[b]{c}|d>(int*, float)?^$\\/",
    "x+y",
  ];
  it.each(names)("finds %s and nothing else", (name) => {
    const { search, regex } = exactly(name);
    expect(regex).toBe("1");
    const matcher = compileSearch(search, true);
    expect(matcher.error).toBeNull();
    expect(names.filter((other) => matcher.test?.(other))).toEqual([name]);
  });
  it("falls back to the words of a name that is too long for a pattern", () => {
    expect(exactly("n".repeat(300))).toEqual({ search: "n".repeat(300), regex: "" });
  });
});

it("makes a table show what is behind a mark, and all of it at the second press", () => {
  const setParam = vi.fn();
  toggleSearch(exactly("aten::mm"), "", setParam);
  expect(setParam.mock.calls).toEqual([
    ["regex", "1"],
    ["search", "^aten::mm$"],
  ]);
  setParam.mockClear();
  toggleSearch(exactly("aten::mm"), "^aten::mm$", setParam);
  expect(setParam.mock.calls).toEqual([
    ["regex", null],
    ["search", null],
  ]);
});
