import { describe, expect, it } from "vitest";
import { compileSearch, matchAll } from "./search";
import { readableShapes } from "./shapes";

describe("readableShapes", () => {
  it.each([
    ["[[32,3,224,224],[],[64]]", "32×3×224×224, –, 64"],
    ["[[[2,3],[4]],[1]]", "(2×3, 4), 1"],
    ["[]", "–"],
    ["[[2],[],[3],[],[]]", "2, –, 3, –, –"],
    ['[""]', "–"],
    ["not json <img src=x>", "not json <img src=x>"],
    ['{"a":1}', '{"a":1}'],
    [null, ""],
  ])("%s", (json, text) => expect(readableShapes(json)).toBe(text));
});

type Shapes = readonly (readonly number[])[];

/** A list of shapes as PyTorch prints it, as JSON, with blanks inside, as the page shows it, and without its outer brackets. */
function spellings(shapes: Shapes): string[] {
  const json = JSON.stringify(shapes);
  const printed = json.replaceAll(",", ", ");
  return [
    json,
    printed,
    printed.replaceAll("[", "[ ").replaceAll("]", " ]"),
    readableShapes(json),
    readableShapes(json).replaceAll(" ", ""),
    printed.slice(1, -1),
  ];
}

const found = (search: string, values: readonly string[]): number[] => {
  const { flags, error } = matchAll(values, compileSearch(search, false));
  expect(error).toBeNull();
  return [...flags.keys()].filter((row) => flags[row]);
};

/** Whether `part` stands in `whole`, argument by argument. */
const holds = (whole: Shapes, part: Shapes): boolean =>
  whole.some((_, at) => part.every((shape, i) => whole[at + i]?.join() === shape.join()));

describe("a search for shapes", () => {
  let seed = 7;
  const below = (limit: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * limit);
  };
  const shape = (most: number): number[] =>
    Array.from({ length: below(most) }, () => [1, 3, 13, 32, 132, 256][below(6)] ?? 1);

  it("finds the same rows in every spelling: those with these whole shapes side by side", () => {
    const lists = Array.from({ length: 60 }, () =>
      Array.from({ length: below(5) }, () => shape(4)),
    );
    const values = lists.map((list) => JSON.stringify(list));
    for (const list of lists) {
      const begin = below(Math.max(1, list.length));
      const part = list.slice(begin, begin + 1 + below(3));
      // Without a shape of two sizes or more the text that the page shows is a number, or a dash.
      if (!part.some((sizes) => sizes.length > 1)) continue;
      const right = [...lists.keys()].filter((row) => holds(lists[row] ?? [], part));
      for (const text of spellings(part))
        expect([text, found(text, values)]).toEqual([text, right]);
    }
  });

  it("finds what a shape that is being typed begins", () => {
    const values = ["[[32,256,56,56]]", "[[132,256]]", "[[32,2]]"];
    expect(found("[32, 256", values)).toEqual([0]);
    expect(found("32×256×", values)).toEqual([0]);
    expect(found("[32, ", values)).toEqual([0, 2]);
  });

  it("tells lists in lists apart, and finds names with brackets as they stand", () => {
    const values = ["[[[2,3],[4]],[1]]", "[[2,3],[5]]", "state[0] of [4, 3]"];
    expect(found("(2×3, 4)", values)).toEqual([0]);
    expect(found("[[2, 3], [4]]", values)).toEqual([0]);
    expect(found("[]", ["[[2],[]]", "[[2]]"])).toEqual([0]);
    expect(found("state[0]", values)).toEqual([2]);
    expect(found("of [4,3]", values)).toEqual([2]);
  });
});
