import { expect, it } from "vitest";

const SHEETS = import.meta.glob<string>("../**/*.css", {
  query: "?raw",
  import: "default",
  eager: true,
});

/** Classes that a sheet styles wherever they stand: `.name` alone, outside of media queries. */
function styled(sheet: string): Set<string> {
  const plain = sheet
    .replace(/\/\*[^]*?\*\//g, "")
    .replace(/@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, "");
  return new Set(
    [...plain.matchAll(/(?:^|[},])\s*\.([\w-]+)\s*(?=[,{])/g)].map((match) => match[1] ?? ""),
  );
}

it("finds classes that stand alone", () => {
  expect([
    ...styled(
      ".a { x: 1; } .b, .c { x: 1; } .d .e { x: 1; } /* .f { } */ @media print { .g { x: 1; } .h { x: 1; } } .i:hover { x: 1; }",
    ),
  ]).toEqual(["a", "b", "c"]);
});

it("has one sheet for each class: sheets come later than others, and would change what these look like", () => {
  const owners = new Map<string, string[]>();
  for (const [path, sheet] of Object.entries(SHEETS))
    for (const name of styled(sheet)) owners.set(name, [...(owners.get(name) ?? []), path]);
  expect(owners.size).toBeGreaterThan(300);
  expect([...owners].filter(([, paths]) => paths.length > 1)).toEqual([]);
});
