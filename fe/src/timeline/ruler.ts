import { MINUS, NARROW_SPACE, TIME_STEPS } from "../base/units";
import type { TimeRange } from "./types";
import { lengthOf } from "./viewport";

export interface Tick {
  time: number;
  label: string;
}

export interface Ticks {
  step: number;
  /** Thinner ticks between two labelled ones. */
  parts: number;
  ticks: readonly Tick[];
  /** What all labels are to be added to, after the origin; "" when they stand for themselves. */
  offset: string;
}

/** Room for a label, px. */
const ROOM = 92;
/** Digits of a label; beyond them the common part is shown once and the ticks count from it. */
const MOST_DIGITS = 5;

/** The smallest of 1, 2, 5 · 10^k that is not below `least`, at least 1 ns. */
export function niceStep(least: number): number {
  if (!(least > 1)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10;
  return step * power;
}

function unitOf(size: number): readonly [number, string] {
  return TIME_STEPS.find(([factor]) => size >= factor) ?? [1, "ns"];
}

/** Decimals that a unit needs to tell multiples of `step` apart. */
function decimalsFor(step: number, factor: number): number {
  return Math.max(0, Math.ceil(Math.log10(factor / Math.max(1, step)) - 1e-9));
}

/** `1.234567` with the decimals in groups of three. */
function decimal(value: number, digits: number): string {
  const text = Math.abs(value).toFixed(digits);
  const sign = value < 0 && /[1-9]/.test(text) ? MINUS : "";
  const [whole = "0", part = ""] = text.split(".");
  const grouped = part.replace(/(\d{3})(?=\d)/g, `$1${NARROW_SPACE}`);
  return `${sign}${whole.replace(/\B(?=(\d{3})+(?!\d))/g, NARROW_SPACE)}${grouped ? `.${grouped}` : ""}`;
}

/** A time that is known to `step` ns: `1 234 567` known to 1000 → `1.235 ms`. */
export function timeText(time: number, step = 1): string {
  const rounded = Math.round(time / step) * step;
  const [factor, unit] = unitOf(Math.abs(rounded));
  return rounded === 0 ? "0" : `${decimal(rounded / factor, decimalsFor(step, factor))} ${unit}`;
}

export function timeOnScreen(time: number, nsPerPx: number): string {
  return timeText(time, 10 ** Math.max(0, Math.floor(Math.log10(nsPerPx))));
}

function exactText(time: number): string {
  let step = 1;
  while (step < 1e9 && time % (step * 10) === 0) step *= 10;
  return timeText(time, step);
}

export function ticksOf(view: TimeRange, width: number, origin: number): Ticks {
  const step = niceStep((lengthOf(view) * ROOM) / Math.max(1, width));
  const from = view.t0 - origin;
  const to = view.t1 - origin;
  const base = baseOf(from, to, step);
  const largest = Math.max(Math.abs(from - base), Math.abs(to - base));
  const [factor, unit] = unitOf(largest);
  const digits = decimalsFor(step, factor);
  const ticks: Tick[] = [];
  for (let i = Math.ceil(from / step); i * step <= to; i++)
    ticks.push({ time: origin + i * step, label: label(i * step - base) });
  return { step, parts: partsOf(step), ticks, offset: base === 0 ? "" : exactText(base) };

  function label(value: number): string {
    if (value === 0 && base === 0) return "0";
    return `${base === 0 ? "" : "+"}${decimal(value / factor, digits)} ${unit}`;
  }
}

/** Five or ten ns cannot be cut in halves; below that 1 ns is the finest. */
function partsOf(step: number): number {
  const lead = step / 10 ** Math.floor(Math.log10(step) + 1e-9);
  const parts = lead > 1.5 && lead < 3 ? 4 : 5;
  return step >= parts * 2 || step === 5 ? parts : step > 1 ? Math.round(step) : 1;
}

/** What is taken off the labels: 0 while they are short, else a round time before the view. */
function baseOf(from: number, to: number, step: number): number {
  const largest = Math.max(Math.abs(from), Math.abs(to));
  const [factor] = unitOf(largest);
  const digits =
    Math.max(1, Math.floor(Math.log10(Math.max(1, largest / factor))) + 1) +
    decimalsFor(step, factor);
  if (digits <= MOST_DIGITS) return 0;
  const round = 10 ** Math.ceil(Math.log10(Math.max(1, to - from)) - 1e-9);
  return Math.floor(from / round) * round;
}
