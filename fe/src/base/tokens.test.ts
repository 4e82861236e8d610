import { expect, it } from "vitest";
import { colours } from "./tokens_fixtures";

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

const GROUNDS = ["surface", "sunken", "raised", "hover"];
const FLAMES = ["module", "annotation", "operator", "line", "rest"].map((kind) => `flame-${kind}`);
const TEXTS: readonly [string, readonly string[]][] = [
  ["ink", [...GROUNDS, ...FLAMES]],
  ["ink-2", GROUNDS],
  ["ink-3", ["surface", "sunken"]],
  ["accent", [...GROUNDS, "accent-soft"]],
  ["on-accent", ["accent"]],
  ["gained", ["surface", "gained-soft"]],
  ["attention", [...GROUNDS, "attention-soft"]],
  ["lost", [...GROUNDS, "lost-soft"]],
];

/** What is drawn on the surface: parts of a step, series of charts, borders of controls. */
const MARK = /^(off|compute|copies|data|communication|host|not-recorded|series-\d)$/;

for (const theme of ["light", "dark"] as const) {
  const found = colours(theme);
  it.each(TEXTS.flatMap(([text, grounds]) => grounds.map((ground) => [text, ground] as const)))(
    `${theme}: %s on %s can be read (4.5:1)`,
    (text, ground) => {
      expect(contrast(found.get(text)!, found.get(ground)!)).toBeGreaterThanOrEqual(4.5);
    },
  );

  const marks = [...found.keys()].filter((name) => MARK.test(name));
  it.each(marks)(`${theme}: %s stands out from the surface (3:1)`, (mark) => {
    expect(contrast(found.get(mark)!, found.get("surface")!)).toBeGreaterThanOrEqual(3);
  });

  it(`${theme}: has every colour of the other theme`, () => {
    expect(found.size).toBeGreaterThan(60);
    expect([...found.keys()]).toEqual([...colours(theme === "light" ? "dark" : "light").keys()]);
  });
}
