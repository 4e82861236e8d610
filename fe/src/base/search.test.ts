import { describe, expect, it } from "vitest";
import { compileSearch, matchAll } from "./search";

const found = (text: string, regex: boolean, names: string[]): string[] | string => {
  const { flags, error } = matchAll(names, compileSearch(text, regex));
  return error ?? names.filter((_, i) => flags[i]);
};

const NAMES = ["aten::conv2d", "aten::add_", "Conv2dBackward", "void gemm<float>"];

describe("plain", () => {
  it("needs every word, in any order and case", () =>
    expect(found("BACK conv", false, NAMES)).toEqual(["Conv2dBackward"]));
  it("takes signs literally", () =>
    expect(found("gemm<float>", false, NAMES)).toEqual(["void gemm<float>"]));
  it("matches all when empty", () => expect(found("  ", false, NAMES)).toEqual(NAMES));
});

describe("regular expression", () => {
  it("matches anywhere, case ignored", () =>
    expect(found("^aten::.*d", true, NAMES)).toEqual(["aten::conv2d", "aten::add_"]));
  it("takes several wildcards apart", () =>
    expect(found("a.*conv.*2d$", true, NAMES)).toEqual(["aten::conv2d"]));
  it("says what is wrong", () =>
    expect(found("(", true, NAMES)).toMatch(/^Invalid regular expression: /));
  it.each(["(a+)+$", "(a*)*b", "(x|x)*y", "(.*)*", ".*.*.*=", "a.*b.*c.*d.*e.*f"])(
    "refuses %s, which can take forever",
    (pattern) => {
      expect(found(pattern, true, ["a".repeat(40)])).toMatch(/forever/);
    },
  );
  it("refuses endless patterns", () =>
    expect(found("a".repeat(201), true, NAMES)).toMatch(/longer than 200/));
  it("stops when it takes too long, and then hides nothing", () => {
    let clock = 0;
    const names = Array.from({ length: 1000 }, (_, i) => `${i}`);
    const { flags, error } = matchAll(names, compileSearch("7", true), () => (clock += 300));
    expect(error).toMatch(/takes too long/);
    expect(flags.every((flag) => flag === 1)).toBe(true);
  });
});
