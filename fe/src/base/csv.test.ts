import { describe, expect, it } from "vitest";
import { csv, csvField, fileName } from "./csv";

describe("csvField", () => {
  it.each([
    ["plain", "plain"],
    ['say "hi"', '"say ""hi"""'],
    ["a,b", '"a,b"'],
    ["two\nlines", '"two\nlines"'],
    ["=1+1", "'=1+1"],
    ["+cmd", "'+cmd"],
    ["-2", "'-2"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\tx", "'\tx"],
    ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
  ])("writes %j as %j", (value, field) => expect(csvField(value)).toBe(field));

  it("leaves numbers as they are and unknown empty", () => {
    expect([-5, 1.5, NaN, null, undefined, true].map(csvField)).toEqual([
      "-5",
      "1.5",
      "",
      "",
      "",
      "true",
    ]);
  });
});

it("ends lines by CRLF", () => expect(csv(["a", "b"], [[1, "x,y"]])).toBe('a,b\r\n1,"x,y"\r\n'));

it("makes file names that every system takes", () => {
  expect(fileName("run/α", "top: 10?")).toBe("run_α_top_10");
  expect(fileName("..", "")).toBe("table");
});
