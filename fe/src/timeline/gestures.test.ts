import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { listen, wheelFactor, wheelPixels, type GestureTarget } from "./gestures";

let element: HTMLElement;
let told: unknown[][];
let tool = false;
let scrolls = true;
let end: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  tool = false;
  scrolls = true;
  told = [];
  element = document.createElement("div");
  document.body.append(element);
  const tell =
    (name: string) =>
    (...values: unknown[]): void =>
      void told.push([name, ...values]);
  const target: GestureTarget = {
    pan: tell("pan"),
    scroll: (dy) => {
      told.push(["scroll", dy]);
      return scrolls;
    },
    zoom: tell("zoom"),
    select: tell("select"),
    zoomTo: tell("zoomTo"),
    hover: tell("hover"),
    area: tell("area"),
    grabbed: tell("grabbed"),
    areaTool: () => tool,
    enter: tell("enter"),
    idleWheel: tell("idleWheel"),
  };
  end = listen(element, target);
});
afterEach(() => {
  end();
  element.remove();
  vi.useRealTimers();
});

const pointer = (type: string, x: number, y: number, more: PointerEventInit = {}): void => {
  element.dispatchEvent(
    new PointerEvent(type, {
      clientX: x,
      clientY: y,
      pointerId: 1,
      pointerType: "mouse",
      button: 0,
      bubbles: true,
      ...more,
    }),
  );
};
const wheel = (more: WheelEventInit): WheelEvent => {
  const event = new WheelEvent("wheel", { bubbles: true, cancelable: true, ...more });
  // happy-dom's wheel events are no mouse events.
  for (const [name, value] of Object.entries({
    shiftKey: false,
    ctrlKey: false,
    metaKey: false,
    clientX: 0,
    clientY: 0,
    ...more,
  })) {
    Object.defineProperty(event, name, { value });
  }
  element.dispatchEvent(event);
  return event;
};
const names = (): unknown[] => told.map(([name]) => name);

it("tells that a pointer came, and of a wheel that nothing answered", () => {
  element.dispatchEvent(new PointerEvent("pointerenter", { pointerType: "mouse" }));
  element.dispatchEvent(new PointerEvent("pointerenter", { pointerType: "touch" }));
  for (scrolls of [true, false]) element.dispatchEvent(new WheelEvent("wheel", { deltaY: 30 }));
  expect(told.map(([name]) => name)).toEqual(["enter", "scroll", "scroll", "idleWheel"]);
});

describe("mouse", () => {
  it("hovers, and says when it leaves", () => {
    pointer("pointermove", 5, 6);
    pointer("pointerleave", 5, 6);
    expect(told).toEqual([
      ["hover", { x: 5, y: 6 }],
      ["hover", null],
    ]);
  });

  it("clicks when it hardly moved", () => {
    pointer("pointerdown", 10, 10);
    pointer("pointermove", 12, 11);
    pointer("pointerup", 12, 11);
    expect(told.filter(([name]) => name !== "grabbed" && name !== "hover")).toEqual([
      ["select", { x: 12, y: 11 }],
    ]);
  });

  it("pans by what it moved, the first px included", () => {
    pointer("pointerdown", 100, 50);
    pointer("pointermove", 90, 50);
    pointer("pointermove", 85, 45);
    pointer("pointerup", 85, 45);
    expect(told).toEqual([
      ["hover", null],
      ["grabbed", true],
      ["pan", 10],
      ["pan", 5],
      ["scroll", 5],
      ["grabbed", false],
      ["hover", { x: 85, y: 45 }],
    ]);
  });

  it("leaves other buttons alone", () => {
    pointer("pointerdown", 10, 10, { button: 2 });
    pointer("pointerup", 10, 10, { button: 2 });
    expect(told).toEqual([]);
  });

  it("draws an area with shift", () => {
    pointer("pointerdown", 10, 10, { shiftKey: true });
    pointer("pointermove", 60, 40, { shiftKey: true });
    pointer("pointerup", 70, 40);
    expect(told.filter(([name]) => name === "area")).toEqual([
      ["area", { x: 10, y: 10 }, { x: 60, y: 40 }, false],
      ["area", { x: 10, y: 10 }, { x: 70, y: 40 }, true],
    ]);
    expect(told.find(([name]) => name === "hover")).toEqual(["hover", null]);
  });

  it("draws an area while the tool is on, and still selects by click", () => {
    tool = true;
    pointer("pointerdown", 10, 10);
    pointer("pointermove", 60, 40);
    pointer("pointercancel", 60, 40);
    expect(told.filter(([name]) => name === "area").at(-1)).toEqual([
      "area",
      { x: 10, y: 10 },
      null,
      true,
    ]);
    pointer("pointerdown", 10, 10);
    pointer("pointerup", 10, 10);
    expect(names()).toContain("select");
  });

  it("zooms to what is double clicked", () => {
    element.dispatchEvent(new MouseEvent("dblclick", { clientX: 3, clientY: 4 }));
    expect(told).toEqual([["zoomTo", { x: 3, y: 4 }]]);
  });
});

describe("wheel", () => {
  it("scrolls rows", () => {
    expect(wheel({ deltaY: 100 }).defaultPrevented).toBe(true);
    expect(told).toEqual([["scroll", 100]]);
  });
  it("leaves the page its wheel when there is nothing to scroll", () => {
    scrolls = false;
    expect(wheel({ deltaY: 100 }).defaultPrevented).toBe(false);
  });
  it("pans with shift and sideways", () => {
    wheel({ deltaY: 100, shiftKey: true });
    wheel({ deltaX: -30, deltaY: 4 });
    expect(told).toEqual([
      ["pan", 100],
      ["pan", -30],
    ]);
  });
  it("takes a crooked stroke for a straight one", () => {
    wheel({ deltaX: 3, deltaY: 40 });
    expect(told).toEqual([["scroll", 40]]);
  });
  it("zooms with ctrl and never lets the page zoom", () => {
    const event = wheel({ deltaY: -100, ctrlKey: true, clientX: 7 });
    expect(event.defaultPrevented).toBe(true);
    expect(told[0]?.slice(0, 2)).toEqual(["zoom", 7]);
    expect(told[0]?.[2]).toBeCloseTo(0.756, 3);
  });
  it("zooms in steps that undo each other and are never wild", () => {
    expect(wheelFactor(100) * wheelFactor(-100)).toBeCloseTo(1, 12);
    expect(wheelFactor(1e6)).toBeCloseTo(Math.E, 9);
    expect(wheelFactor(3)).toBeGreaterThan(1);
  });
  it("counts lines and pages as px", () => {
    expect(wheelPixels({ deltaX: 0, deltaY: 3, deltaMode: 1 }, 500)).toEqual({ x: 0, y: 48 });
    expect(wheelPixels({ deltaX: 1, deltaY: 0, deltaMode: 2 }, 500)).toEqual({ x: 500, y: 0 });
  });
});

describe("fingers", () => {
  const finger = (type: string, id: number, x: number, y: number): void =>
    pointer(type, x, y, { pointerId: id, pointerType: "touch" });

  it("pinch: closer when they part, about their middle", () => {
    finger("pointerdown", 1, 100, 50);
    finger("pointerdown", 2, 200, 50);
    finger("pointermove", 2, 300, 50);
    expect(told.find(([name]) => name === "zoom")).toEqual(["zoom", 200, 0.5]);
    expect(told.find(([name]) => name === "pan")).toEqual(["pan", -50]);
  });

  it("go on panning when one is lifted, without selecting", () => {
    finger("pointerdown", 1, 100, 50);
    finger("pointerdown", 2, 200, 50);
    finger("pointerup", 2, 200, 50);
    finger("pointermove", 1, 90, 50);
    finger("pointerup", 1, 90, 50);
    expect(told).toContainEqual(["pan", 10]);
    expect(names()).not.toContain("select");
  });

  it("show what is under a long press, and select on a tap", () => {
    finger("pointerdown", 1, 10, 10);
    vi.advanceTimersByTime(500);
    expect(told).toEqual([
      ["hover", null],
      ["hover", { x: 10, y: 10 }],
    ]);
    finger("pointerup", 1, 10, 10);
    expect(names()).not.toContain("select");
    finger("pointerdown", 1, 10, 10);
    expect(told.at(-1)).toEqual(["hover", null]);
    finger("pointerup", 1, 12, 12);
    expect(names()).toContain("select");
  });
});
