import { describe, expect, it } from "vitest";
import { csv, csvField, fileName, markdown, nameFilesAfter, savedAs, tsv } from "./csv";

describe("csvField", () => {
  it.each([
    ["plain", "plain"],
    ['say "hi"', '"say ""hi"""'],
    ["a,b", '"a,b"'],
    ["two\nlines", '"two\nlines"'],
    ["=1+1", "'=1+1"],
    ["+cmd", "'+cmd"],
    ["-2", "'-2"],
    ["1;+2.5e-3;-7", "1;+2.5e-3;-7"],
    [";=1", "';'=1"],
    ["a;=1", "a;'=1"],
    ["a\n@x", `"a\n'@x"`],
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

it("writes cells apart by tabs, each in one cell and none a formula", () =>
  expect(
    tsv(
      ["a", "b"],
      [
        ["x\ty", "=1"],
        [null, -2],
      ],
    ),
  ).toBe("a\tb\nx y\t'=1\n\t-2\n"));

it("writes Markdown in which no text ends a cell or begins a tag", () =>
  expect(markdown(["a"], [["f<int> | g\nh"]])).toBe("| a |\n| --- |\n| f\\<int> \\| g h |\n"));

it("names files after what is shown", () => {
  nameFilesAfter("my run", "rank 0", "operator", "steps_3-7");
  expect(savedAs("Operators.csv")).toBe("my_run_rank_0_operator_steps_3-7_Operators.csv");
});
