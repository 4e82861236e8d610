import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The page in one piece, for the one file of `torch-tb-profiler report`: a document from a disk cannot import another module. */
export default defineConfig({
  base: "./",
  publicDir: false,
  build: {
    target: "es2022",
    outDir: here("../torch_tb_profiler/static"),
    // The page that TensorBoard serves lies there already.
    emptyOutDir: false,
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: { report: here("src/report.ts") },
      output: { entryFileNames: "[name].js", codeSplitting: false },
    },
  },
});
