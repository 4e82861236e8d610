import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Ribbon } from "./Ribbon";
import { movedPart, stretchAt } from "./Ribbon";

const STRETCHES = [
  { series: 0, t0: 100, t1: 400 },
  { series: 1, t0: 400, t1: 1100 },
];
const SERIES = [
  { key: "a", label: "first", color: "red", pattern: "M0 0L8 8" },
  { key: "b", label: "second", color: "blue", pattern: "" },
];
const WHOLE = { t0: 100, t1: 1100 };

describe("stretchAt", () => {
  it("finds the stretch at a time, the nearest one outside", () => {
    expect([0, 100, 399, 400, 2000].map((time) => stretchAt(STRETCHES, time))).toEqual([
      0, 0, 0, 1, 1,
    ]);
  });
});

describe("movedPart", () => {
  const part = { t0: 200, t1: 300 };

  it("moves by a hundredth of the whole and stays inside", () => {
    expect(movedPart(part, "ArrowRight", false, WHOLE)).toEqual({ t0: 210, t1: 310 });
    expect(movedPart(part, "PageUp", false, WHOLE)).toEqual({ t0: 100, t1: 200 });
    expect(movedPart(part, "End", false, WHOLE)).toEqual({ t0: 1000, t1: 1100 });
  });

  it("moves the end alone, never to the begin", () => {
    expect(movedPart(part, "ArrowLeft", true, WHOLE)).toEqual({ t0: 200, t1: 290 });
    expect(movedPart(part, "Home", true, WHOLE)).toEqual({ t0: 200, t1: 210 });
    expect(movedPart(part, "End", true, WHOLE)).toEqual({ t0: 200, t1: 1100 });
    expect(movedPart(part, "a", true, WHOLE)).toBeNull();
  });
});

describe("Ribbon", () => {
  const onChoose = vi.fn();
  const onPoint = vi.fn();
  const show = (chosen: { t0: number; t1: number } | null = null): HTMLElement => {
    render(
      <Ribbon
        label="path"
        series={SERIES}
        stretches={STRETCHES}
        describe={(index) => SERIES[index]?.label ?? ""}
        scale={1000}
        {...{ chosen, onChoose, onPoint }}
      />,
    );
    const slider = screen.getByRole("slider");
    // One px per ns.
    slider.getBoundingClientRect = () =>
      ({ left: 0, width: Number(slider.getAttribute("width")) }) as DOMRect;
    slider.setPointerCapture = vi.fn();
    return slider;
  };
  beforeEach(() => vi.clearAllMocks());
  afterEach(cleanup);

  it("chooses what is dragged over, in either direction", () => {
    const slider = show();
    const width = Number(slider.getAttribute("width"));
    fireEvent.pointerDown(slider, { button: 0, clientX: width * 0.6 });
    fireEvent.pointerMove(slider, { clientX: width * 0.2 });
    expect(onPoint).toHaveBeenLastCalledWith(0);
    expect(onChoose).not.toHaveBeenCalled();
    fireEvent.pointerUp(slider);
    expect(onChoose).toHaveBeenCalledExactlyOnceWith({ t0: 300, t1: 700 });
  });

  it("takes a press for no drag and lets go on a double click", () => {
    const slider = show({ t0: 200, t1: 300 });
    fireEvent.pointerDown(slider, { button: 0, clientX: 5 });
    fireEvent.pointerUp(slider);
    expect(onChoose).not.toHaveBeenCalled();
    fireEvent.dblClick(slider);
    expect(onChoose).toHaveBeenLastCalledWith(null);
  });

  it("moves a cursor with arrows and begins a part at it with Shift", () => {
    const slider = show();
    fireEvent.keyDown(slider, { key: "ArrowRight" });
    expect(onPoint).toHaveBeenLastCalledWith(0);
    fireEvent.keyDown(slider, { key: "ArrowRight" });
    expect(slider.getAttribute("aria-valuetext")).toBe("second");
    fireEvent.keyDown(slider, { key: "ArrowRight", shiftKey: true });
    expect(onChoose).toHaveBeenLastCalledWith({ t0: 400, t1: 1100 });
    expect(fireEvent.keyDown(slider, { key: "x" })).toBe(true);
  });

  it("says what is chosen and paints patterns", () => {
    const slider = show({ t0: 0, t1: 300 });
    expect(slider.getAttribute("aria-valuetext")).toBe("first; chosen: 200 ns");
    const [ground] = slider.querySelectorAll<SVGElement>("svg > g > rect");
    expect(ground?.style.fill).toMatch(/^url\(.*-0/);
  });
});
