import { describe, expect, it } from "vitest";
import { meshOf, runWorker } from "./fixtures";
import { coordinatesText, foundWorkers } from "./model";

const MESH = meshOf([
  ["PP", 8],
  ["DP", 16],
  ["TP", 8],
]);
const WORKERS = Array.from({ length: 1024 }, (_, rank) => runWorker(rank));

describe("search", () => {
  it.each([
    ["12", [12, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129]],
    ["rank 7", [7, 70]],
    ["node127", [1016, 1017, 1018, 1019, 1020, 1021, 1022, 1023]],
    ["node12 9", [96, 97, 98, 99]],
    ["nothing", []],
  ])("finds %s", (text, first) => {
    expect(foundWorkers(WORKERS, text).slice(0, first.length)).toEqual(first);
  });

  it("finds workers by their coordinates", () => {
    const all = WORKERS.map((one, at) => ({ ...one, coordinates: coordinatesText(MESH, at) }));
    expect(foundWorkers(all, "pp 5 dp 7 tp 4")).toEqual([700]);
  });

  it("finds workers without a rank by name, and all by nothing", () => {
    const workers = [runWorker(0, { rank: null, worker: "trainer-a", node: "" }), runWorker(1)];
    expect(foundWorkers(workers, "TRAIN")).toEqual([0]);
    expect(foundWorkers(workers, "  ")).toEqual([0, 1]);
  });
});

it("names the coordinates of a rank, the outermost first", () => {
  expect(coordinatesText(MESH, 3 * 128 + 5 * 8 + 6)).toBe("PP 3 · DP 5 · TP 6");
  const unnamed = meshOf([["groups of 4, stride 1", 4]]);
  const nodes = unnamed.map((mesh) => ({ ...mesh, values: ["a", "b", "c", "d"] }));
  expect(coordinatesText([...unnamed, ...nodes], 2)).toBe("c · groups of 4, stride 1: 2");
  expect(coordinatesText([], 0)).toBe("");
  expect(coordinatesText(MESH, -1)).toBe("");
});
