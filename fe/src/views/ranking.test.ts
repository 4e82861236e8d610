import { describe, expect, it } from "vitest";
import { knownSum, rank } from "./ranking";

describe("rank", () => {
  it("sums by name and pools what is beyond the top, with shares of the whole", () => {
    const whole = rank(["a", "b", "a", "c", "d"], [30, 40, 20, 8, 2], 2);
    expect(whole.parts).toEqual([
      { name: "a", value: 50, share: 0.5, pooled: 0 },
      { name: "b", value: 40, share: 0.4, pooled: 0 },
      { name: "other", value: 10, share: 0.1, pooled: 2 },
    ]);
    expect(whole.total).toBe(100);
    expect(whole.names).toBe(4);
  });

  it("keeps an operator that is really called other apart from the rest", () => {
    const whole = rank(["other", "x", "y"], [60, 30, 10], 1);
    expect(whole.parts.map((p) => [p.name, p.pooled])).toEqual([
      ["other", 0],
      ["other", 2],
    ]);
  });

  it("counts the row that the server pooled to the rest, however large", () => {
    const whole = rank(["a", "b", "other"], [5, 3, 92], 10, 400);
    expect(whole.parts).toEqual([
      { name: "a", value: 5, share: 0.05, pooled: 0 },
      { name: "b", value: 3, share: 0.03, pooled: 0 },
      { name: "other", value: 92, share: 0.92, pooled: 400 },
    ]);
  });

  it("gives no part for nulls, zeros and nothing at all", () => {
    expect(rank(["a", "b"], [null, 0], 10)).toEqual({ parts: [], total: 0, names: 0 });
    expect(rank([], [], null)).toEqual({ parts: [], total: 0, names: 0 });
  });

  it("ranks equal values by name, so that a page looks the same each time", () => {
    expect(rank(["b", "a", "c"], [1, 1, 1], null).parts.map((p) => p.name)).toEqual(["a", "b", "c"]);
  });

  it("ranks 100,000 rows without a stall and loses nothing", () => {
    const names = Array.from({ length: 100_000 }, (_, i) => `op${i % 5000}`);
    const values = names.map((_, i) => i);
    const whole = rank(names, values, 10);
    expect(whole.total).toBe((100_000 * 99_999) / 2);
    expect(whole.parts).toHaveLength(11);
    expect(whole.parts[10]!.pooled).toBe(4990);
  });
});

describe("knownSum", () => {
  it("is null when nothing is known, and 0 when zeros are", () => {
    expect(knownSum([null, null])).toBeNull();
    expect(knownSum([])).toBeNull();
    expect(knownSum([0, null])).toBe(0);
    expect(knownSum([1, null, 2])).toBe(3);
  });
});
