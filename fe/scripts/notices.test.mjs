import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { noticesOf } from "./notices.mjs";

let modules;

const write = (path, text) => {
  mkdirSync(dirname(join(modules, path)), { recursive: true });
  writeFileSync(join(modules, path), text);
};
const pack = (name, version, licence, text) => {
  write(`${name}/package.json`, JSON.stringify({ name, version, license: "MIT" }));
  if (text) write(`${name}/${licence}`, text);
};

beforeEach(() => (modules = join(mkdtempSync(join(tmpdir(), "notices-")), "node_modules")));
afterEach(() => rmSync(dirname(modules), { recursive: true }));

describe("the notices of a bundle", () => {
  it("are those of the packages that are in it, each once", () => {
    pack("drawn", "1.2.3", "LICENSE", "Copyright A");
    pack("@some/thing", "4.0.0", "licence.md", "Copyright B");
    pack("unused", "1.0.0", "LICENSE", "Copyright C");
    const ids = [
      join(modules, "drawn/dist/drawn.mjs"),
      join(modules, "drawn/hooks/index.js?used"),
      join(modules, "@some/thing/index.js"),
      join(dirname(modules), "src/main.ts"),
      "\0some/plugin.js",
    ];
    expect(noticesOf(ids, modules)).toEqual([
      { name: "@some/thing", version: "4.0.0", text: "@some/thing 4.0.0 (MIT)\n\nCopyright B\n" },
      { name: "drawn", version: "1.2.3", text: "drawn 1.2.3 (MIT)\n\nCopyright A\n" },
    ]);
  });

  it("skips package.json files that only say how a folder is read", () => {
    pack("drawn", "1.2.3", "LICENSE", "Copyright A");
    write("drawn/dist/package.json", '{"type":"module"}');
    expect(noticesOf([join(modules, "drawn/dist/x.js")], modules)).toHaveLength(1);
  });

  it("name the bundler for what it adds", () => {
    pack("vite", "8.0.0", "LICENSE.md", "Copyright V\n# Licenses of bundled dependencies\nothers");
    const [notice] = noticesOf(["\0vite/preload-helper.js"], modules);
    expect(notice.text).toBe("vite 8.0.0 (MIT)\n\nCopyright V\n");
  });

  it("end the build where a package brings no licence", () => {
    pack("bare", "1.0.0");
    expect(() => noticesOf([join(modules, "bare/index.js")], modules)).toThrow(
      "without its licence",
    );
  });
});
