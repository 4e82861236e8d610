/** Prints every phrase that the page's sources hold, as a JSON array: texts of elements, and literals outside imports, types and classes. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

const SILENT = new Set([
  "class",
  "className",
  "d",
  "style",
  "points",
  "transform",
  "viewBox",
  "key",
]);
const phrases = new Set();

/** A node's text; what is computed is `{}`. */
function text(node) {
  if (ts.isJsxText(node)) return node.text.replace(/\s+/g, " ");
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map((span) => `{}${span.literal.text}`).join("");
  }
  if (ts.isJsxExpression(node)) {
    if (!node.expression) return "";
    return ts.isStringLiteralLike(node.expression) ? node.expression.text : "{}";
  }
  return (node.children ?? []).map(text).join("");
}

function visit(node) {
  if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return;
  if (ts.isJsxAttribute(node) && SILENT.has(node.name.getText())) return;
  const element = ts.isJsxElement(node) || ts.isJsxFragment(node);
  const written =
    element && node.children.some((child) => ts.isJsxText(child) && child.text.trim());
  if (written || ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
    phrases.add(text(node).trim());
  }
  ts.forEachChild(node, visit);
}

const folder = join(import.meta.dirname, "../src");
for (const name of readdirSync(folder, { recursive: true })) {
  if (!/\.tsx?$/.test(name) || /\.test\.|\.gen\.|fixtures/.test(name)) continue;
  const source = readFileSync(join(folder, name), "utf-8");
  visit(ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true));
}
console.log(JSON.stringify([...phrases].sort()));
