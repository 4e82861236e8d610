import { describe, expect, it } from "vitest";
import { nameOfKey, partsByName } from "./parts_by_name";

const brief = (parts: ReturnType<typeof partsByName>): [string, number][] =>
  parts.map((p) => [p.label, p.value]);

describe("partsByName", () => {
  it("sums the rows of one name, largest first", () => {
    expect(brief(partsByName(["a", "b", "a", "c"], [30, 40, 20, 8]))).toEqual([
      ["a", 50],
      ["b", 40],
      ["c", 8],
    ]);
  });

  it("makes a part of what the server pooled, told from an operator that is really called other", () => {
    const parts = partsByName(["other", "a", "other"], [60, 30, 92], 400);
    expect(brief(parts)).toEqual([
      ["400 more rows", 92],
      ["other", 60],
      ["a", 30],
    ]);
    expect(parts.map((p) => nameOfKey(p.key))).toEqual([null, "other", "a"]);
  });

  it("draws short names and keeps the full ones", () => {
    expect(partsByName(["void k<int>()"], [1], 0, ["k"])[0]).toMatchObject({
      label: "k",
      title: "void k<int>()",
    });
  });

  it("gives no part for nulls, zeros and nothing at all", () => {
    expect(partsByName(["a", "b"], [null, 0])).toEqual([]);
    expect(partsByName([], [])).toEqual([]);
    expect(partsByName(["a", "a"], [null, 5])).toHaveLength(1);
  });

  it("ranks equal values by name, so that a page looks the same each time", () => {
    expect(partsByName(["b", "a", "c"], [1, 1, 1]).map((p) => p.label)).toEqual(["a", "b", "c"]);
  });

  it("loses nothing of 100,000 rows", () => {
    const names = Array.from({ length: 100_000 }, (_, i) => `op${i % 5000}`);
    const parts = partsByName(
      names,
      names.map((_, i) => i),
    );
    expect(parts).toHaveLength(5000);
    expect(parts.reduce((sum, p) => sum + p.value, 0)).toBe((100_000 * 99_999) / 2);
  });
});
