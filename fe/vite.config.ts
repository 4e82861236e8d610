import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  // Everything is fetched relative to the module, because TensorBoard may serve the plugin under any prefix.
  base: "./",
  publicDir: false,
  build: {
    target: "es2022",
    outDir: here("../torch_tb_profiler/static"),
    emptyOutDir: true,
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: { index: here("src/main.ts") },
      // TensorBoard imports index.js and calls its `render`; so its exports must stay.
      preserveEntrySignatures: "strict",
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
});
