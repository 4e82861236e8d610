import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { expect, it, vi } from "vitest";
import { ApiError } from "../api/client";
import type { Resource } from "../state/resource";
import { HOSTILE, lacking } from "../testing/cases";
import { Loaded, MissingList, Nothing } from "./loaded";
import { text } from "../testing/page";

function show(over: Partial<Resource<string>>): void {
  const resource: Resource<string> = {
    state: "loading",
    data: null,
    stale: false,
    error: null,
    reload: vi.fn(),
    ...over,
  };
  render(
    <Loaded resource={resource} shape={[100, 200]}>
      {(data) => <p>{data}</p>}
    </Loaded>,
  );
}
const error = new ApiError({
  code: "import_failed",
  message: `It failed: ${HOSTILE}`,
  hint: "Record again.",
});

it("keeps the room of what is coming", () => {
  show({});
  expect(
    [...document.querySelectorAll<HTMLElement>(".skeleton")].map((s) => s.style.minHeight),
  ).toEqual(["100px", "200px"]);
});

it("shows an error with what to do, as text", () => {
  const reload = vi.fn();
  show({ state: "error", error, reload });
  expect(text()).toContain(HOSTILE);
  expect(text()).toContain("Record again.");
  expect(document.querySelector("img")).toBeNull();
  expect(screen.getByText("All files").getAttribute("href")).toMatch(/#view=diagnosis$/);
  fireEvent.click(screen.getByText("Try again"));
  expect(reload).toHaveBeenCalledOnce();
});

it("keeps the earlier figures while the next ones come or fail", () => {
  show({ state: "loading", data: "figures", stale: true });
  expect(text()).toContain("figures");
  expect(document.querySelector(".view-stale")).toBeTruthy();
  cleanup();
  show({ state: "error", data: "figures", stale: true, error });
  expect(text()).toContain("These figures are out of date");
  expect(text()).toContain("figures");
});

it("MissingList offers the call for each, and draws nothing when nothing is missing", () => {
  const { container } = render(<MissingList missing={[]} />);
  expect(container.innerHTML).toBe("");
  render(<MissingList missing={[lacking(), lacking({ key: "shapes" })]} />);
  expect(document.querySelectorAll("details")).toHaveLength(2);
  expect(text()).toContain("profile(with_stack=True)");
});

it("Nothing says why and how to record it, or the plain reason", () => {
  render(<Nothing title="No kernel" text="None ran." missing={[lacking()]} />);
  expect(text()).toContain("They were not recorded.");
  expect(document.querySelector("code")?.textContent).toBe("profile(with_stack=True)");
  cleanup();
  render(<Nothing title="No kernel" text="None ran." missing={[]} />);
  expect(text()).toContain("None ran.");
});
