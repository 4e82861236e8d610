import { afterEach, describe, expect, it } from "vitest";
import { paletteFor } from "./palette_fixtures";
import { paletteOfTheme } from "./palette_of_theme";

it.each(["light", "dark"] as const)("%s has a colour of every look, and hues", (theme) => {
  const { looks, hues } = paletteFor(theme);
  expect(looks).toHaveLength(15);
  expect(hues.length).toBeGreaterThanOrEqual(10);
});

describe("the document's theme", () => {
  const root = document.documentElement;
  afterEach(() => {
    root.removeAttribute("style");
    delete root.dataset.theme;
  });

  it("is read from the style sheet, grey where that has nothing", () => {
    root.dataset.theme = "dark";
    root.style.setProperty("--look-0", "#123456");
    root.style.setProperty("--hue-0", "#abcdef");
    root.style.setProperty("--surface", "#010203");
    const palette = paletteOfTheme(root);
    expect([palette.looks, palette.hues, palette.ground, palette.accent]).toEqual([
      ["#123456"],
      ["#abcdef"],
      "#010203",
      "#888888",
    ]);
    expect(palette.device).toBe("#888888");
  });
});
