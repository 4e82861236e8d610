import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fontOfTheme, followTheme, resolveTheme, storedChoice, watchTheme } from "./theme";

const body = (dark: boolean): HTMLElement => {
  const element = document.createElement("body");
  if (dark) element.className = "dark-mode";
  return element;
};

describe("resolveTheme", () => {
  it("prefers the person's choice", () =>
    expect(resolveTheme("light", body(true), true)).toBe("light"));
  it("then TensorBoard's class, even against the system", () =>
    expect(resolveTheme("system", body(false), true)).toBe("light"));
  it("then the system", () =>
    expect([resolveTheme("system", null, true), resolveTheme("system", null, false)]).toEqual([
      "dark",
      "light",
    ]));
});

describe("followTheme", () => {
  let host: HTMLElement;
  beforeEach(() => {
    localStorage.clear();
    host = body(true);
    vi.spyOn(window, "parent", "get").mockReturnValue({
      document: { body: host },
    } as unknown as Window);
  });
  afterEach(() => localStorage.clear());

  it("follows TensorBoard's menu live, and keeps an own choice", async () => {
    const { dataset } = document.documentElement;
    const end = followTheme("system");
    expect([dataset.theme, storedChoice()]).toEqual(["dark", "system"]);
    host.classList.remove("dark-mode");
    await vi.waitFor(() => expect(dataset.theme).toBe("light"));
    end();
    const endOwn = followTheme("dark");
    expect([dataset.theme, storedChoice()]).toEqual(["dark", "dark"]);
    endOwn();
    const endAgain = followTheme("system");
    expect([dataset.theme, storedChoice()]).toEqual(["light", "system"]);
    endAgain();
    host.classList.add("dark-mode");
    await new Promise((done) => setTimeout(done, 20));
    expect(dataset.theme).toBe("light");
  });

  it("takes the system's where the host is of another origin", () => {
    vi.spyOn(window, "parent", "get").mockReturnValue({
      get document(): never {
        throw new DOMException("cross origin", "SecurityError");
      },
    } as unknown as Window);
    vi.spyOn(window, "matchMedia").mockReturnValue({
      matches: true,
      addEventListener: vi.fn(),
      removeEventListener: vi.fn(),
    } as unknown as MediaQueryList);
    followTheme("system")();
    expect(document.documentElement.dataset.theme).toBe("dark");
  });
});

it("watchTheme tells when the document's theme changes, until it is told to stop", async () => {
  const changed = vi.fn();
  const root = document.documentElement;
  root.dataset.theme = "dark";
  const end = watchTheme(changed);
  root.dataset.theme = "light";
  await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(1));
  end();
  root.dataset.theme = "dark";
  await new Promise((done) => setTimeout(done, 20));
  expect(changed).toHaveBeenCalledTimes(1);
});

it("fontOfTheme has a face also without the style sheet", () =>
  expect(fontOfTheme()).toBe("sans-serif"));
