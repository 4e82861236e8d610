import { expect, it } from "vitest";
import { labelPlaces } from "./label_places";

it("labels beside rows neither cover each other nor leave the room", () => {
  expect(labelPlaces([5, 8, 50], 10, 100)).toEqual([5, 15, 50]);
  expect(labelPlaces([10, 12, 60], 14, Infinity)).toEqual([10, 24, 60]);
  expect(labelPlaces([90, 95, 99], 10, 100)).toEqual([75, 85, 95]);
});
