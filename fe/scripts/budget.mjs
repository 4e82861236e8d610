/** Says how large the built page is, and fails when the first page or the whole is larger than its budget (docs/decisions/choices.md). */

import { readdirSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { exit } from "node:process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

/** What is loaded before anything is drawn, and everything. */
const FIRST = 80 * 1024;
const WHOLE = 185 * 1024;
/** `import … from "./x.js"` and `import "./x.js"` of minified text; `import(…)` is for later. */
const STATIC = /(?:\bfrom|\bimport)\s*["'`](\.[^"'`]+\.js)["'`]/g;

const folder = fileURLToPath(new URL("../../torch_tb_profiler/static", import.meta.url));
const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
  entry.isFile(),
);
/** The page of `torch-tb-profiler report` in one piece, and notices: they lie on a disk and are never sent. */
const unsent = (name) => name === "report.js" || name.endsWith(".txt");
const paths = files
  .filter((entry) => !unsent(entry.name))
  .map((entry) => resolve(entry.parentPath, entry.name));
const packed = (path) => gzipSync(readFileSync(path), { level: 9 }).length;
const sum = (some) => [...some].reduce((total, path) => total + packed(path), 0);

/** The files that a file needs before it runs, itself included. */
function needed(path, seen = new Set()) {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const [, target] of readFileSync(path, "utf8").matchAll(STATIC))
    needed(resolve(dirname(path), target), seen);
  return seen;
}

const first = needed(resolve(folder, "index.js"));
const sizes = { "first page": [sum(first), FIRST], "whole bundle": [sum(paths), WHOLE] };
for (const [name, [size, limit]] of Object.entries(sizes))
  console.log(`${name}: ${(size / 1024).toFixed(1)} KiB gzipped of ${limit / 1024}`);
for (const path of paths.filter((path) => !first.has(path)))
  console.log(`  later: ${(packed(path) / 1024).toFixed(1)} KiB ${relative(folder, path)}`);
exit(Object.values(sizes).some(([size, limit]) => size > limit) ? 1 : 0);
