import { fireEvent, render, screen } from "@testing-library/preact";
import { expect, it, vi } from "vitest";
import { map } from "./fixtures";
import { blockAt, closer, COLUMNS, drawMap } from "./map";
import { SegmentMap } from "./SegmentMap";

it("fills each cell from its foot, and marks where segments begin", () => {
  const drawn: [string, number, number][] = [];
  const context = {
    fillStyle: "",
    clearRect: vi.fn(),
    fillRect(x: number, ...[, , height]: [number, number, number]) {
      drawn.push([this.fillStyle, Math.round(x), Math.round(height * 100) / 100]);
    },
  };
  drawMap(context, map(), COLUMNS, (name) => name);
  expect(drawn).toEqual([
    ["--compute", 0, 5],
    ["--compute", 1, 2.32],
    ["--data", 1, 0.18],
    ["--hover", 1, 2.5],
    ["--hover", 2, 5],
    ["--hover", 3, 5],
    ["--ink", 0, 5],
    ["--ink", 2, 5],
  ]);
});

it("finds the block that has most of a cell", () =>
  expect([0, 1, 2].map((cell) => blockAt(map(), cell))).toEqual([0, 0, -1]));

it("looks closer around a cell without leaving the map", () => {
  const large = map({ end_bytes: 4_096_000, cell_bytes: 1_024_000 });
  expect(closer(large, 0)).toEqual({ b0: 256_000, b1: 768_000 });
  expect(closer(large, 3)).toEqual({ b0: 3_328_000, b1: 3_840_000 });
});

it("says the cell and its block by keyboard, and looks closer", () => {
  const [onCell, onAll] = [vi.fn(), vi.fn()];
  render(<SegmentMap map={map()} onCell={onCell} onAll={onAll} />);
  const canvas = screen.getByRole("slider");
  fireEvent.keyDown(canvas, { key: "ArrowRight" });
  fireEvent.keyDown(canvas, { key: "ArrowRight" });
  expect(canvas.getAttribute("aria-valuetext")).toBe(
    "512 B of 1.00 KiB in use (50.0 %)\nblock of 1.50 KiB, 1.46 KiB asked for: parameter\n/lib/python3.12/site-packages/torch/nn/modules/module.py(915): _apply\n/w/train.py(3): build",
  );
  fireEvent.keyDown(canvas, { key: "Enter" });
  expect(onCell).toHaveBeenCalledWith(1);
  fireEvent.keyDown(canvas, { key: "Escape" });
  expect(onAll).toHaveBeenCalledOnce();
});
