import { fireEvent, render, screen } from "@testing-library/preact";
import { expect, it, vi } from "vitest";
import { readShown } from "./params";
import { matching, RankChoice, ranksOf, wrongPart } from "./rank_choice";
import { WorkerChoice } from "./toolbar";

const WORKERS = [
  { name: "node0_a", rank: 0 },
  { name: "node0_b", rank: 1 },
  { name: "node1_a", rank: 2 },
  { name: "node1_x", rank: null },
];

it("ranks are read as ranges, each once, and what is none is named", () => {
  expect(ranksOf("64, 0-3,2")).toBe("0-3,64");
  expect([wrongPart("0-3, 7"), wrongPart("0-3, b"), wrongPart("7-3"), wrongPart("")]).toEqual([
    "",
    "b",
    "7-3",
    "",
  ]);
});

it("the address holds one worker, all, or ranks", () => {
  expect(["all", "7,0-3", "", "nonsense", undefined].map(readShown)).toEqual([
    "all",
    "0-3,7",
    "",
    "",
    "",
  ]);
});

it("finds workers by a part of their names, but for chosen ones and those without a rank", () => {
  expect(matching(WORKERS, "NODE1", "0")).toEqual([{ name: "node1_a", rank: 2 }]);
  expect(matching(WORKERS, "node0", "0").map(({ rank }) => rank)).toEqual([1]);
  expect(matching(WORKERS, " ", "")).toEqual([]);
});

it("shows what is written or found, and no nonsense", () => {
  const onRanks = vi.fn();
  render(<RankChoice ranks="0" workers={WORKERS} onRanks={onRanks} />);
  const ranks = screen.getByLabelText("Ranks");
  fireEvent.input(ranks, { target: { value: "0-2, x" } });
  fireEvent.click(screen.getByRole("button", { name: "Show" }));
  expect(onRanks).not.toHaveBeenCalled();
  expect(screen.getByRole("alert").textContent).toContain("“x” is no rank");
  fireEvent.input(ranks, { target: { value: "0-1,9" } });
  fireEvent.click(screen.getByRole("button", { name: "Show" }));
  fireEvent.input(screen.getByLabelText("Add by name"), { target: { value: "node1" } });
  fireEvent.click(screen.getByRole("button", { name: "Add node1_a (rank 2)" }));
  expect(onRanks.mock.calls).toEqual([["0-1,9"], ["0,2"]]);
});

it("is in sight for those who asked for some ranks", () => {
  const props = { parts: [], alignment: null, workers: WORKERS, own: "node0_a", onShown: vi.fn() };
  render(<WorkerChoice {...props} shown="0" focused />);
  expect(screen.getByLabelText<HTMLInputElement>("Ranks").value).toBe("0");
});
