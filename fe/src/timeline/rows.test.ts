import { describe, expect, it } from "vitest";
import { group, node, sampleTree } from "./fixtures";
import { NO_ROW_STATE, type RowState } from "./props";
import {
  growthFor,
  inOrder,
  layOut,
  lanesBelow,
  neighbourOf,
  pathTo,
  rowsInSight,
  withAll,
  withLane,
  withMoved,
  withOpen,
  withPinned,
} from "./rows";

const TREE = sampleTree();
const state = (more: Partial<RowState> = {}): RowState => ({ ...NO_ROW_STATE, ...more });
const keys = (more: Partial<RowState> = {}, tree = TREE): string[] =>
  layOut(tree, state(more), 1000).rows.map((row) => row.key);

describe("growthFor", () => {
  const usual = layOut(TREE, state(), 0).height;

  it("leaves rows as they are where they fill the window", () => {
    expect(growthFor(TREE, usual)).toEqual({ lane: 1, counter: 1 });
    expect(growthFor(TREE, usual / 2)).toEqual({ lane: 1, counter: 1 });
  });

  it("makes rows higher in a taller one, curves most of all, up to a limit", () => {
    const growth = growthFor(TREE, usual * 1.3);
    expect(growth.lane).toBeCloseTo(1.3, 6);
    const { height } = layOut(TREE, state(), 0, growth);
    expect(height).toBeGreaterThan(usual * 1.2);
    expect(height).toBeLessThanOrEqual(usual * 1.3);
    expect(growthFor(TREE, usual * 10)).toEqual({ lane: 1.5, counter: 3 });
  });
});

describe("layOut", () => {
  it("puts the first lane of a bare group in its parent's row, and folds python", () => {
    expect(keys()).toEqual([
      "host",
      "main",
      "main.calls/1",
      "main.calls/2",
      "main.python",
      "memory",
      "gpu",
      "stream 7",
      "stream 9",
      "s9.work/1",
    ]);
  });

  it("gives heights by kind and stacks the rows", () => {
    const { rows, height } = layOut(TREE, state(), 1000);
    expect(rows.map((row) => row.height)).toEqual([24, 22, 18, 18, 22, 44, 24, 22, 22, 18]);
    expect(rows.map((row) => row.y)).toEqual([0, 24, 46, 64, 82, 104, 148, 172, 194, 216]);
    expect(height).toBe(234);
  });

  it("says which lane each row draws", () => {
    expect(layOut(TREE, state(), 1000).rows.map((row) => row.lane)).toEqual([
      -1, 2, 3, 4, 0, -1, -1, 5, 6, 7,
    ]);
  });

  it("marks overlap rows and says so", () => {
    const row = layOut(TREE, state(), 1000).rows.at(-1);
    expect([row?.overlap, row?.note]).toEqual([true, "overlaps the track above"]);
  });

  it("calls lanes by the row that they belong to", () => {
    const { notes } = layOut(TREE, state(), 1000);
    expect(["main", "main.calls/1", "s9.work/1"].map((key) => notes.get(key)?.name)).toEqual([
      "main",
      "main",
      "stream 9",
    ]);
  });

  it("has nothing to fold where there is one row only", () => {
    const open = new Map(layOut(TREE, state(), 1000).rows.map((row) => [row.key, row.open]));
    expect([
      open.get("stream 7"),
      open.get("stream 9"),
      open.get("main.python"),
      open.get("memory"),
    ]).toEqual([null, true, false, null]);
  });

  it("draws the lane that stands for a folded node, the first lane below where none is named", () => {
    const { rows } = layOut(TREE, state({ shut: new Set(["host", "gpu"]) }), 1000);
    expect(rows.map((row) => [row.key, row.lane, row.open])).toEqual([
      ["host", 2, false],
      ["gpu", 5, false],
    ]);
  });

  it("opens python frames on request", () => {
    expect(keys({ open: new Set(["main.python"]) })).toContain("main.python/1");
  });

  it("keeps nodes without anything", () =>
    expect(layOut([node("empty", { kind: "process" })], state(), 99).rows[0]?.open).toBeNull());

  it("shows a header where the first group has one of its own", () => {
    const tree = [
      node("t", {
        standingLane: 3,
        children: [
          group("py", 0, 2, { foldedByDefault: true }),
          group("calls", 2, 2, { bare: true }),
        ],
      }),
    ];
    expect(layOut(tree, state(), 99).rows.map((row) => [row.key, row.lane, row.height])).toEqual([
      ["t", -1, 24],
      ["py", 0, 22],
      ["calls/0", 2, 22],
      ["calls/1", 3, 18],
    ]);
  });
});

describe("filter", () => {
  it("leaves what matches and the way to it", () =>
    expect(keys({ filter: "stream 9" })).toEqual(["gpu", "stream 9", "s9.work/1"]));
  it("matches words of ancestors too", () =>
    expect(keys({ filter: "gpu 7" })).toEqual(["gpu", "stream 7"]));
  it("shows all below what matches", () =>
    expect(keys({ filter: "gpu" })).toEqual(["gpu", "stream 7", "stream 9", "s9.work/1"]));
  it("opens the way to what is folded", () =>
    expect(keys({ filter: "stream", shut: new Set(["gpu"]) })).toEqual([
      "gpu",
      "stream 7",
      "stream 9",
      "s9.work/1",
    ]));
  it("does without the bare group when only another matches", () =>
    expect(keys({ filter: "python" })).toEqual(["host", "main", "main.python"]));
  it("leaves nothing when nothing matches", () => expect(keys({ filter: "xyzzy" })).toEqual([]));
});

describe("pinned", () => {
  it("comes first, with the place it was taken from", () => {
    const layout = layOut(TREE, state({ pinned: ["memory", "stream 9"] }), 1000);
    expect(layout.rows.slice(0, 4).map((row) => [row.key, row.pinned, row.y])).toEqual([
      ["memory", true, 0],
      ["stream 9", true, 44],
      ["s9.work/1", true, 66],
      ["host", false, 84],
    ]);
    expect([layout.pinnedCount, layout.pinnedHeight]).toEqual([3, 84]);
    expect(layout.rows[0]?.note).toBe("host");
    expect(layout.rows.filter((row) => row.key === "memory")).toHaveLength(1);
  });

  it("lets what does not fit scroll, still first", () => {
    const layout = layOut(TREE, state({ pinned: ["memory", "stream 9"] }), 50);
    expect([
      layout.pinnedCount,
      layout.pinnedHeight,
      layout.rows[1]?.key,
      layout.rows[1]?.pinned,
    ]).toEqual([1, 44, "stream 9", false]);
  });

  it("ignores keys of other traces", () => expect(keys({ pinned: ["nobody"] })).toEqual(keys()));
});

describe("changes", () => {
  it("forget what equals the default", () => {
    const python = pathTo(TREE, 0, 0).at(-1)!;
    const opened = withOpen(state(), python, true);
    expect([...opened.open]).toEqual(["main.python"]);
    expect(withOpen(opened, python, false)).toEqual(state());
  });

  it("open the way to a lane and drop a filter that hides it", () => {
    const next = withLane(state({ shut: new Set(["host"]), filter: "gpu" }), TREE, 0, 1);
    expect(keys(next)).toContain("main.python/1");
    expect(next.filter).toBe("");
    expect(withLane(state({ filter: "python" }), TREE, 0, 1).filter).toBe("python");
  });

  it("show one lane of what is folded, beneath its row, until it is folded again", () => {
    const folded = state({ shut: new Set(["host"]) });
    const next = withLane(folded, TREE, 0, 1);
    const added = ["main", "main.python", "main.python/1"];
    expect(keys(next)).toEqual(
      keys(folded).flatMap((key) => (key === "host" ? [key, ...added] : key)),
    );
    expect(withLane(next, TREE, 0, 1)).toBe(next);
    expect(keys(withOpen(next, TREE[0]!, false))).toEqual(keys(folded));
  });

  it("need no row for the lane that a folded one stands for", () => {
    const folded = state({ shut: new Set(["host"]) });
    expect(keys(withLane(folded, TREE, 0, 2))).toEqual(["host", "main", ...keys(folded).slice(1)]);
  });

  it("leave all as it is for a lane that nobody has", () =>
    expect(withLane(state(), TREE, 3, 99)).toEqual(state()));

  it("fold and open everything", () => {
    expect(keys(withAll(state(), TREE, false))).toEqual(["host", "gpu"]);
    expect(keys(withAll(state(), TREE, true))).toContain("main.python/1");
  });

  it("pin and let go", () => {
    const pinned = withPinned(state(), "gpu", true);
    expect(pinned.pinned).toEqual(["gpu"]);
    expect(withPinned(pinned, "gpu", false)).toEqual(state());
  });

  it("move among siblings only", () => {
    expect(keys(withMoved(state(), TREE, "gpu", "host", false))[0]).toBe("gpu");
    expect(withMoved(state(), TREE, "stream 7", "host", false)).toEqual(state());
    const twice = withMoved(
      withMoved(state(), TREE, "stream 9", "stream 7", false),
      TREE,
      "gpu",
      "host",
      false,
    );
    expect(keys(twice).slice(0, 4)).toEqual(["gpu", "stream 9", "s9.work/1", "stream 7"]);
  });

  it("know the neighbour that a node can change places with", () => {
    expect(neighbourOf(state(), TREE, "stream 7", 1)).toBe("stream 9");
    expect(neighbourOf(state(), TREE, "stream 9", 1)).toBeNull();
    expect(neighbourOf(state(), TREE, "main.python", -1)).toBeNull();
    expect(neighbourOf(state({ pinned: ["gpu", "memory"] }), TREE, "memory", -1)).toBe("gpu");
  });

  it("move pinned rows among themselves", () =>
    expect(
      withMoved(state({ pinned: ["gpu", "memory"] }), TREE, "memory", "gpu", false).pinned,
    ).toEqual(["memory", "gpu"]));
});

it("orders by a list and leaves the rest behind", () =>
  expect(inOrder([node("a"), node("b"), node("c")], ["c"]).map((n) => n.key)).toEqual([
    "c",
    "a",
    "b",
  ]));

it("knows all lanes below", () => expect(lanesBelow(TREE[0]!)).toEqual([2, 3, 4, 0, 1]));

describe("what is in sight", () => {
  const layout = layOut(TREE, state({ pinned: ["memory"] }), 1000);
  it("has the pinned rows and those between the edges", () => {
    expect(rowsInSight(layout, 30, 95).map((row) => row.key)).toEqual([
      "memory",
      "main",
      "main.calls/1",
      "main.calls/2",
    ]);
  });
  it("ends with the content", () =>
    expect(rowsInSight(layout, 0, 10_000)).toHaveLength(layout.rows.length));
});
