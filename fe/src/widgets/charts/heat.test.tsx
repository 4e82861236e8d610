import { fireEvent, render, screen } from "@testing-library/preact";
import { describe, expect, it, vi } from "vitest";
import { cellsOf, heatRange, levelOf, levelPaths, LEVELS } from "./heat";
import { drawCells, HeatMap, isBitmap } from "./HeatMap";

const VALUES = [
  [0, 4],
  [null, 36],
  [1, 2],
];

describe("classes", () => {
  it("keep unknown and nothing apart from little, and end at the largest", () => {
    const range = { low: 0, high: 36 };
    expect([null, undefined, 0, 0.001, 1, 1.01, 36].map((value) => levelOf(value, range))).toEqual([
      -1,
      -1,
      0,
      1,
      1,
      2,
      LEVELS,
    ]);
  });
  it("have none where nothing is above 0", () =>
    expect(levelOf(0, heatRange([[0, null]]))).toBe(0));
  it("begin at 0, or at the smallest where all are far above 0 and differ", () =>
    expect([VALUES, [], [[null]], [[7, 9.5]], [[9.3, 9.5]]].map(heatRange)).toEqual([
      { low: 0, high: 36 },
      { low: 0, high: 0 },
      { low: 0, high: 0 },
      { low: 7, high: 9.5 },
      { low: 0, high: 9.5 },
    ]));
});

describe("cells", () => {
  it("fill the room, have texts where these fit, and scroll where there are too many", () => {
    expect(cellsOf(4, 5, { width: 400, height: 400 }, 20)).toEqual({
      width: 80,
      height: 32,
      texts: true,
      everyRow: 1,
      everyColumn: 1,
    });
    const many = cellsOf(256, 200, { width: 600, height: 400 }, 20);
    expect(many).toMatchObject({ width: 6, height: 5, texts: false, everyRow: 3, everyColumn: 4 });
  });
  it("a bitmap is one pixel per cell; cells alike beside each other are one stroke, unknown ones none", () => {
    const fillRect = vi.fn();
    const context = { clearRect: vi.fn(), fillRect, fillStyle: "" };
    drawCells(
      context,
      [
        [36, 36, null, 0],
        [1, 36, 36, 36],
      ],
      { low: 0, high: 36 },
      ["0", "1", "2", "3", "4", "5", "6"],
    );
    expect(fillRect.mock.calls).toEqual([
      [0, 0, 2, 1],
      [3, 0, 1, 1],
      [0, 1, 1, 1],
      [1, 1, 3, 1],
    ]);
    expect([isBitmap(8, 7), isBitmap(256, 100)]).toEqual([false, true]);
  });
  it("are one path per class, each cell once", () => {
    const paths = levelPaths(
      VALUES,
      [2, 0, 1],
      { low: 0, high: 36 },
      {
        width: 10,
        height: 10,
      },
    );
    expect(paths.map((path) => path.split("M").length - 1)).toEqual([1, 1, 2, 0, 0, 0, 1, 1]);
    expect(paths[LEVELS]).toBe("M10,20h9v9h-9z");
    expect(paths[LEVELS + 1]).toBe("M0,20h9v9h-9z");
  });
});

describe("HeatMap", () => {
  const told = (): string => screen.getByRole("status").textContent;
  it("tells the cell under the keys, in the order of the rows, and stays inside", () => {
    render(
      <HeatMap
        label="Late"
        rows={["rank 0", "rank 1", "rank 2"]}
        columns={["7", "8"]}
        columnWord="step"
        values={VALUES}
        unit="ns"
        hue="communication"
        order={[1, 0, 2]}
        note={(row) => (row === 1 ? "the last" : "")}
      />,
    );
    const map = screen.getByRole("group");
    fireEvent.focus(map);
    fireEvent.keyDown(map, { key: "ArrowRight" });
    expect(told()).toBe("rank 1, step 7: –. the last");
    fireEvent.keyDown(map, { key: "ArrowRight" });
    expect(told()).toBe("rank 1, step 8: 36 ns. the last");
    expect(document.querySelector(".tooltip")?.textContent).toContain("the last");
    fireEvent.keyDown(map, { key: "PageDown" });
    fireEvent.keyDown(map, { key: "End" });
    expect(told()).toBe("rank 2, step 8: 2 ns");
    fireEvent.keyDown(map, { key: "Home" });
    expect(told()).toBe("rank 2, step 7: 1 ns");
    fireEvent.keyDown(map, { key: "Escape" });
    expect(told()).toBe("");
  });
});
