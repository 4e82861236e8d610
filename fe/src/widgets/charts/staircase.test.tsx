import { fireEvent, render, screen } from "@testing-library/preact";
import { describe, expect, it, vi } from "vitest";
import { Staircase } from "./Staircase";
import { pointAt, stacked, stairPath, zoomed } from "./Staircase";

const x = (t: number): number => t;
const y = (value: number): number => 100 - value;

describe("stairPath", () => {
  it("holds each value until the next point and to the end of the window", () =>
    expect(stairPath([0, 10, 20], [1, 5, 3], { t0: 0, t1: 50 }, x, y)).toBe(
      "M0,99V99H10V95H20V97H50",
    ));
  it("begins what was there before at the edge and leaves out what comes after", () =>
    expect(stairPath([-5, 10, 60], [1, 5, 9], { t0: 0, t1: 50 }, x, y)).toBe("M0,99V99H10V95H50"));
  it("leaves a gap where nothing is known", () =>
    expect(stairPath([0, 10, 20], [1, null, 3], { t0: 0, t1: 30 }, x, y)).toBe(
      "M0,99V99H10M20,97V97H30",
    ));
  it("closes areas down to the base, each piece by itself", () =>
    expect(stairPath([0, 10, 20], [1, null, 3], { t0: 0, t1: 30 }, x, y, 100)).toBe(
      "M0,100V99H10V100ZM20,100V97H30V100Z",
    ));
  it("draws nothing of nothing", () => expect(stairPath([], [], { t0: 0, t1: 1 }, x, y)).toBe(""));
});

it("stacks lists on each other", () =>
  expect(
    stacked([
      [1, 2],
      [3, 4],
      [0, 1],
    ]),
  ).toEqual([
    [1, 2],
    [4, 6],
    [4, 7],
  ]));

it("finds the point that holds", () =>
  expect([-1, 0, 9, 10, 99].map((t) => pointAt([0, 10, 10, 20], t))).toEqual([-1, 0, 0, 2, 3]));

describe("zoomed", () => {
  const whole = { t0: 0, t1: 1000 };
  it("keeps the time around which it zooms where it is", () =>
    expect(zoomed({ t0: 400, t1: 600 }, 450, 0.5, whole)).toEqual({ t0: 425, t1: 525 }));
  it("stays inside the whole", () => {
    expect(zoomed({ t0: 0, t1: 600 }, 0, 4, whole)).toEqual(whole);
    expect(zoomed({ t0: 900, t1: 1000 }, 1000, 2, whole)).toEqual({ t0: 800, t1: 1000 });
  });
  it("never gets empty", () =>
    expect(zoomed({ t0: 5, t1: 6 }, 5, 0.1, whole)).toEqual({ t0: 5, t1: 6 }));
});

describe("the chart", () => {
  const show = (
    window = { t0: 0, t1: 1000 },
  ): {
    onWindow: ReturnType<typeof vi.fn>;
    onPick: ReturnType<typeof vi.fn>;
    chart: HTMLElement;
  } => {
    const [onWindow, onPick] = [vi.fn(), vi.fn()];
    render(
      <Staircase
        label="Memory"
        unit="bytes"
        time={[0, 500]}
        lines={[
          { label: "allocated", color: "red", values: [1024, 4096] },
          { label: "reserved", color: "blue", values: [null, 8192] },
        ]}
        areas={[]}
        window={window}
        whole={{ t0: 0, t1: 1000 }}
        bands={[
          { t0: 0, t1: 400, label: "step 1" },
          { t0: 5000, t1: 6000, label: "step 9" },
        ]}
        peak={{ time: 500, value: 4096 }}
        picked={500}
        onWindow={onWindow}
        onPick={onPick}
      />,
    );
    return { onWindow, onPick, chart: screen.getByRole("slider") };
  };
  const say = (chart: HTMLElement): string | null => chart.getAttribute("aria-valuetext");

  it("says the values at the peak of a window without the chosen instant, not those at its edge", () => {
    render(
      <Staircase
        label="Memory"
        unit="bytes"
        time={[0, 200, 300]}
        lines={[{ label: "allocated", color: "red", values: [1, 7, 3] }]}
        areas={[]}
        window={{ t0: 0, t1: 400 }}
        whole={{ t0: 0, t1: 1000 }}
        bands={[]}
        peak={{ time: 200, value: 7 }}
        picked={900}
        onWindow={vi.fn()}
        onPick={vi.fn()}
      />,
    );
    expect(say(screen.getByRole("slider"))).toBe("200 ns: allocated 7 B");
  });

  it("says the values at the chosen instant, unknown ones as unknown", () => {
    const { chart } = show();
    expect(say(chart)).toBe("500 ns: allocated 4.00 KiB, reserved 8.00 KiB");
    for (let i = 0; i < 11; i++) fireEvent.keyDown(chart, { key: "PageUp" });
    expect(say(chart)).toBe("0 ns: allocated 1.00 KiB, reserved –");
    expect(screen.getByText("peak 4.00 KiB")).toBeTruthy();
    expect(screen.getByText("step 1")).toBeTruthy();
    expect(screen.queryByText("step 9")).toBeNull();
  });

  it("is worked by keyboard", () => {
    const { chart, onPick, onWindow } = show();
    fireEvent.keyDown(chart, { key: "ArrowRight" });
    fireEvent.keyDown(chart, { key: "Enter" });
    expect(onPick).toHaveBeenCalledWith(505);
    fireEvent.keyDown(chart, { key: "End" });
    expect(say(chart)).toMatch(/^1.00 µs/);
    fireEvent.keyDown(chart, { key: "Home" });
    fireEvent.keyDown(chart, { key: "+" });
    expect(onWindow).toHaveBeenLastCalledWith({ t0: 0, t1: 500 });
    fireEvent.keyDown(chart, { key: "-" });
    expect(onWindow).toHaveBeenLastCalledWith({ t0: 0, t1: 1000 });
    fireEvent.keyDown(chart, { key: "Escape" });
    expect(onWindow).toHaveBeenLastCalledWith(null);
    onPick.mockClear();
    fireEvent.keyDown(chart, { key: "x" });
    expect(onPick).not.toHaveBeenCalled();
  });

  it("zooms by dragging and chooses by clicking", () => {
    const { chart, onPick, onWindow } = show();
    chart.setPointerCapture = vi.fn();
    // The plot begins at 62 px and is 570 px wide.
    const at = (share: number): { clientX: number; button: number; pointerId: number } => ({
      clientX: 62 + share * 570,
      button: 0,
      pointerId: 1,
    });
    fireEvent.pointerDown(chart, at(0.8));
    fireEvent.pointerMove(chart, at(0.5));
    fireEvent.pointerUp(chart, at(0.2));
    expect(onWindow).toHaveBeenCalledWith({ t0: 200, t1: 800 });
    fireEvent.pointerDown(chart, at(0.3));
    fireEvent.pointerUp(chart, at(0.302));
    expect(onPick).toHaveBeenCalledWith(302);
    fireEvent.pointerUp(chart, at(0.9));
    expect(onPick).toHaveBeenCalledTimes(1);
    fireEvent.pointerDown(chart, { ...at(0.1), button: 2 });
    fireEvent.pointerUp(chart, at(0.9));
    expect(onWindow).toHaveBeenCalledTimes(1);
  });
});
