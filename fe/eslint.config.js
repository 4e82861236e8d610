import eslint from "@eslint/js";
import hooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";
import layers from "./scripts/layers.mjs";

export default tseslint.config(
  { ignores: ["node_modules", "coverage", "src/**/*.gen.ts"] },
  eslint.configs.recommended,
  {
    files: ["src/**/*.{ts,tsx}", "tests/**/*.{ts,tsx}"],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    plugins: { "react-hooks": hooks },
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      "react-hooks/rules-of-hooks": "error",
      "react-hooks/exhaustive-deps": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      // An empty text often means "not given", for which || is right.
      "@typescript-eslint/prefer-nullish-coalescing": [
        "error",
        { ignorePrimitives: { string: true } },
      ],
      "@typescript-eslint/no-unused-vars": [
        "error",
        { varsIgnorePattern: "^_", argsIgnorePattern: "^_" },
      ],
      "@typescript-eslint/no-non-null-assertion": "error",
      "@typescript-eslint/consistent-type-definitions": ["error", "interface"],
      // Preact's own types mark things deprecated that the DOM still needs.
      "@typescript-eslint/no-deprecated": "off",
      "max-lines": ["error", 700],
      "max-lines-per-function": [
        "error",
        { max: 60, IIFEs: true, skipBlankLines: true, skipComments: true },
      ],
      eqeqeq: "error",
      "no-console": "error",
    },
  },
  {
    // Markup takes a line for each attribute.
    files: ["src/**/*.tsx"],
    rules: { "max-lines-per-function": ["error", { max: 110, IIFEs: true }] },
  },
  {
    files: ["**/*.test.{ts,tsx}", "**/*fixtures.ts", "src/testing/**"],
    rules: { "max-lines-per-function": "off", "@typescript-eslint/no-non-null-assertion": "off" },
  },
  ...layers,
  { files: ["*.ts"], extends: [...tseslint.configs.recommended] },
  {
    files: ["scripts/*.mjs", "*.js", "*.ts"],
    languageOptions: {
      globals: {
        process: "readonly",
        console: "readonly",
        URL: "readonly",
        setTimeout: "readonly",
        Buffer: "readonly",
      },
    },
    rules: { "max-lines": ["error", 700], "no-console": "off" },
  },
);
