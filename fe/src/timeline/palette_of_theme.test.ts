import { afterEach, describe, expect, it, vi } from "vitest";
import { contrast, parseColour } from "./colours";
import { densitiesOfTheme, fontOfTheme, paletteOfTheme, watchTheme } from "./palette_of_theme";
import CSS from "./slice_colours.css?raw";

function colours(theme: "light" | "dark"): Map<string, string> {
  const block = new RegExp(`\\[data-theme="${theme}"\\] \\{([^}]*)\\}`).exec(CSS)?.[1] ?? "";
  return new Map([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name!, value!]));
}

describe.each(["light", "dark"] as const)("%s", (theme) => {
  const found = colours(theme);
  it("has a colour of every look, and hues", () => {
    for (let look = 0; look < 15; look++) expect(found.has(`look-${look}`)).toBe(true);
    expect([...found.keys()].filter((name) => name.startsWith("hue-")).length).toBeGreaterThanOrEqual(10);
    expect([...found.keys()]).toEqual([...colours(theme === "light" ? "dark" : "light").keys()]);
  });
  it("has slices whose text can be read (4.5:1)", () => {
    const text = parseColour(found.get("on-slice")!);
    for (const [name, colour] of found) if (/^(look|hue)-/.test(name)) expect([name, contrast(text, parseColour(colour)) >= 4.5]).toEqual([name, true]);
  });
});

describe("the document's theme", () => {
  const root = document.documentElement;
  afterEach(() => {
    root.removeAttribute("style");
    delete root.dataset.theme;
  });

  it("is read from the style sheet, with defaults where it has nothing", () => {
    root.dataset.theme = "dark";
    root.style.setProperty("--look-3", "#123456");
    root.style.setProperty("--hue-0", "#abcdef");
    root.style.setProperty("--surface", "#010203");
    const palette = paletteOfTheme(root);
    expect([palette.looks[3], palette.hues, palette.ground]).toEqual(["#123456", ["#abcdef"], "#010203"]);
    expect(palette.looks.length).toBeGreaterThanOrEqual(15);
    expect([fontOfTheme(root), densitiesOfTheme(root).device]).toEqual(["sans-serif", "#888888"]);
  });

  it("tells when it changes, until it is told to stop", async () => {
    const changed = vi.fn();
    root.dataset.theme = "dark";
    const end = watchTheme(changed, root);
    root.dataset.theme = "light";
    await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(1));
    end();
    root.dataset.theme = "dark";
    await new Promise((done) => setTimeout(done, 20));
    expect(changed).toHaveBeenCalledTimes(1);
  });
});
