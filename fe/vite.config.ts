import { fileURLToPath } from "node:url";
import { minify } from "terser";
import { defineConfig, type Plugin } from "vite";
import { notices } from "./scripts/notices.mjs";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Elements are made by `h`, whose children are arguments: with `jsx` and its `children` property the bundle is one per cent larger. */
export const oxc = {
  // Not for development: places in the source would be properties of each element, other ones at each drawing.
  jsx: { runtime: "classic", pragma: "element", pragmaFrag: "Fragments", development: false },
  jsxInject: 'import { h as element, Fragment as Fragments } from "preact";',
} as const;

/** The page as TensorBoard serves it. */
const served = {
  input: { index: here("src/main.ts") },
  // TensorBoard imports index.js and calls its `render`, so that must stay. What else the later file needs of the first page is exported beside it:
  // in a file of its own it would be fetched in a second round, and compress worse.
  preserveEntrySignatures: "allow-extension",
  output: {
    entryFileNames: "[name].js",
    chunkFileNames: "assets/[name]-[hash].js",
    assetFileNames: "assets/[name]-[hash][extname]",
  },
} as const;

/** After the bundler's own minifier terser still finds one per cent; instead of it, it finds less. */
const minifiedAgain: Plugin = {
  name: "minified-again",
  async generateBundle(_, bundle) {
    for (const file of Object.values(bundle))
      if (file.type === "chunk") {
        const made = await minify(file.code, {
          module: true,
          ecma: 2020,
          compress: {
            ...{ passes: 3, pure_getters: true, unsafe: true, keep_fargs: false },
            ...{ unsafe_arrows: true, unsafe_methods: true },
          },
        });
        file.code = made.code ?? file.code;
      }
  },
};

/** One file comes later, and nothing with it that could be fetched ahead: the helper for that would be half a kilobyte of the first page. */
const noPreload: Plugin = {
  name: "no-preload",
  enforce: "pre",
  load: {
    filter: { id: /\0vite\/preload-helper/ },
    handler: () => "export const __vitePreload = (load) => load();",
  },
};

/** The page in one piece, for the one file of `torch-tb-profiler report`: a document from a disk cannot import another module. */
const report = {
  input: { report: here("src/report.ts") },
  output: { entryFileNames: "[name].js", codeSplitting: false },
} as const;

export default defineConfig(({ mode }) => ({
  // Everything is fetched relative to the module, because TensorBoard may serve the plugin under any prefix.
  base: "./",
  publicDir: false,
  plugins: [
    noPreload,
    minifiedAgain,
    notices({ modules: here("node_modules"), within: mode === "report" }),
  ],
  oxc,
  build: {
    target: "es2022",
    outDir: here("../torch_tb_profiler/static"),
    // The report is built last, beside the page.
    emptyOutDir: mode !== "report",
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: mode === "report" ? report : served,
  },
}));
