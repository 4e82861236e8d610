import { defineConfig } from "vitest/config";
import { oxc } from "./vite.config.ts";

export default defineConfig({
  oxc,
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}", "scripts/**/*.test.mjs"],
    restoreMocks: true,
    // Against tests without an end; how fast the machine is decides nothing.
    testTimeout: 60_000,
    setupFiles: ["scripts/define.mjs"],
    // Otherwise style sheets are empty, and the contrast of their colours is tested.
    css: true,
  },
});
