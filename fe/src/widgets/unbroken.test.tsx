import { render } from "@testing-library/preact";
import { expect, it } from "vitest";
import cases from "../base/units_cases.json";
import { unbroken } from "./unbroken";

const { count: _, number: __, ...units } = cases;
const quantities = Object.values(units)
  .flat()
  .map(([, text]) => String(text).replace("+", ""))
  .filter((text) => text.includes(" "));

it.each([...new Set(quantities)])(
  "keeps %s on a line, and every letter of the sentence",
  (text) => {
    const sentence = `Rank 5 takes ${text} of each step, 3 steps in all.`;
    const { container } = render(<p>{unbroken(sentence)}</p>);
    expect(container.textContent).toBe(sentence);
    const kept = [...container.querySelectorAll(".unbroken")].map(({ textContent }) => textContent);
    expect(kept).toHaveLength(1);
    // What is before the last space breaks nowhere: a minus, and narrow spaces between digits.
    expect(text.endsWith(kept[0] ?? "nothing")).toBe(true);
  },
);

it("leaves other numbers and words alone", () => {
  const { container } = render(<p>{unbroken("12 steps of 3 Bs, 5 %s and 4 msec at a.py:12 s")}</p>);
  expect(container.querySelectorAll(".unbroken")).toHaveLength(1);
});
