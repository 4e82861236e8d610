import { expect, it } from "vitest";
import CSS from "./tokens.css?raw";

function colors(theme: "light" | "dark"): Map<string, string> {
  const block = new RegExp(`\\[data-theme="${theme}"\\] \\{([^}]*)\\}`).exec(CSS)?.[1] ?? "";
  return new Map(
    [...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name!, value!]),
  );
}

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

const TEXTS: readonly [string, readonly string[]][] = [
  ["text", ["ground", "surface", "raised", "sunken", "hover"]],
  ["text", ["flame-module", "flame-annotation", "flame-operator", "flame-line", "flame-rest"]],
  ["muted", ["ground", "surface", "raised", "sunken", "hover"]],
  ["accent", ["ground", "surface", "raised", "sunken", "hover", "accent-soft"]],
  ["on-accent", ["accent"]],
  ["good", ["surface", "good-soft"]],
  ["warn", ["ground", "surface", "warn-soft"]],
  ["bad", ["ground", "surface", "raised", "bad-soft"]],
  ["info", ["surface", "info-soft"]],
];

for (const theme of ["light", "dark"] as const) {
  const found = colors(theme);
  it.each(TEXTS.flatMap(([text, grounds]) => grounds.map((ground) => [text, ground] as const)))(
    `${theme}: %s on %s can be read (4.5:1)`,
    (text, ground) => {
      expect(contrast(found.get(text)!, found.get(ground)!)).toBeGreaterThanOrEqual(4.5);
    },
  );

  it(`${theme}: has every colour of the other theme`, () => {
    expect(found.size).toBeGreaterThan(30);
    expect([...found.keys()]).toEqual([...colors(theme === "light" ? "dark" : "light").keys()]);
  });
}
