import { fireEvent, render, screen } from "@testing-library/preact";
import { expect, it, vi } from "vitest";
import { ChartTop, topOf } from "./chart_top";

it.each([
  [undefined, 5],
  ["10", 10],
  ["0", 5],
  ["-3", 1],
  ["2.7", 2],
  ["9999", 100],
  ["x", 5],
])("topOf %s", (top, number) => expect(topOf(top === undefined ? {} : { top })).toBe(number));

it("keeps the number in the address, and nothing where the field is empty", () => {
  const setParam = vi.fn();
  render(<ChartTop params={{ top: "8" }} setParam={setParam} />);
  const field = screen.getByLabelText("Top");
  for (const value of ["12", ""]) fireEvent.change(field, { target: { value } });
  expect(setParam.mock.calls).toEqual([
    ["top", "12"],
    ["top", null],
  ]);
});
