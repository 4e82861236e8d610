import { fireEvent, render, screen } from "@testing-library/preact";
import { describe, expect, it, vi } from "vitest";
import { Treemap } from "./Treemap";
import { squarified } from "./Treemap";

describe("squarified", () => {
  const values = [6, 6, 4, 3, 2, 2, 1];
  it("gives areas in proportion, without gap or overlap", () => {
    const tiles = squarified(values, 600, 400);
    tiles.forEach((tile, i) =>
      expect(tile.width * tile.height).toBeCloseTo((values[i] ?? 0) * 10_000),
    );
    for (const [i, a] of tiles.entries()) {
      expect(
        a.left >= -1e-9 &&
          a.top >= -1e-9 &&
          a.left + a.width <= 600 + 1e-6 &&
          a.top + a.height <= 400 + 1e-6,
      ).toBe(true);
      for (const b of tiles.slice(i + 1)) {
        const [across, down] = [
          Math.min(a.left + a.width, b.left + b.width) - Math.max(a.left, b.left),
          Math.min(a.top + a.height, b.top + b.height) - Math.max(a.top, b.top),
        ];
        expect(Math.min(across, down)).toBeLessThan(1e-6);
      }
    }
  });
  it("is the example of its authors", () => {
    const ratios = squarified(values, 6, 4).map(({ width, height }) =>
      Math.max(width / height, height / width),
    );
    // Figure 4 of the paper: 6 over 6 at the left, 4 beside 3 above what is left, then 2, 2 and 1 beside each other.
    expect(ratios.map((ratio) => ratio.toFixed(2))).toEqual([
      "1.50",
      "1.50",
      "1.36",
      "1.81",
      "1.39",
      "1.39",
      "2.78",
    ]);
  });
  it("takes one value, and none", () => {
    expect(squarified([5], 10, 20)).toEqual([{ left: 0, top: 0, width: 10, height: 20 }]);
    expect(squarified([], 10, 20)).toEqual([]);
  });
});

describe("the treemap", () => {
  const parts = [3, 1, 5].map((value, i) => ({
    key: `k${i}`,
    label: `l${i}`,
    title: `name ${i}`,
    value,
  }));
  it("has one tab stop, goes by arrows, and chooses by Enter's click", () => {
    const onSelect = vi.fn();
    render(<Treemap label="Alive" parts={parts} unit="bytes" onSelect={onSelect} />);
    const tiles = screen.getAllByRole("button");
    expect(tiles.map((tile) => tile.title)).toEqual([
      "name 2: 5 B, 55.6 %",
      "name 0: 3 B, 33.3 %",
      "name 1: 1 B, 11.1 %",
    ]);
    expect(tiles.map((tile) => tile.tabIndex)).toEqual([0, -1, -1]);
    fireEvent.keyDown(screen.getByRole("group"), { key: "ArrowRight" });
    expect(document.activeElement).toBe(tiles[1]);
    fireEvent.keyDown(screen.getByRole("group"), { key: "End" });
    expect(document.activeElement).toBe(tiles[2]);
    fireEvent.click(tiles[2]!);
    expect(onSelect).toHaveBeenCalledWith("k1");
  });
  it("pools what is beyond the largest", () => {
    render(<Treemap label="Alive" parts={parts} unit="bytes" top={1} onSelect={vi.fn()} />);
    expect(screen.getAllByRole("button").map((tile) => tile.title)).toEqual([
      "name 2: 5 B, 55.6 %",
      "other (2): 4 B, 44.4 %",
    ]);
  });
  it("is empty where nothing is", () => {
    render(<Treemap label="Alive" parts={[]} unit="bytes" onSelect={vi.fn()} />);
    expect(screen.queryByRole("button")).toBeNull();
  });
});
