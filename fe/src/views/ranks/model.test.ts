import { describe, expect, it } from "vitest";
import { meshOf, MS, overviewRanks, runWorker } from "./fixtures";
import {
  colourOf,
  colourRange,
  coordinatesText,
  foundWorkers,
  type GridLayout,
  histogram,
  layOut,
  levelAt,
  moved,
  readAxes,
} from "./model";

const MESH = meshOf([
  ["PP", 8],
  ["DP", 16],
  ["TP", 8],
]);
const WORKERS = Array.from({ length: 1024 }, (_, rank) => runWorker(rank));

describe("search", () => {
  it.each([
    ["12", [12, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129]],
    ["rank 7", [7, 70]],
    ["node127", [1016, 1017, 1018, 1019, 1020, 1021, 1022, 1023]],
    ["node12 9", [96, 97, 98, 99]],
    ["nothing", []],
  ])("finds %s", (text, first) => {
    expect(foundWorkers(WORKERS, text).slice(0, first.length)).toEqual(first);
  });

  it("finds workers without a rank by name, and all by nothing", () => {
    const workers = [runWorker(0, { rank: null, worker: "trainer-a", node: "" }), runWorker(1)];
    expect(foundWorkers(workers, "TRAIN")).toEqual([0]);
    expect(foundWorkers(workers, "  ")).toEqual([0, 1]);
  });
});

describe("axes", () => {
  it("are the outermost two, so that the nearest ranks share a cell", () => {
    expect(readAxes(MESH, {})).toEqual({ rows: 2, columns: 1, only: [-1, -1, -1] });
  });

  it("are those of the address, where these are known", () => {
    const params = { rows: "TP", columns: "gone", "only.PP": "3", "only.DP": "99" };
    expect(readAxes(MESH, params)).toEqual({ rows: 0, columns: -1, only: [-1, -1, 3] });
    expect(readAxes(MESH, { rows: "DP", columns: "DP" })).toMatchObject({ rows: 1, columns: -1 });
  });

  it("are the nodes where no group says more, and none without dimensions", () => {
    const nodes = meshOf([["node", 4]]).map((dimension) => ({
      ...dimension,
      values: ["a", "b", "c", "d"],
      independent: false,
    }));
    expect(readAxes(nodes, {})).toMatchObject({ rows: 0, columns: -1 });
    expect(readAxes([], {})).toEqual({ rows: -1, columns: -1, only: [] });
  });
});

it("names the coordinates of a rank, the outermost first", () => {
  expect(coordinatesText(MESH, 3 * 128 + 5 * 8 + 6)).toBe("PP 3 · DP 5 · TP 6");
  const unnamed = meshOf([["groups of 4, stride 1", 4]]);
  const nodes = unnamed.map((mesh) => ({ ...mesh, values: ["a", "b", "c", "d"] }));
  expect(coordinatesText([...unnamed, ...nodes], 2)).toBe("c · groups of 4, stride 1: 2");
  expect(coordinatesText([], 0)).toBe("");
  expect(coordinatesText(MESH, -1)).toBe("");
});

/** Squares that lie on each other. */
function overlapping({ squares, size }: GridLayout): number {
  const taken = new Set<string>();
  for (const { x, y } of squares) {
    taken.add(`${Math.round(x / size)} ${Math.round(y / size)}`);
    expect(x % 1).toBe(0);
    expect(y % 1).toBe(0);
  }
  return squares.length - new Set(squares.map(({ x, y }) => `${x} ${y}`)).size;
}

describe("the grid", () => {
  it("has a square for each of 1,024 ranks, those of a cell in a block", () => {
    const layout = layOut(MESH, readAxes(MESH, {}), WORKERS, 1100);
    expect(layout.squares.length).toBe(1024);
    expect(overlapping(layout)).toBe(0);
    expect(layout.width).toBeLessThanOrEqual(1100);
    expect(layout.rows.map(({ text }) => text)).toEqual(
      MESH[2]?.place.slice(0, 8).map((_, row) => String(row)),
    );
    const first = layout.squares.filter(({ worker }) => worker < 8);
    expect(Math.max(...first.map(({ x }) => x))).toBeLessThan(
      Math.min(...layout.squares.filter(({ worker }) => worker === 8).map(({ x }) => x)),
    );
  });

  it("shows only the places that are chosen", () => {
    const axes = readAxes(MESH, { "only.TP": "6" });
    const { squares } = layOut(MESH, axes, WORKERS, 1100);
    expect(squares.length).toBe(128);
    expect(squares.every(({ worker }) => worker % 8 === 6)).toBe(true);
  });

  it("breaks ranks without dimensions into lines that name their first rank", () => {
    const layout = layOut([], readAxes([], {}), WORKERS, 1100);
    expect(layout.squares.length).toBe(1024);
    expect(layout.rows.map(({ text }) => text).slice(0, 3)).toEqual(["0", "32", "64"]);
  });

  it("puts ranks of unknown place into a line of their own", () => {
    const broken = meshOf([["PP", 2]]).map((mesh) => ({ ...mesh, place: [0, 1, -1] }));
    const { rows, squares } = layOut(
      broken,
      { rows: 0, columns: -1, only: [-1] },
      WORKERS.slice(0, 3),
      400,
    );
    expect(rows.map(({ text }) => text)).toEqual(["0", "1", "?"]);
    expect(squares.length).toBe(3);
  });

  it("is walked through by the arrow keys", () => {
    const mesh = meshOf([
      ["PP", 2],
      ["DP", 3],
    ]);
    const { squares } = layOut(mesh, readAxes(mesh, {}), WORKERS.slice(0, 6), 400);
    const walk = (from: number, ...keys: string[]): number =>
      keys.reduce((at, key) => moved(squares, at, key) ?? at, from);
    expect(squares[walk(0, "ArrowRight", "ArrowDown")]?.worker).toBe(4);
    expect(squares[walk(0, "ArrowUp", "ArrowLeft")]?.worker).toBe(0);
    expect(squares[walk(0, "End", "ArrowUp")]?.worker).toBe(2);
    expect(moved(squares, 0, "a")).toBeNull();
    expect(moved([], 0, "End")).toBeNull();
  });
});

describe("colours", () => {
  it("do not make noise look like a difference", () => {
    const range = colourRange({ quartiles: [99, 100, 100, 100, 101], limit: 10 });
    expect(range).toEqual({ low: 90, high: 110 });
    expect([99, 100, 101].map((value) => levelAt(value, range))).toEqual([3, 4, 4]);
    expect(levelAt(110, range)).toBe(6);
    expect(levelAt(null, range)).toBe(-1);
    expect(levelAt(5, { low: 5, high: 5 })).toBe(0);
  });

  it("are of the first figure in which a rank stands out, if no other is asked for", () => {
    const payload = overviewRanks(MESH, [5]);
    expect(colourOf(payload, undefined)?.figure).toBe("computation");
    expect(colourOf(payload, "step")?.figure).toBe("step");
    expect(colourOf(overviewRanks(MESH, []), "busy")?.figure).toBe("step");
    expect(colourOf({ spreads: [] }, "step")).toBeNull();
  });
});

it("counts values by equal parts of the range", () => {
  expect(histogram([0, 1, 9, 10, null], 0, 10, 5)).toEqual([2, 0, 0, 0, 2]);
  expect(histogram([3, 3], 3, 3, 4)).toEqual([2, 0, 0, 0]);
  expect(MS).toBe(1e6);
});
