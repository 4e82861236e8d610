/** The choice of a rank among 1,024, with a server that answers from fixtures. */

import { fireEvent, render, screen, waitFor, within } from "@testing-library/preact";
import { describe, expect, it, vi } from "vitest";
import { meshOf, overviewRanks } from "./fixtures";
import { Picker } from "./picker";
import { serve, text } from "../../testing/page";
import { worker } from "../../testing/runs";

const LARGE = meshOf([
  ["PP", 8],
  ["DP", 16],
  ["TP", 8],
]);
let asked: URL[];

const WORKERS = Array.from({ length: 1024 }, (_, rank) => worker(`rank${rank}`, rank));

function pick(known: boolean): ReturnType<typeof vi.fn> {
  const payload = overviewRanks(LARGE);
  asked = serve({
    "overview/ranks/known": known ? payload : overviewRanks([], { known: false, workers: [] }),
    "overview/ranks": payload,
  });
  const onChoose = vi.fn();
  render(
    <Picker
      workers={WORKERS}
      selection={{ run: "r", worker: "rank3", span: "1" }}
      onChoose={onChoose}
    />,
  );
  return onChoose;
}

const options = (): HTMLElement[] =>
  within(screen.getByRole("listbox", { name: "Workers" })).getAllByRole("option");

describe("the choice among 1,024 workers", () => {
  it("finds a rank by number and chooses it by key", () => {
    const onChoose = pick(true);
    const input = screen.getByRole<HTMLInputElement>("combobox", { name: "Rank, host or name" });
    // A dialog that opens gives it the focus.
    expect(input.autofocus).toBe(true);
    expect(options().length).toBe(50);
    expect(text()).toContain("974 more");
    fireEvent.input(input, { target: { value: "70" } });
    expect(options()[0]?.textContent).toBe("rank 70");
    fireEvent.keyDown(input, { key: "ArrowDown" });
    const active = document.getElementById(input.getAttribute("aria-activedescendant") ?? "");
    expect(active?.textContent).toBe("rank 700");
    fireEvent.keyDown(input, { key: "Enter" });
    expect(onChoose).toHaveBeenCalledExactlyOnceWith("rank700");
  });

  it("chooses by host and by coordinates when the ranks are known, and says them beside each", async () => {
    const onChoose = pick(true);
    await waitFor(() => expect(text()).toContain("PP 0 · DP 0 · TP 1"));
    const input = screen.getByRole("combobox", { name: "Rank, host or name" });
    fireEvent.input(input, { target: { value: "node87" } });
    await waitFor(() => expect(options().length).toBe(8));
    expect(options()[4]?.textContent).toBe("rank 700PP 5 · DP 7 · TP 4");
    fireEvent.input(input, { target: { value: "pp 5 dp 7 tp 3" } });
    expect(options().map((option) => option.textContent)).toEqual(["rank 699PP 5 · DP 7 · TP 3"]);
    fireEvent.keyDown(input, { key: "Enter" });
    expect(onChoose).toHaveBeenCalledOnce();
    expect(asked.map((url) => url.pathname)).toEqual(["/overview/ranks/known"]);
  });

  it("reads all traces only when it is told to", async () => {
    pick(false);
    const arrange = await screen.findByRole("button", {
      name: "Find them by host and coordinates",
    });
    expect(asked.map((url) => url.pathname)).toEqual(["/overview/ranks/known"]);
    fireEvent.click(arrange);
    await waitFor(() => expect(text()).toContain("PP 0 · DP 0 · TP 1"));
  });
});
