import { expect, it } from "vitest";
import { file, filesOf } from "../../testing/cases";
import { chooseFiles, countStates, readState } from "./model";

const files = filesOf([
  file("b/w10.json", { state: "ready" }),
  file("b/w2.json", { state: "ready" }),
  file("x.txt", { state: "rejected" }),
  file("cut.json", { state: "failed" }),
]);

it("puts what needs a person first, then natural order of paths; what is no trace is asked for", () => {
  expect(chooseFiles(files, null).path).toEqual(["cut.json", "b/w2.json", "b/w10.json"]);
  expect(chooseFiles(files, "rejected").path).toEqual(["x.txt"]);
  expect(chooseFiles(filesOf([file("x.txt", { state: "rejected" })]), null).path).toEqual([
    "x.txt",
  ]);
  expect(chooseFiles(files, "ready").path).toEqual(["b/w2.json", "b/w10.json"]);
  expect(chooseFiles(filesOf([]), null).path).toEqual([]);
});

it("counts only states that occur", () => {
  expect(countStates(files)).toEqual([
    { state: "failed", count: 1 },
    { state: "ready", count: 2 },
    { state: "rejected", count: 1 },
  ]);
});

it("reads a state from the address bar and nothing else", () => {
  expect(readState("growing")).toBe("growing");
  expect(readState("<img>")).toBeNull();
});
