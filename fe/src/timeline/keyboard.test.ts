import { describe, expect, it } from "vitest";
import { actionOf, HeldKeys, KEYS, takesKeys } from "./keyboard";

const key = (name: string, more: Partial<KeyboardEventInit> = {}): KeyboardEvent =>
  new KeyboardEvent("keydown", { key: name, ...more });

describe("actionOf", () => {
  it.each([
    ["n", "next_hit"],
    ["P", "previous_hit"],
    ["g", "arrows"],
    ["?", "help"],
    ["Escape", "clear"],
    ["ArrowLeft", "previous"],
    ["ArrowRight", "next"],
    ["ArrowUp", "parent"],
    ["ArrowDown", "child"],
  ])("%s asks for %s", (name, command) =>
    expect(actionOf(key(name), true)).toEqual({ kind: "command", command }),
  );

  it.each([
    ["f", "zoom_to_selection"],
    ["0", "whole"],
    ["Home", "whole"],
    ["m", "mark"],
    ["r", "area"],
    ["PageDown", "page"],
  ])("%s does %s", (name, kind) => {
    expect(actionOf(key(name), false)?.kind).toBe(kind);
  });

  it("moves the rows by arrow keys while nothing is selected", () => {
    expect(actionOf(key("ArrowDown"), false)).toEqual({ kind: "rows", px: 40 });
    expect(actionOf(key("ArrowLeft"), false)).toBeNull();
  });

  it("leaves the browser its keys", () => {
    expect(actionOf(key("f", { ctrlKey: true }), true)).toBeNull();
    expect(actionOf(key("r", { metaKey: true }), true)).toBeNull();
    expect(actionOf(key("ArrowLeft", { altKey: true }), true)).toBeNull();
    expect(actionOf(key("x"), true)).toBeNull();
  });
});

it("the help lists every key that does something, once", () => {
  const all = KEYS.flatMap(({ does }) => Object.entries(does));
  const kinds = all.map(([name, does]) => `${name} ${"zoom" in does ? "held" : "once"}`);
  expect(new Set(kinds).size).toBe(kinds.length);
  for (const [name, does] of all)
    if ("zoom" in does) expect(new HeldKeys().press(key(name))).toBe(true);
    else expect(actionOf(key(name), true)).toEqual(does);
  expect(KEYS.every(({ keys, text }) => keys.length > 0 && text)).toBe(true);
});

it("Enter chooses an end of a distance, with Shift the other edge", () => {
  expect(actionOf(key("Enter"), true)).toEqual({ kind: "measure_at", edge: "start" });
  expect(actionOf(key("Enter", { shiftKey: true }), true)).toEqual({
    kind: "measure_at",
    edge: "end",
  });
});

describe("HeldKeys", () => {
  it("moves while held and not longer", () => {
    const held = new HeldKeys();
    expect(held.press(key("d"))).toBe(true);
    expect(held.motion(0.5).pan).toBeCloseTo(0.55, 9);
    held.release(key("d"));
    expect([held.moving, held.motion(0.5)]).toEqual([false, { zoom: 1, pan: 0 }]);
  });

  it("is the same over one long frame or many short ones", () => {
    const held = new HeldKeys();
    held.press(key("w"));
    const many = Array.from({ length: 10 }, () => held.motion(0.01).zoom).reduce(
      (a, b) => a * b,
      1,
    );
    expect(many).toBeCloseTo(held.motion(0.1).zoom, 12);
    expect(many).toBeLessThan(1);
  });

  it("is faster with shift, which may come later", () => {
    const held = new HeldKeys();
    held.press(key("a"));
    held.press(key("Shift", { shiftKey: true }));
    expect(held.motion(0.1).pan).toBeCloseTo(-0.275, 9);
    held.release(key("A"));
    expect(held.moving).toBe(false);
  });

  it("stands still between opposite keys", () => {
    const held = new HeldKeys();
    held.press(key("a"));
    held.press(key("d"));
    expect(held.motion(1).pan).toBe(0);
  });

  it("moves by a frame for a tap between two frames", () => {
    const held = new HeldKeys();
    held.press(key("w"));
    held.release(key("w"));
    expect(held.moving).toBe(true);
    expect(held.motion(0.01).zoom).toBeLessThan(1);
    expect([held.moving, held.motion(0.01).zoom]).toEqual([false, 1]);
  });

  it("takes ctrl and w for the browser's", () =>
    expect(new HeldKeys().press(key("w", { ctrlKey: true }))).toBe(false));

  it("steps once for those who want less motion", () => {
    const held = new HeldKeys();
    held.press(key("s"));
    expect(held.step().zoom).toBeCloseTo(Math.exp(0.36), 9);
    expect(held.moving).toBe(false);
  });
});

it("leaves typing alone", () => {
  expect(takesKeys(document.createElement("input"))).toBe(true);
  expect(takesKeys(document.createElement("button"))).toBe(false);
  expect(takesKeys(null)).toBe(false);
});
