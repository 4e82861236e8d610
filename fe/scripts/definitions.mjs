/**
 * Makes torch_tb_profiler/views/definitions.json, which the page asks the server for, from docs/definitions.md; with --check only says whether it is up
 * to date.
 *
 * An entry is a heading `### key — Label` and its first paragraph.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";

const SOURCE = new URL("../../docs/definitions.md", import.meta.url);
const TARGET = new URL("../../torch_tb_profiler/views/definitions.json", import.meta.url);
const HEADING = /^### +([a-z][a-z0-9_]*) +[—–-] +(.+?) *$/;
/** What is no paragraph: a heading, a list, a quote, a table, code. */
const NO_TEXT = /^(#|[-*+] |\d+\. |>|\||```)/;

/** Markdown's signs away, text kept. */
function plain(text) {
  return text
    .replace(/`([^`]*)`/g, "$1")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\*\*([^*]+)\*\*/g, "$1")
    .replace(/(?<![\w*])\*([^*\s]|[^*\s][^*]*[^*\s])\*(?![\w*])/g, "$1")
    .replace(/\s+/g, " ")
    .trim();
}

/** `[{key, label, text}]` in the order of the document; throws on an entry without a text, a key twice, or a heading of another shape. */
export function parseDefinitions(markdown) {
  const lines = markdown.split(/\r?\n/);
  const found = [];
  const seen = new Set();
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i];
    if (!line.startsWith("### ")) continue;
    const heading = HEADING.exec(line);
    if (!heading) throw new Error(`line ${i + 1}: expected "### key — Label", found "${line}"`);
    const [, key, label] = heading;
    if (seen.has(key)) throw new Error(`line ${i + 1}: ${key} is defined twice`);
    seen.add(key);
    let next = i + 1;
    while (next < lines.length && lines[next].trim() === "") next++;
    const paragraph = [];
    for (; next < lines.length && lines[next].trim() !== "" && !NO_TEXT.test(lines[next]); next++)
      paragraph.push(lines[next]);
    if (paragraph.length === 0) throw new Error(`line ${i + 1}: ${key} has no sentence`);
    found.push({ key, label: plain(label), text: plain(paragraph.join(" ")) });
  }
  return found;
}

/** The JSON file, an entry per line. */
export function generate(definitions) {
  return `[\n${definitions.map((entry) => JSON.stringify(entry)).join(",\n")}\n]\n`;
}

function main() {
  const wanted = generate(parseDefinitions(readFileSync(SOURCE, "utf8")));
  const path = fileURLToPath(TARGET);
  let found = "";
  try {
    found = readFileSync(path, "utf8");
  } catch {
    // Not there yet.
  }
  if (found === wanted) return 0;
  if (argv.includes("--check")) {
    console.error(
      "torch_tb_profiler/views/definitions.json does not fit docs/definitions.md: run `npm run generate` in fe/.",
    );
    return 1;
  }
  writeFileSync(path, wanted);
  console.log(`wrote ${path}`);
  return 0;
}

if (argv[1] === fileURLToPath(import.meta.url)) exit(main());
