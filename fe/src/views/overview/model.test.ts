import { describe, expect, it } from "vitest";
import { CATEGORIES } from "../../base/theme";
import { overview } from "../../testing/cases";
import { CPU, GPU, reply } from "../../testing/replies";
import { categoryShares, occurring } from "./model";
import { rowsOf } from "../rows";

describe("categories", () => {
  it("keep the priority order and sum to the wall time", () => {
    const shares = categoryShares(overview().average!);
    expect(shares.map((x) => x.category)).toEqual(CATEGORIES);
    // Each mean is rounded to whole ns.
    const difference = shares.reduce((sum, x) => sum + (x.ns ?? 0), -overview().average!.wall_ns);
    expect(Math.abs(difference)).toBeLessThan(CATEGORIES.length);
    expect(shares.reduce((sum, x) => sum + (x.share ?? 0), 0)).toBeCloseTo(1, 6);
  });

  it("that were not recorded, or are parts of no time, have no share", () => {
    const average = overview().average!;
    const shares = categoryShares({
      ...average,
      categories_ns: { ...average.categories_ns, dataloader: null },
    });
    expect(shares.find((x) => x.category === "dataloader")?.share).toBeNull();
    expect(categoryShares({ ...average, wall_ns: 0 }).every((x) => x.share === null)).toBe(true);
  });

  it("that never occur need no legend entry", () => {
    expect(occurring(rowsOf(reply("overview", GPU).steps))).toEqual(CATEGORIES);
    expect(occurring(rowsOf(reply("overview", CPU).steps))).toEqual([
      "dataloader",
      "cpu_exec",
      "other",
    ]);
    expect(occurring([])).toEqual([]);
  });
});
