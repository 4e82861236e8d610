/** Keys of the timeline. Held W, A, S, D move smoothly, frame by frame; every other key is one action. */

import type { Command } from "./props";

export type Action =
  | { kind: "command"; command: Command }
  | { kind: "zoom_to_selection" | "whole" | "mark" | "area" }
  | { kind: "page"; pages: number }
  | { kind: "rows"; px: number };

const COMMANDS: Readonly<Record<string, Command>> = {
  "/": "search",
  n: "next_hit",
  p: "previous_hit",
  g: "arrows",
  c: "path",
  "?": "help",
  escape: "clear",
  arrowleft: "previous",
  arrowright: "next",
  arrowup: "parent",
  arrowdown: "child",
};

const OTHERS: Readonly<Record<string, Action>> = {
  f: { kind: "zoom_to_selection" },
  0: { kind: "whole" },
  home: { kind: "whole" },
  m: { kind: "mark" },
  r: { kind: "area" },
  pageup: { kind: "page", pages: -0.9 },
  pagedown: { kind: "page", pages: 0.9 },
};

/** What the help says about each key, in the order in which it is read. */
export const KEYS: readonly { keys: readonly string[]; text: string }[] = [
  { keys: ["W", "S"], text: "Zoom in and out at the pointer" },
  { keys: ["A", "D"], text: "Pan to earlier and later" },
  { keys: ["Shift"], text: "With W, A, S, D: faster" },
  { keys: ["0", "Home"], text: "Show the whole trace" },
  { keys: ["F"], text: "Zoom to the selection" },
  { keys: ["←", "→"], text: "Previous and next slice on the track" },
  { keys: ["↑", "↓"], text: "Parent slice and first child slice" },
  { keys: ["Page ↑", "Page ↓"], text: "Scroll the tracks" },
  { keys: ["/"], text: "Search" },
  { keys: ["N", "P"], text: "Next and previous match" },
  { keys: ["M"], text: "Add a mark" },
  { keys: ["R"], text: "Statistics of the events in view" },
  { keys: ["G"], text: "Show or hide all flows" },
  { keys: ["C"], text: "Show or hide the critical path" },
  { keys: ["Esc"], text: "Clear selection, area and search" },
  { keys: ["?"], text: "Show this help" },
];

export const GESTURES: readonly { keys: readonly string[]; text: string }[] = [
  { keys: ["Wheel"], text: "Scroll the tracks" },
  { keys: ["Shift", "Wheel"], text: "Pan (or scroll sideways)" },
  { keys: ["Ctrl", "Wheel"], text: "Zoom at the pointer (or pinch)" },
  { keys: ["Drag"], text: "Pan" },
  { keys: ["Shift", "Drag"], text: "Select an area and show its statistics" },
  { keys: ["Click"], text: "Select a slice" },
  { keys: ["Double click"], text: "Zoom to a slice; on the ruler, to a step" },
  { keys: ["Drag on the ruler"], text: "Select a time range across all tracks in view" },
  { keys: ["Drag on the overview"], text: "Move or resize the visible window, or draw a new one" },
  { keys: ["One finger"], text: "Pan; tap to select, press and hold for details" },
  { keys: ["Two fingers"], text: "Zoom" },
];

type KeyLike = Pick<KeyboardEvent, "key" | "shiftKey" | "ctrlKey" | "metaKey" | "altKey">;

/** Keys of the browser and of the system are not ours. */
function foreign(event: KeyLike): boolean {
  return event.ctrlKey || event.metaKey || event.altKey;
}

/** What a key asks for, or `null`. Arrow keys move the view when nothing is selected. */
export function actionOf(event: KeyLike, selected: boolean): Action | null {
  if (foreign(event)) return null;
  const key = event.key.toLowerCase();
  if (!selected && (key === "arrowup" || key === "arrowdown"))
    return { kind: "rows", px: key === "arrowup" ? -40 : 40 };
  const command = COMMANDS[key];
  if (command)
    return !selected && (command === "previous" || command === "next")
      ? null
      : { kind: "command", command };
  return OTHERS[key] ?? null;
}

export interface Motion {
  zoom: number;
  pan: number;
}

const STILL: Motion = { zoom: 1, pan: 0 };
/** Per second while held: how often e-fold, and how many views. */
const ZOOM_RATE = 3;
const PAN_RATE = 1.1;
const FASTER = 2.5;
/** One step, for those who asked for less motion: as if held this long, s. */
const STEP = 0.12;

const HELD: Readonly<Record<string, Motion>> = {
  w: { zoom: -1, pan: 0 },
  s: { zoom: 1, pan: 0 },
  a: { zoom: 0, pan: -1 },
  d: { zoom: 0, pan: 1 },
  "+": { zoom: -1, pan: 0 },
  "=": { zoom: -1, pan: 0 },
  "-": { zoom: 1, pan: 0 },
  arrowleft: { zoom: 0, pan: -1 },
  arrowright: { zoom: 0, pan: 1 },
};

/** Keys that are down, and the motion that they make. */
export class HeldKeys {
  private readonly down = new Set<string>();
  /** Went down since the last motion: what was let go before a frame came still moves by that frame. */
  private readonly fresh = new Set<string>();
  private fast = false;

  /** Whether the key is one that moves. */
  press(event: KeyLike): boolean {
    const key = event.key.toLowerCase();
    this.fast = event.shiftKey;
    if (foreign(event) || !HELD[key]) return false;
    this.down.add(key);
    this.fresh.add(key);
    return true;
  }

  /** Also with other keys: a ctrl that went down in between may have swallowed the end of a hold. */
  release(event: KeyLike): void {
    this.fast = event.shiftKey;
    this.down.delete(event.key.toLowerCase());
  }

  clear(): void {
    this.down.clear();
    this.fresh.clear();
  }

  get moving(): boolean {
    return this.down.size + this.fresh.size > 0;
  }

  motion(seconds: number): Motion {
    if (!this.moving) return STILL;
    const speed = seconds * (this.fast ? FASTER : 1);
    let zoom = 0;
    let pan = 0;
    for (const key of new Set([...this.down, ...this.fresh])) {
      zoom += HELD[key]?.zoom ?? 0;
      pan += HELD[key]?.pan ?? 0;
    }
    this.fresh.clear();
    return {
      zoom: Math.exp(Math.sign(zoom) * ZOOM_RATE * speed),
      pan: Math.sign(pan) * PAN_RATE * speed,
    };
  }

  /** One step of the keys that are down, which are then no longer held. */
  step(): Motion {
    const motion = this.motion(STEP);
    this.down.clear();
    return motion;
  }
}

/** Whether typing into this element is meant for it and not for the timeline. */
export function takesKeys(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}
