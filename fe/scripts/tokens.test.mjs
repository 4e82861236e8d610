import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const SRC = join(import.meta.dirname, "../src");
const TOKENS = join("base", "tokens.css");
const read = (name) => readFileSync(join(SRC, name), "utf-8");
const files = readdirSync(SRC, { recursive: true });
const sheets = files.filter((name) => name.endsWith(".css") && name !== TOKENS);
const components = files.filter((name) => /\.tsx$/.test(name) && !/\.test\.|fixtures/.test(name));

/** What only the file of tokens may say: colours, sizes of text, radii, gaps. */
const COLOUR = /#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|oklch|oklab)\(/i;
const SIZE =
  /(?:^|[^-\w])(?:font(?:-size)?|border-radius|(?:row-|column-)?gap):[^;]*\b[1-9][\d.]*px/;
const LITERAL = new RegExp(`${COLOUR.source}|${SIZE.source}`, "i");
const plain = (text) => text.replace(/\/\*[^]*?\*\//g, "");
const guilty = (names, pattern) =>
  names.flatMap((name) =>
    plain(read(name))
      .split("\n")
      .filter((line) => pattern.test(line))
      .map((line) => `${name}: ${line.trim()}`),
  );

it("sees literals", () => {
  for (const line of [
    "color: #FFF;",
    "fill: rgb(0 0 0)",
    "font: 600 12px x",
    "gap: 0 8px",
    "font-size: 11.5px",
  ])
    expect(line).toMatch(LITERAL);
  for (const line of [
    "gap: 0;",
    "gap: var(--gap)",
    "min-gap: 3px",
    "height: 8px",
    "border-radius: 50%",
  ])
    expect(line).not.toMatch(LITERAL);
});

it("has colours and sizes in the file of tokens alone", () => {
  expect(sheets.length).toBeGreaterThan(20);
  expect(guilty(sheets, LITERAL)).toEqual([]);
  // A hue that a table gives for a name is a number; how light it is, the theme says.
  expect(guilty(components, COLOUR).filter((line) => !line.includes("var(--flame-light)"))).toEqual(
    [],
  );
});

it("has every token that is named", () => {
  const declared = new Set([...read(TOKENS).matchAll(/(--[\w-]+):/g)].map((match) => match[1]));
  const local = /--(?:at|columns|head|heat|names|row|side(?:-[ab])?|tile|width)$/;
  const named = [...sheets, ...components].flatMap((name) =>
    [...read(name).matchAll(/var\((--[\w-]+)\)/g)].map((match) => match[1]),
  );
  expect(named.filter((name) => !declared.has(name) && !local.test(name))).toEqual([]);
});
