import { Linter } from "eslint";
import tseslint from "typescript-eslint";
import { describe, expect, it } from "vitest";
import layers from "./layers.mjs";

const parser = { files: ["**/*.{ts,tsx}"], languageOptions: { parser: tseslint.parser } };

/** What eslint says of a file with this text. */
const complaints = (filename, text) =>
  new Linter().verify(text, [parser, ...layers], { filename }).map((problem) => problem.message);

describe("the page's layers", () => {
  it.each([
    'import { Store } from "../state/store";',
    'import type { Store } from "../state/store";',
    'export { Store } from "../state/store";',
    'export * from "../state/store";',
    'import "../state/store";',
    'import style from "../state/store.css?inline";',
    'const store = await import("../state/store");',
    'type S = import("../state/store").Store;',
    'new Worker(new URL("../state/store.ts", import.meta.url));',
    'import { state } from "../state";',
    'import { render } from "../main";',
  ])("finds an upward import however it is written: %s", (line) => {
    expect(complaints("src/widgets/grid.tsx", line)).toEqual(["widgets may import base."]);
    expect(complaints("src/widgets/charts/x.test.ts", line.replace("../", "../../"))).toHaveLength(
      1,
    );
  });

  it.each([
    ["src/views/overview/view.tsx", 'import { Grid } from "../../widgets/grid";'],
    ["src/views/overview/view.tsx", 'import { h } from "preact";\nimport "preact/hooks";'],
    ["src/widgets/grid.tsx", '// import x from "../state/store";\nimport "./state";'],
    ["src/main.ts", 'import "./app/shell";\nsetBase(new URL("../", here));'],
    ["src/base/x.test.ts", 'import { it } from "vitest";'],
    ["src/views/overview/view.test.tsx", 'import { reply } from "../../testing/replies";'],
  ])("lets pass what is allowed: %s %s", (path, text) => {
    expect(complaints(path, text)).toEqual([]);
  });

  it.each([
    ["src/utils/x.ts", "", /no room/],
    ["src/base/x.ts", 'import _ from "lodash/fp";', /does not declare/],
    ["src/base/x.ts", 'import { x } from "preactive";', /does not declare/],
    ["src/views/x.ts", 'import { reply } from "../testing/replies";', /views may import/],
    ["src/main.ts", 'const x = await import("@scope/scale");', /does not declare/],
  ])("finds rooms and packages that nobody declared: %s %s", (path, text, message) => {
    expect(complaints(path, text)).toEqual([expect.stringMatching(message)]);
  });
});
