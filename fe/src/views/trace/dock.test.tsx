import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { beforeEach, expect, it, vi } from "vitest";
import { DetailsPanel, useDock } from "./dock";

beforeEach(() => localStorage.clear());

function Page({ onClose = () => undefined }: { onClose?: () => void }) {
  const [dock, setDock] = useDock();
  return (
    <DetailsPanel dock={dock} onDock={setDock} onClose={onClose}>
      {dock}
    </DetailsPanel>
  );
}

const wide = (matches: boolean): unknown =>
  vi.spyOn(window, "matchMedia").mockReturnValue({
    matches: !matches,
    addEventListener: vi.fn(),
    removeEventListener: vi.fn(),
  } as never);

const side = (): string => screen.getByRole("complementary").textContent;

it("stands at the right of a wide page and at the bottom of a narrow one", () => {
  wide(true);
  render(<Page />);
  expect(side()).toContain("right");
  cleanup();
  wide(false);
  render(<Page />);
  expect(side()).toContain("bottom");
});

it("stands where somebody put it last, however wide the page is", () => {
  wide(true);
  render(<Page />);
  fireEvent.click(screen.getByRole("button", { name: "Details at the bottom" }));
  expect(side()).toContain("bottom");
  cleanup();
  render(<Page />);
  expect(side()).toContain("bottom");
  expect(screen.queryByRole("separator")).toBeNull();
});

it("is closed by its button", () => {
  wide(true);
  const onClose = vi.fn();
  render(<Page onClose={onClose} />);
  fireEvent.click(screen.getByRole("button", { name: "Close the details" }));
  expect(onClose).toHaveBeenCalledOnce();
});
