import { describe, expect, it } from "vitest";
import { Camera } from "./camera";
import { lengthOf, whole } from "./viewport";

const SPAN = { t0: 0, t1: 1_000_000 };
const key = (name: string): KeyboardEvent => new KeyboardEvent("keydown", { key: name });

function run(camera: Camera, from: number, to: number, step = 16): void {
  for (let now = from; now <= to; now += step) camera.tick(now);
}

it("begins with the whole, or with what a link says", () => {
  expect(new Camera(SPAN, null).view).toEqual(whole(SPAN));
  expect(new Camera(SPAN, { t0: 100, t1: 300 }).view).toEqual({ t0: 100, t1: 300 });
});

describe("zoom", () => {
  it("glides to where all notches together lead, about the pointer", () => {
    const camera = new Camera(SPAN, { t0: 100_000, t1: 200_000 });
    camera.zoom(0.25, 0.5);
    camera.zoom(0.25, 0.5);
    expect(lengthOf(camera.goal)).toBeCloseTo(25_000, 6);
    run(camera, 0, 60);
    expect(camera.view.t0 + 0.25 * lengthOf(camera.view)).toBeCloseTo(125_000, 3);
    run(camera, 64, 400);
    expect([camera.moving, camera.view.t0]).toEqual([false, 125_000 - 0.25 * 25_000]);
  });

  it("follows small steps at once", () => {
    const camera = new Camera(SPAN, { t0: 100_000, t1: 200_000 });
    camera.zoom(0.5, 1.05);
    expect([camera.moving, lengthOf(camera.view)]).toEqual([false, 105_000]);
  });

  it("does not move on its own for those who asked for less motion", () => {
    const camera = new Camera(SPAN, null);
    camera.still = true;
    camera.zoom(0.5, 0.5);
    camera.go({ t0: 5000, t1: 6000 }, true);
    expect([camera.moving, camera.view]).toEqual([false, { t0: 5000, t1: 6000 }]);
  });
});

describe("keys", () => {
  it("move while they are held", () => {
    const camera = new Camera(SPAN, { t0: 100_000, t1: 200_000 });
    camera.keys.press(key("d"));
    run(camera, 0, 160);
    expect(camera.view.t0).toBeGreaterThan(110_000);
    camera.keys.release(key("d"));
    const { t0 } = camera.view;
    run(camera, 176, 300);
    expect(camera.view.t0).toBe(t0);
  });

  it("do not jump after a pause of the browser", () => {
    const camera = new Camera(SPAN, { t0: 100_000, t1: 110_000 });
    camera.keys.press(key("d"));
    camera.tick(0);
    camera.tick(5000);
    expect(camera.view.t0).toBeLessThan(102_000);
  });

  it("move by single steps for those who asked for less motion", () => {
    const camera = new Camera(SPAN, { t0: 100_000, t1: 200_000 });
    camera.still = true;
    camera.keys.press(key("w"));
    camera.tick(0);
    expect([camera.moving, lengthOf(camera.view) < 100_000]).toEqual([false, true]);
  });
});

describe("scroll", () => {
  it("stays inside the content", () => {
    const camera = new Camera(SPAN, null);
    camera.setHeights(1000, 400);
    expect(camera.scrollBy(10_000)).toBe(true);
    expect([camera.scroll, camera.scrollBy(5)]).toEqual([600, false]);
    camera.setHeights(700, 400);
    expect(camera.scroll).toBe(300);
    camera.setHeights(100, 400);
    expect(camera.scroll).toBe(0);
  });

  it("slides to a row", () => {
    const camera = new Camera(SPAN, null);
    camera.setHeights(1000, 400);
    camera.scrollTo(200, true);
    camera.tick(0);
    camera.tick(100);
    expect(camera.scroll).toBeGreaterThan(0);
    camera.tick(220);
    expect([camera.scroll, camera.moving]).toEqual([200, false]);
  });
});

it("keeps the place when the span grows, and the whole when all was shown", () => {
  const close = new Camera(SPAN, { t0: 1000, t1: 2000 });
  close.setSpan({ t0: -500, t1: 2_000_000 });
  expect(close.view).toEqual({ t0: 1000, t1: 2000 });
  const all = new Camera(SPAN, null);
  all.setSpan({ t0: -500, t1: 2_000_000 });
  expect(all.view).toEqual(whole({ t0: -500, t1: 2_000_000 }));
});

it("brings a range into sight only when it is not", () => {
  const camera = new Camera(SPAN, { t0: 1000, t1: 2000 });
  camera.bring({ t0: 1200, t1: 1300 }, false);
  expect(camera.view.t0).toBe(1000);
  camera.bring({ t0: 5000, t1: 5100 }, false);
  expect(camera.view).toEqual({ t0: 4550, t1: 5550 });
});

describe("panels about the canvas", () => {
  it("leave what is seen where it is, at the same scale", () => {
    const camera = new Camera(SPAN, { t0: 100_000, t1: 200_000 });
    camera.widen(0.6);
    expect(camera.view).toEqual({ t0: 100_000, t1: 160_000 });
    camera.widen(1 / 0.6);
    expect(camera.view.t1).toBeCloseTo(200_000, 6);
  });

  it("leave what was just asked for in sight", () => {
    const camera = new Camera(SPAN, null);
    camera.go({ t0: 100_000, t1: 200_000 }, false);
    camera.widen(0.6);
    expect(camera.view).toEqual({ t0: 100_000, t1: 200_000 });
  });

  it("leave the rows where they are when they close, until somebody scrolls", () => {
    const camera = new Camera(SPAN, null);
    camera.setHeights(1000, 300);
    camera.scrollBy(700);
    camera.setHeights(1000, 600);
    expect([camera.scroll, camera.scrollRange]).toEqual([700, 700]);
    camera.scrollBy(-100);
    expect([camera.scroll, camera.scrollRange]).toEqual([600, 600]);
    camera.setHeights(900, 600);
    expect(camera.scroll).toBe(300);
  });
});
