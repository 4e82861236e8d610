import { fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { beforeEach, expect, it, vi } from "vitest";
import { runsStore } from "../state/runs";
import { Tour } from "./App";

const tour = {
  sentences: ["One.", "Two."],
  places: [{ text: "Look <b>here</b>", link: "view=kernel&run=r&steps=4&evil=%22%3E" }],
};
let answer: unknown;
beforeEach(() => {
  answer = tour;
  localStorage.clear();
  runsStore.set({ payload: null, error: null });
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify(answer))));
});

it("leads to its places, and is dismissed for good", async () => {
  const { unmount } = render(<Tour />);
  await waitFor(() => expect(screen.getByText("Look <b>here</b>")).toBeTruthy());
  expect(screen.getByText("Look <b>here</b>").getAttribute("href")).toMatch(
    /#view=kernel&run=r&steps=4&evil=%22%3E$/,
  );
  fireEvent.click(screen.getByRole("button"));
  expect(document.querySelector(".tour")).toBeNull();
  unmount();
  const asked = vi.fn();
  vi.stubGlobal("fetch", asked);
  render(<Tour />);
  expect(asked).not.toHaveBeenCalled();
});

it("is nothing where the logdir has none", async () => {
  answer = { sentences: ["One."], places: [] };
  render(<Tour />);
  await waitFor(() => expect(document.querySelector(".tour")).toBeNull());
  expect(document.body.textContent).toBe("");
});

it("is dismissed for now where the browser keeps nothing", async () => {
  vi.stubGlobal("localStorage", {
    getItem: () => {
      throw new Error("off");
    },
    setItem: () => {
      throw new Error("off");
    },
    clear: () => undefined,
  });
  render(<Tour />);
  await waitFor(() => expect(screen.getByText("Look <b>here</b>")).toBeTruthy());
  fireEvent.click(screen.getByRole("button"));
  expect(document.querySelector(".tour")).toBeNull();
});
