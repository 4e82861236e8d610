import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { expect, it, vi } from "vitest";
import { axesOf, logAxis, markPath, mergedRoofs, radiusOf, type RoofPoint } from "./Roofline";
import { Roofline } from "./Roofline";

const point = (
  key: string,
  intensity: number,
  rate: number,
  more: Partial<RoofPoint> = {},
): RoofPoint => ({
  key,
  title: key,
  intensity,
  rate,
  size: 1,
  group: 0,
  figures: [["Time", "1 ns"]],
  selected: false,
  ...more,
});

it("has a tick at every power of ten and room on both sides", () => {
  const axis = logAxis([2, 50_000]);
  expect(axis.ticks.map(Math.round)).toEqual([10, 100, 1000, 10_000]);
  expect(axis.at(2)).toBeGreaterThan(0);
  expect(axis.at(50_000)).toBeLessThan(1);
  expect(axis.at(1e3) - axis.at(1e2)).toBeCloseTo(axis.at(1e4) - axis.at(1e3), 9);
});

it("is two decades long at least, and stands without any value", () => {
  const one = logAxis([7]);
  expect(one.high / one.low).toBeGreaterThan(99);
  expect(logAxis([0, NaN]).ticks).toEqual([0.1, 1, 10]);
});

it("draws roofs of one rate once, the highest first", () => {
  expect(
    mergedRoofs([
      { label: "fp32", rate: 67e12 },
      { label: "bf16", rate: 989e12 },
      { label: "fp16", rate: 989e12 },
    ]),
  ).toEqual([
    { label: "bf16, fp16 · 989 TFLOP/s", rate: 989e12 },
    { label: "fp32 · 67.0 TFLOP/s", rate: 67e12 },
  ]);
});

it("shows the points and where the roofs meet the slope", () => {
  const { x, y } = axesOf([point("a", 0.1, 1e9)], [{ label: "", rate: 1e15 }], 1e12);
  for (const [axis, value] of [
    [x, 0.1],
    [x, 1000],
    [y, 1e9],
    [y, 1e15],
  ] as const) {
    expect(axis.at(value)).toBeGreaterThan(0);
    expect(axis.at(value)).toBeLessThan(1);
  }
});

it("keeps areas in proportion", () => {
  expect(radiusOf(100, 100)).toBe(2 * radiusOf(25, 100));
  expect(radiusOf(0, 100)).toBe(4);
  expect(new Set([0, 1, 2, 3].map((group) => markPath(group, 5))).size).toBe(4);
});

it("is walked by keys in the order of intensity and chosen by Enter or a click", () => {
  const onSelect = vi.fn();
  render(
    <Roofline
      label="Roofline"
      points={[point("late", 100, 5, { selected: true }), point("early", 1, 7)]}
      groups={[{ label: "gemm", color: "red" }]}
      roofs={[{ label: "bf16", rate: 1e3 }]}
      bandwidth={10}
      onSelect={onSelect}
    />,
  );
  const early = screen.getByRole("button", { name: /^early: Time 1 ns/ });
  expect(early.getAttribute("tabindex")).toBe("0");
  fireEvent.focus(early);
  fireEvent.keyDown(early, { key: "Enter" });
  expect(onSelect).toHaveBeenLastCalledWith("early");
  fireEvent.keyDown(early, { key: "End" });
  const late = screen.getByRole("button", { name: /^late/ });
  expect(document.activeElement).toBe(late);
  expect(late.getAttribute("aria-pressed")).toBe("true");
  fireEvent.click(late);
  expect(onSelect).toHaveBeenLastCalledWith("late");
  expect(document.body.textContent).toContain("memory · 10 B/s");
  expect(document.body.textContent).toContain("bf16 · 1.00 kFLOP/s");
});

it("says so when there is no point", () => {
  render(
    <Roofline
      label="Roofline"
      points={[]}
      groups={[]}
      roofs={[]}
      bandwidth={null}
      onSelect={vi.fn()}
    />,
  );
  expect(document.body.textContent).toContain("no row has both FLOPs and bytes");
});

it("names the chosen mark, shows its way to its roof, and lets no label cover another", () => {
  const roofline = (second: number): void => {
    cleanup();
    render(
      <Roofline
        label="Roofline"
        points={[
          point("a", 1, 1, { selected: true, name: "chosen one", limit: 10 }),
          point("b", second, 1, { name: "another one", limit: 20 }),
        ]}
        groups={[
          { label: "memory-bound", color: "red" },
          { label: "unused", color: "blue" },
        ]}
        roofs={[{ label: "bf16", rate: 1e3 }]}
        bandwidth={10}
        onSelect={vi.fn()}
      />,
    );
  };
  roofline(1000);
  for (const text of ["chosen one", "another one"]) expect(screen.getByText(text)).toBeTruthy();
  expect(document.querySelectorAll(".roof-distance")).toHaveLength(1);
  expect(screen.queryByText("unused")).toBeNull();
  roofline(1.01);
  const [first, second] = ["chosen one", "another one"].map((text) => screen.queryByText(text));
  expect(first).not.toBeNull();
  // On the other side, or nowhere.
  expect(second?.getAttribute("text-anchor") ?? "end").toBe("end");
});
