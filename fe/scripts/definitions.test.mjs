import { describe, expect, it } from "vitest";
import { generate, parseDefinitions } from "./definitions.mjs";

describe("parseDefinitions", () => {
  it("takes the heading and the first paragraph, without markdown", () => {
    const text =
      "# Title\n\nIntro\n\n### host_self — Host self time\nTime in the operator `itself`,\nwithout **children** ([why](x.md)).\n\nFormula: a − b\n\n### b — B\n\nOne line.\n";
    expect(parseDefinitions(text)).toEqual([
      {
        key: "host_self",
        label: "Host self time",
        text: "Time in the operator itself, without children (why).",
      },
      { key: "b", label: "B", text: "One line." },
    ]);
  });

  it("keeps stars that multiply", () => {
    expect(parseDefinitions("### a — A\nx * y * z\n")[0].text).toBe("x * y * z");
  });

  it.each([
    ["### a — A\n\n### b — B\ntext\n", /line 1: a has no sentence/],
    ["### a — A\n- a list\n", /a has no sentence/],
    ["### a — A\ntext\n\n### a — A\ntext\n", /a is defined twice/],
    ["### A heading\ntext\n", /expected "### key — Label"/],
  ])("says what is wrong", (text, message) => {
    expect(() => parseDefinitions(text)).toThrow(message);
  });

  it("writes an entry per line", () => {
    const entries = [
      { key: "a", label: 'the "A"', text: "b\\c" },
      { key: "b", label: "B", text: "d" },
    ];
    expect(JSON.parse(generate(entries))).toEqual(entries);
    expect(generate(entries).split("\n").length).toBe(5);
  });
});
