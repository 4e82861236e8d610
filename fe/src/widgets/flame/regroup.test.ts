import { describe, expect, it } from "vitest";
import {
  calleesOf,
  callersOf,
  keysOf,
  mergeFrames,
  namesOf,
  ownOf,
  type Regrouped,
  sumsOf,
} from "./regroup";

//  0 net [100]
//  1   Linear_0 [30]
//  2     mm [20]
//  3   Linear_1 [40]
//  4     mm [25]
//  5       mm [5]
//  6   mm [10]
const NAMES = ["net", "Linear_0", "mm", "Linear_1", "mm", "mm", "mm"];
const PARENT = [-1, 0, 1, 0, 3, 4, 0];
const VALUE = [100, 30, 20, 40, 25, 5, 10];
const merged = (name: string): string => name.replace(/_\d+$/, "");
const KEY = keysOf(NAMES.map(merged));
const TREE = { parent: PARENT, key: KEY };
const MM = KEY[2]!;

/** Each frame by the names that lead to it, with its time. */
function drawn(regrouped: Regrouped, names = NAMES, value: (number | null)[] = VALUE) {
  const paths: string[] = [];
  const sums = sumsOf(regrouped, value);
  regrouped.parent.forEach((up, node) =>
    paths.push(`${up < 0 ? "" : `${paths[up]}/`}${merged(names[regrouped.source[node]!]!)}`),
  );
  return Object.fromEntries(paths.map((path, node) => [path, sums[node]]));
}

describe("mergeFrames", () => {
  it("puts layers of a class into one frame, with how many they were and the widest as their example", () => {
    const result = mergeFrames(TREE, VALUE, false);
    expect(drawn(result)).toEqual({
      net: 100,
      "net/Linear": 70,
      "net/Linear/mm": 45,
      "net/Linear/mm/mm": 5,
      "net/mm": 10,
    });
    expect(namesOf(result, NAMES)).toEqual([1, 2, 1, 1, 1]);
    expect(result.source).toEqual([0, 3, 4, 5, 6]);
  });

  it("lets direct recursion join the frame around it, whose time holds it already", () => {
    expect(drawn(mergeFrames(TREE, VALUE, true))).toEqual({
      net: 100,
      "net/Linear": 70,
      "net/Linear/mm": 45,
      "net/mm": 10,
    });
  });
});

it("callersOf divides a frame's time by the ways that lead to it, recursion counted once", () => {
  expect(drawn(callersOf(TREE, VALUE, MM))).toEqual({
    mm: 55,
    "mm/Linear": 45,
    "mm/Linear/net": 45,
    "mm/net": 10,
  });
});

it("calleesOf holds what a frame calls from wherever it is called", () => {
  expect(drawn(calleesOf(TREE, VALUE, MM))).toEqual({ mm: 55, "mm/mm": 5 });
  expect(drawn(calleesOf(TREE, VALUE, KEY[1]!))).toEqual({
    Linear: 70,
    "Linear/mm": 45,
    "Linear/mm/mm": 5,
  });
});

it("unknown times stay unknown, and a key that is nowhere has no frames", () => {
  expect(sumsOf(mergeFrames(TREE, VALUE, false), [null, null, 1, null, 2, 3, 4])).toEqual([
    null,
    null,
    3,
    3,
    4,
  ]);
  expect(callersOf(TREE, VALUE, 99).parent).toEqual([]);
  expect([...ownOf(PARENT, VALUE)]).toEqual([20, 10, 20, 15, 20, 5, 10]);
});

function randomTree(count: number, names: number) {
  let seed = 11;
  const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const parent = Array.from({ length: count }, (_, i) =>
    random() < 0.02 || i === 0 ? -1 : Math.max(0, i - 1 - Math.floor(random() * 8)),
  );
  const name = parent.map(() => `f${Math.floor(random() * names)}`);
  const own = parent.map(() => Math.floor(random() * 100));
  const value = [...own];
  for (let row = count - 1; row >= 0; row--) {
    const up = parent[row]!;
    if (up >= 0) value[up]! += value[row]!;
  }
  return { parent, name, own, value };
}

it("agrees with samples taken one by one, as speedscope counts them", () => {
  const { parent, name, own, value } = randomTree(400, 12);
  const key = keysOf(name);
  const stackOf = (row: number): string[] =>
    row < 0 ? [] : [...stackOf(parent[row]!), name[row]!];
  const tally = (stacks: [string[], number][]): Record<string, number> => {
    const sums: Record<string, number> = {};
    for (const [stack, weight] of stacks)
      stack.forEach((_, i) => {
        const path = stack.slice(0, i + 1).join("/");
        sums[path] = (sums[path] ?? 0) + weight;
      });
    return sums;
  };
  const samples = own.map((weight, row): [string[], number] => [stackOf(row), weight]);
  const tree = { parent, key };
  const got = (result: Regrouped): ReturnType<typeof drawn> => drawn(result, name, value);
  expect(got(mergeFrames(tree, value, false))).toEqual(tally(samples));
  const folded = samples.map(([stack, weight]): [string[], number] => [
    stack.filter((text, i) => text !== stack[i - 1]),
    weight,
  ]);
  expect(got(mergeFrames(tree, value, true))).toEqual(tally(folded));
  for (const focus of new Set(name)) {
    const through = samples.filter(([stack]) => stack.includes(focus));
    expect(got(calleesOf(tree, value, key[name.indexOf(focus)]!))).toEqual(
      tally(through.map(([stack, weight]) => [stack.slice(stack.indexOf(focus)), weight])),
    );
    expect(got(callersOf(tree, value, key[name.indexOf(focus)]!))).toEqual(
      tally(
        through.map(([stack, weight]) => [
          stack.slice(0, stack.indexOf(focus) + 1).reverse(),
          weight,
        ]),
      ),
    );
  }
});

/** How often the frames are read while they are regrouped, which is a measure of time that no other work on the machine changes. */
function readsOf(frames: number): number {
  let reads = 0;
  const counted = (column: number[]): number[] =>
    new Proxy(column, { get: (own, at) => (reads++, Reflect.get(own, at) as unknown) });
  const { parent, name, value } = randomTree(frames, 300);
  const tree = { parent: counted(parent), key: counted([...keysOf(name)]) };
  const time = counted(value);
  sumsOf(mergeFrames(tree, time, true), time);
  sumsOf(callersOf(tree, time, 5), time);
  sumsOf(calleesOf(tree, time, 5), time);
  return reads;
}

it("regroups ten times the frames, 100,000, with ten times the work", () => {
  expect(readsOf(100_000)).toBeLessThan(15 * readsOf(10_000));
});
