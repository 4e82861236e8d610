/** Keys of the timeline. Held W, A, S, D move smoothly, frame by frame; every other key is one action. */

import type { Command } from "./props";

export type Action =
  | { kind: "command"; command: Command }
  | { kind: "zoom_to_selection" | "whole" | "mark" | "area" | "measure" | "pin" }
  /** An end of the measured distance: at the begin of the selected slice, or at its end. */
  | { kind: "measure_at"; edge: "start" | "end" }
  | { kind: "page"; pages: number }
  | { kind: "rows"; px: number };

export interface Motion {
  zoom: number;
  pan: number;
}

interface Binding {
  /** How the help shows the keys. */
  keys: readonly string[];
  text: string;
  /** What each key does, in lower case: once, or for as long as it is held. */
  does: Readonly<Record<string, Action | Motion>>;
}

const command = (name: Command): Action => ({ kind: "command", command: name });
const LATER: Motion = { zoom: 0, pan: 1 };
const EARLIER: Motion = { zoom: 0, pan: -1 };
const CLOSER: Motion = { zoom: -1, pan: 0 };
const FARTHER: Motion = { zoom: 1, pan: 0 };

/** Every key, in the order in which the help lists it. Arrows move slice by slice only while one is selected. */
export const KEYS: readonly Binding[] = [
  {
    keys: ["W", "S"],
    text: "Zoom in and out at the pointer",
    does: { w: CLOSER, s: FARTHER, "+": CLOSER, "=": CLOSER, "-": FARTHER },
  },
  { keys: ["A", "D"], text: "Pan to earlier and later", does: { a: EARLIER, d: LATER } },
  { keys: ["Shift"], text: "With W, A, S, D: faster", does: {} },
  {
    keys: ["0", "Home"],
    text: "Show the whole trace",
    does: { 0: { kind: "whole" }, home: { kind: "whole" } },
  },
  { keys: ["F"], text: "Zoom to the selection", does: { f: { kind: "zoom_to_selection" } } },
  {
    keys: ["←", "→"],
    text: "Previous and next slice on the track",
    does: { arrowleft: command("previous"), arrowright: command("next") },
  },
  {
    keys: ["↑", "↓"],
    text: "Parent slice and first child slice",
    does: { arrowup: command("parent"), arrowdown: command("child") },
  },
  {
    keys: ["←", "→", "↑", "↓"],
    text: "Without a selection: pan, and scroll the tracks",
    does: { arrowleft: EARLIER, arrowright: LATER },
  },
  {
    keys: ["Page ↑", "Page ↓"],
    text: "Scroll the tracks",
    does: { pageup: { kind: "page", pages: -0.9 }, pagedown: { kind: "page", pages: 0.9 } },
  },
  {
    keys: ["N", "P"],
    text: "Next and previous match",
    does: { n: command("next_hit"), p: command("previous_hit") },
  },
  { keys: ["M"], text: "Add a note", does: { m: { kind: "mark" } } },
  { keys: ["L"], text: "Measure between two clicks", does: { l: { kind: "measure" } } },
  {
    keys: ["Enter"],
    text: "While measuring: from or to the begin of the selected slice; with Shift its end",
    does: { enter: { kind: "measure_at", edge: "start" } },
  },
  { keys: ["T"], text: "Pin the track of the selected slice", does: { t: { kind: "pin" } } },
  { keys: ["R"], text: "Statistics of the events in view", does: { r: { kind: "area" } } },
  { keys: ["G"], text: "Show or hide all flows", does: { g: command("arrows") } },
  { keys: ["C"], text: "Show or hide the critical path", does: { c: command("path") } },
  {
    keys: ["Esc"],
    text: "Clear measure, selection, area and search",
    does: { escape: command("clear") },
  },
  { keys: ["?"], text: "Show this help", does: { "?": command("help") } },
];

const isMotion = (does: Action | Motion): does is Motion => "zoom" in does;
const DONE = KEYS.flatMap(({ does }) => Object.entries(does));
const ACTIONS = new Map(
  DONE.flatMap(([key, does]) => (isMotion(does) ? [] : [[key, does] as const])),
);
const HELD = new Map(DONE.flatMap(([key, does]) => (isMotion(does) ? [[key, does] as const] : [])));

export const GESTURES: readonly { keys: readonly string[]; text: string }[] = [
  { keys: ["Wheel"], text: "Scroll the tracks" },
  { keys: ["Shift", "Wheel"], text: "Pan (or scroll sideways)" },
  { keys: ["Ctrl", "Wheel"], text: "Zoom at the pointer (or pinch)" },
  { keys: ["Drag"], text: "Pan" },
  { keys: ["Shift", "Drag"], text: "Select an area and show its statistics" },
  { keys: ["Click"], text: "Select a slice; while measuring: an end of the distance" },
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
  if (!selected && HELD.has(key)) return null;
  const action = ACTIONS.get(key) ?? null;
  return action?.kind === "measure_at" && event.shiftKey ? { ...action, edge: "end" } : action;
}

const STILL: Motion = { zoom: 1, pan: 0 };
/** Per second while held: how often e-fold, and how many views. */
const ZOOM_RATE = 3;
const PAN_RATE = 1.1;
const FASTER = 2.5;
/** One step, for those who asked for less motion: as if held this long, s. */
const STEP = 0.12;

/** Keys that are down, and the motion that they make. */
export class HeldKeys {
  readonly #down = new Set<string>();
  /** Went down since the last motion: what was let go before a frame came still moves by that frame. */
  readonly #fresh = new Set<string>();
  #fast = false;

  /** Whether the key is one that moves. */
  press(event: KeyLike): boolean {
    const key = event.key.toLowerCase();
    this.#fast = event.shiftKey;
    if (foreign(event) || !HELD.has(key)) return false;
    this.#down.add(key);
    this.#fresh.add(key);
    return true;
  }

  /** Also with other keys: a ctrl that went down in between may have swallowed the end of a hold. */
  release(event: KeyLike): void {
    this.#fast = event.shiftKey;
    this.#down.delete(event.key.toLowerCase());
  }

  clear(): void {
    this.#down.clear();
    this.#fresh.clear();
  }

  get moving(): boolean {
    return this.#down.size + this.#fresh.size > 0;
  }

  motion(seconds: number): Motion {
    if (!this.moving) return STILL;
    const speed = seconds * (this.#fast ? FASTER : 1);
    let zoom = 0;
    let pan = 0;
    for (const key of new Set([...this.#down, ...this.#fresh])) {
      zoom += HELD.get(key)?.zoom ?? 0;
      pan += HELD.get(key)?.pan ?? 0;
    }
    this.#fresh.clear();
    return {
      zoom: Math.exp(Math.sign(zoom) * ZOOM_RATE * speed),
      pan: Math.sign(pan) * PAN_RATE * speed,
    };
  }

  /** One step of the keys that are down, which are then no longer held. */
  step(): Motion {
    const motion = this.motion(STEP);
    this.#down.clear();
    return motion;
  }
}

/** Whether typing into this element is meant for it and not for the timeline. */
export function takesKeys(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}
