import { expect, it } from "vitest";
import { medianStep } from "./against_median";
import { step } from "./fixtures";

const rows = [9, 5, 7, 6, 8].map((ms, i) => step(i, { wall_ns: ms, cold: i === 0, steps: 1 }));

it("is the middle one of the other usual steps, of an even number the shorter of two", () => {
  // Beside step 4: 5, 7, 6 without the cold 9.
  expect(medianStep(rows, 4)).toBe(3);
  // Beside the cold step: 5, 6, 7, 8.
  expect(medianStep(rows, 0)).toBe(3);
});

it("takes unusual steps where there are no others, and nothing where there is none", () => {
  const odd = rows.slice(0, 2).map((row) => ({ ...row, odd: true }));
  expect(medianStep(odd, 1)).toBe(0);
  expect(medianStep(rows.slice(0, 1), 0)).toBeNull();
});
