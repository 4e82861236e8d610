/** The page's rooms and which others each may import (docs/architecture.md), as eslint's settings. */

import packageJson from "../package.json" with { type: "json" };

const ROOMS = {
  base: [],
  api: ["base"],
  state: ["base", "api"],
  widgets: ["base"],
  timeline: ["base", "widgets"],
  views: ["base", "api", "state", "widgets", "timeline"],
  app: ["base", "api", "state", "widgets", "timeline", "views"],
};
const names = Object.keys(ROOMS);
const packages = Object.keys(packageJson.dependencies);
const TESTS = ["src/**/*.test.{ts,tsx}", "src/**/*fixtures.ts"];
/** Recorded replies, and a view beside a server of them: for tests alone, which may be of any room. */
const TESTING = "testing";

/** However it is imported: any text that leads by `../` into another room. (`\u002F` is a slash, which a selector cannot hold.) */
function imports(room, ...also) {
  const forbidden = [...names, TESTING, "main", "report"].filter(
    (other) => other !== room && !ROOMS[room].includes(other) && !also.includes(other),
  );
  return {
    selector: `Literal[value=/^(\\.\\.\\u002F)+(${forbidden.join("|")})(\\u002F|\\.|$)/]`,
    message: `${room} may import ${ROOMS[room].join(", ") || "no other room"}.`,
  };
}

const undeclared = {
  selector: `:matches(ImportDeclaration, ImportExpression, ExportNamedDeclaration, ExportAllDeclaration) > Literal.source[value=/^(?!\\.|(${packages.join("|")})(\\u002F|$))/]`,
  message: "fe/package.json does not declare this package among its dependencies.",
};
const unknown = {
  selector: "Program",
  message: "This folder is no room of fe/scripts/layers.mjs.",
};
/** Names of a trace are text wherever they stand: no markup is made of a text. */
const markup = [
  "JSXAttribute[name.name='dangerouslySetInnerHTML']",
  "AssignmentExpression[left.property.name=/^(inner|outer)HTML$/]",
  "CallExpression[callee.property.name=/^(insertAdjacentHTML|createContextualFragment)$/]",
  "CallExpression[callee.object.name='document'][callee.property.name=/^write/]",
].map((selector) => ({ selector, message: "Draw names as text, never as markup." }));
const restrict = (files, ignores, ...selectors) => ({
  files,
  ignores,
  rules: { "no-restricted-syntax": ["error", ...markup, ...selectors] },
});

export default [
  restrict(
    ["src/*/**"],
    [...names, TESTING].map((room) => `src/${room}/**`),
    unknown,
  ),
  restrict(["src/*.{ts,tsx}"], TESTS, undeclared),
  ...names.flatMap((room) => [
    restrict([`src/${room}/**`], [], imports(room, TESTING)),
    restrict([`src/${room}/**`], TESTS, imports(room), undeclared),
  ]),
];
