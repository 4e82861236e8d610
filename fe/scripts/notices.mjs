import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";

/** Modules that the bundler itself adds, by the begin of their ids. */
const HELPERS = { "\0vite/": "vite", "\0rolldown/": "rolldown" };
const LICENCE = /^(licen[cs]e|copying|notice)(\.(md|txt))?$/i;
/** Vite's file goes on with the licences of what vite is built from, none of which is in a page. */
const REST = "\n# Licenses of bundled dependencies";

/** The folder of the package that a module belongs to; none for our own. */
export function folderOf(id, modules) {
  const helper = Object.keys(HELPERS).find((begin) => id.startsWith(begin));
  if (helper) return join(modules, HELPERS[helper]);
  if (!id.includes("node_modules/")) return undefined;
  let folder = dirname(id.split("?")[0].replace(/^\0/, ""));
  while (!existsSync(join(folder, "package.json")) || !manifest(folder).version)
    folder = dirname(folder);
  return folder;
}

const manifest = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

/** The notice of a package: its name, version and licence, and the text that must come with every copy. */
export function noticeOf(folder) {
  const { name, version, license } = manifest(folder);
  const files = readdirSync(folder).filter((file) => LICENCE.test(file));
  if (files.length === 0) throw new Error(`${name} ${version} comes without its licence`);
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8").split(REST)[0].trim());
  return { name, version, text: [`${name} ${version} (${license})`, ...texts].join("\n\n") + "\n" };
}

/** The notices of all packages of which something is in a bundle, by name. */
export function noticesOf(ids, modules) {
  const folders = new Set(ids.map((id) => folderOf(id, modules)).filter((folder) => folder));
  return [...folders].map(noticeOf).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Puts a file `notices/NAME.txt` beside the bundle for each package that is in it. With `within` the
 * notices also stand in each script, as a comment, since it is copied without the files beside it.
 */
export function notices({ modules, within }) {
  return {
    name: "notices",
    generateBundle: {
      // After what shortens the scripts and drops comments.
      order: "post",
      handler(_, bundle) {
        const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
        const found = noticesOf(
          chunks.flatMap((chunk) => chunk.moduleIds),
          modules,
        );
        for (const { name, text } of found)
          this.emitFile({
            type: "asset",
            fileName: `notices/${name.replace("@", "").replace("/", "-")}.txt`,
            source: text,
          });
        const comment = found.map(({ text }) => text.replaceAll("*/", "* /")).join("\n");
        if (within) for (const chunk of chunks) chunk.code = `/*! ${comment}*/\n${chunk.code}`;
      },
    },
  };
}
