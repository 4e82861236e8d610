/**
 * What mouse, trackpad, pen and fingers mean on the canvas. Wheel: rows; shift or sideways wheel: pan; ctrl, meta or pinch: zoom at the pointer.
 * Drag: pan; shift and drag, or any drag while the area tool is on: choose an area; click: select; double click: zoom there. One finger pans, two
 * pinch, a long press is a hover.
 */

import { clamp } from "../base/clamp";
import type { TargetedMouseEvent } from "preact";

export interface Point {
  x: number;
  y: number;
}

/** What the gestures ask for; px of the element. */
export interface GestureTarget {
  /** Positive: towards later times. */
  pan: (dx: number) => void;
  /** Positive: towards lower rows. Returns whether there was anything to scroll; if not, the page scrolls. */
  scroll: (dy: number) => boolean;
  zoom: (x: number, factor: number) => void;
  select: (at: Point) => void;
  zoomTo: (at: Point) => void;
  /** The pointer is here, or has left. */
  hover: (at: Point | null) => void;
  /** An area is being drawn; `done` when the button was let go, `to` is `null` when it was given up. */
  area: (from: Point, to: Point | null, done: boolean) => void;
  /** A drag holds the canvas: for the look of the pointer. */
  grabbed: (grabbed: boolean) => void;
  areaTool: () => boolean;
  /** The pointer came from elsewhere. */
  enter: () => void;
  /** A plain wheel had nothing to scroll. */
  idleWheel: () => void;
}

/** How far a pointer may move, px, and still click. */
const SLOP = 4;
const LONG_PRESS = 450;
/** Fingers are less exact than mice. */
const TOUCH_SLOP = 10;
const LINE = 16;

/** How much a wheel zooms: a notch of a mouse (100 or 120) about a third; the small steps of a trackpad's pinch more per px. */
export function wheelFactor(deltaY: number): number {
  const rate = Math.abs(deltaY) < 40 ? 0.01 : 0.0028;
  return Math.exp(clamp(deltaY * rate, -1, 1));
}

/** Wheel movement in px, whatever unit the browser counts in. */
export function wheelPixels(
  event: Pick<WheelEvent, "deltaX" | "deltaY" | "deltaMode">,
  page: number,
): Point {
  const unit = event.deltaMode === 1 ? LINE : event.deltaMode === 2 ? page : 1;
  return { x: event.deltaX * unit, y: event.deltaY * unit };
}

/** The place of a pointer on the element that listens for it. */
function pointOn(element: Element, event: MouseEvent): Point {
  const box = element.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

export const columnOf = (event: TargetedMouseEvent<Element>): number =>
  pointOn(event.currentTarget, event).x;

/** Listens on the element until the returned function is called. */
export function listen(element: HTMLElement, target: GestureTarget): () => void {
  const gestures = new Gestures(element, target);
  const pairs: [string, (event: never) => void][] = [
    ["pointerdown", gestures.down],
    ["pointermove", gestures.move],
    ["pointerup", gestures.up],
    ["pointercancel", gestures.cancel],
    ["pointerenter", gestures.enter],
    ["pointerleave", gestures.leave],
    ["dblclick", gestures.double],
    ["wheel", gestures.wheel],
  ];
  const over = new AbortController();
  const how = { passive: false, signal: over.signal };
  for (const [name, listener] of pairs)
    element.addEventListener(name, listener as EventListener, how);
  return () => {
    over.abort();
    gestures.end();
  };
}

type Mode = "idle" | "pressed" | "pan" | "area" | "pinch" | "peek";

class Gestures {
  readonly #element: HTMLElement;
  readonly #target: GestureTarget;
  readonly #pointers = new Map<number, Point>();
  #mode: Mode = "idle";
  #start: Point = { x: 0, y: 0 };
  #press: ReturnType<typeof setTimeout> | undefined;
  #touch = false;

  constructor(element: HTMLElement, target: GestureTarget) {
    this.#element = element;
    this.#target = target;
  }

  end(): void {
    clearTimeout(this.#press);
  }

  readonly down = (event: PointerEvent): void => {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    const at = this.#pointOf(event);
    this.#pointers.set(event.pointerId, at);
    // A pointer that is already gone (synthetic events, a pen lifted at once) cannot be captured.
    try {
      this.#element.setPointerCapture(event.pointerId);
    } catch {
      // The gesture then ends at the element's edge.
    }
    clearTimeout(this.#press);
    if (this.#pointers.size >= 2) {
      if (this.#mode === "area") this.#target.area(this.#start, null, true);
      this.#mode = "pinch";
      return;
    }
    this.#touch = event.pointerType === "touch";
    // What the last long press told is old now.
    if (this.#touch) this.#target.hover(null);
    this.#start = at;
    this.#mode = event.shiftKey || this.#target.areaTool() ? "area" : "pressed";
    if (this.#touch && this.#mode === "pressed") this.#press = setTimeout(this.#peek, LONG_PRESS);
  };

  readonly #peek = (): void => {
    if (this.#mode !== "pressed") return;
    this.#mode = "peek";
    this.#target.hover(this.#start);
  };

  readonly move = (event: PointerEvent): void => {
    const at = this.#pointOf(event);
    const before = this.#pointers.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== "touch") this.#target.hover(at);
      return;
    }
    this.#pointers.set(event.pointerId, at);
    if (this.#mode === "pinch") this.#pinch(event.pointerId, before, at);
    else if (this.#mode === "area") this.#drawArea(at);
    else if (this.#mode === "peek") this.#target.hover(at);
    else this.#drag(before, at);
  };

  #drawArea(at: Point): void {
    if (this.#isClick(at)) return;
    // What is under the pointer is not what the area is about.
    this.#target.hover(null);
    this.#target.area(this.#start, at, false);
  }

  #drag(before: Point, at: Point): void {
    let from = before;
    if (this.#mode === "pressed") {
      if (this.#isClick(at)) return;
      clearTimeout(this.#press);
      this.#mode = "pan";
      this.#target.hover(null);
      this.#target.grabbed(true);
      from = this.#start;
    }
    if (this.#mode !== "pan") return;
    if (at.x !== from.x) this.#target.pan(from.x - at.x);
    if (at.y !== from.y) this.#scrollOrPage(from.y - at.y);
  }

  /** A finger on a canvas that has nothing to scroll must still be able to scroll the page. */
  #scrollOrPage(dy: number): void {
    if (!this.#target.scroll(dy) && this.#touch)
      this.#element.ownerDocument.scrollingElement?.scrollBy(0, dy);
  }

  /** Two fingers: the times under both stay under them. */
  #pinch(id: number, before: Point, at: Point): void {
    const other = [...this.#pointers].find(([key]) => key !== id)?.[1];
    if (!other) return;
    const apart = Math.max(20, Math.abs(at.x - other.x));
    const apartBefore = Math.max(20, Math.abs(before.x - other.x));
    const middle = (at.x + other.x) / 2;
    this.#target.pan((before.x - at.x) / 2);
    this.#target.scroll((before.y - at.y) / 2);
    if (apart !== apartBefore) this.#target.zoom(middle, apartBefore / apart);
  }

  readonly up = (event: PointerEvent): void => {
    if (!this.#pointers.delete(event.pointerId)) return;
    clearTimeout(this.#press);
    const at = this.#pointOf(event);
    const mode = this.#mode;
    if (this.#pointers.size > 0) {
      // The finger that stays goes on panning from where it is.
      this.#mode = "pan";
      return;
    }
    this.#mode = "idle";
    this.#target.grabbed(false);
    if (!this.#touch) this.#target.hover(at);
    if (mode === "area" && !this.#isClick(at)) this.#target.area(this.#start, at, true);
    else if (mode === "pressed" || mode === "area") this.#target.select(at);
  };

  readonly cancel = (event: PointerEvent): void => {
    if (!this.#pointers.delete(event.pointerId)) return;
    clearTimeout(this.#press);
    if (this.#mode === "area") this.#target.area(this.#start, null, true);
    this.#mode = this.#pointers.size > 0 ? "pan" : "idle";
    this.#target.grabbed(false);
    this.#target.hover(null);
  };

  readonly enter = (event: PointerEvent): void => {
    if (event.pointerType !== "touch") this.#target.enter();
  };

  readonly leave = (event: PointerEvent): void => {
    if (!this.#pointers.has(event.pointerId) && event.pointerType !== "touch")
      this.#target.hover(null);
  };

  readonly double = (event: MouseEvent): void => {
    event.preventDefault();
    this.#target.zoomTo(this.#pointOf(event));
  };

  readonly wheel = (event: WheelEvent): void => {
    const { x, y } = wheelPixels(event, this.#element.clientHeight);
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.#target.zoom(this.#pointOf(event).x, wheelFactor(y || x));
      return;
    }
    const sideways = event.shiftKey && x === 0 ? y : x;
    const down = event.shiftKey && x === 0 ? 0 : y;
    // Slightly crooked trackpad strokes are meant straight.
    const straight = Math.abs(sideways) < Math.abs(down) / 3 ? 0 : sideways;
    if (straight !== 0) this.#target.pan(straight);
    const scrolled =
      down !== 0 && Math.abs(down) >= Math.abs(straight) / 3 && this.#target.scroll(down);
    if (scrolled || straight !== 0) event.preventDefault();
    else this.#target.idleWheel();
  };

  #isClick(at: Point): boolean {
    const slop = this.#touch ? TOUCH_SLOP : SLOP;
    return Math.abs(at.x - this.#start.x) < slop && Math.abs(at.y - this.#start.y) < slop;
  }

  #pointOf(event: MouseEvent): Point {
    return pointOn(this.#element, event);
  }
}
