import { expect, it } from "vitest";
import type { FileItem } from "../../api/types.gen";
import { chooseFiles, countStates, readState } from "./model";

const file = (path: string, state: FileItem["state"]): FileItem => ({
  path,
  state,
  run: "",
  worker: "",
  span: "",
  reason: "",
  bytes: 0,
  events: null,
  lost: null,
});
const files = [
  file("b/w10.json", "ready"),
  file("b/w2.json", "ready"),
  file("x.txt", "rejected"),
  file("cut.json", "failed"),
];

it("puts what needs a person first, then natural order of paths", () => {
  expect(chooseFiles(files, null).map((f) => f.path)).toEqual([
    "cut.json",
    "x.txt",
    "b/w2.json",
    "b/w10.json",
  ]);
  expect(chooseFiles(files, "ready").map((f) => f.path)).toEqual(["b/w2.json", "b/w10.json"]);
  expect(chooseFiles([], null)).toEqual([]);
});

it("counts only states that occur", () => {
  expect(countStates(files)).toEqual([
    { state: "failed", count: 1 },
    { state: "rejected", count: 1 },
    { state: "ready", count: 2 },
  ]);
});

it("reads a state from the address bar and nothing else", () => {
  expect(readState("growing")).toBe("growing");
  expect(readState("<img>")).toBeNull();
});
