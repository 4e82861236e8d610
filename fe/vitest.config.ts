import { configDefaults, defineConfig } from "vitest/config";
import { oxc } from "./vite.config.ts";

/** Tests that put another module in the place of one, or style sheets into the document. */
const ALONE = ["src/app/show.test.ts", "src/views/views.test.tsx"];

export default defineConfig({
  oxc,
  test: {
    environment: "happy-dom",
    restoreMocks: true,
    unstubGlobals: true,
    // Against tests without an end; how fast the machine is decides nothing.
    testTimeout: 60_000,
    setupFiles: ["scripts/define.mjs"],
    // Otherwise style sheets are empty, and the contrast of their colours is tested.
    css: true,
    pool: "threads",
    projects: [
      // Documents and modules of their own would be four fifths of the work.
      {
        extends: true,
        test: {
          name: "together",
          isolate: false,
          include: ["src/**/*.test.{ts,tsx}", "scripts/**/*.test.mjs"],
          exclude: [...configDefaults.exclude, ...ALONE],
        },
      },
      { extends: true, test: { name: "alone", include: ALONE } },
    ],
  },
});
