/**
 * The one rule by which numbers are printed (docs/definitions.md, "Numbers"), as in torch_tb_profiler/units.py:
 * units_cases.json beside this file holds both to it. Unknown (`null`, `undefined`, `NaN`) is `UNKNOWN`, never 0.
 */

/** `FLOP`, `FLOP/s` and `B/s` scale by powers of 1000, `bytes` by powers of 1024. */
export type Unit = "ns" | "bytes" | "share" | "count" | "number" | RateUnit;
type RateUnit = "FLOP" | "FLOP/s" | "B/s";

export type Maybe = number | null | undefined;

/** An en dash: what stands where a figure is not known. */
export const UNKNOWN = "–";

/** Factors with their units, the largest first. */
type Steps = readonly (readonly [number, string])[];

export const TIME_STEPS: Steps = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];
const BYTE_STEPS: Steps = [
  [2 ** 40, "TiB"],
  [2 ** 30, "GiB"],
  [2 ** 20, "MiB"],
  [2 ** 10, "KiB"],
  [1, "B"],
];
const PREFIXES: Steps = [
  [1e18, "E"],
  [1e15, "P"],
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
];
const rates = (unit: RateUnit): Steps => PREFIXES.map(([factor, name]) => [factor, name + unit]);
const STEPS: Readonly<Record<Unit, Steps>> = {
  ns: TIME_STEPS,
  bytes: BYTE_STEPS,
  share: [[0.01, "%"]],
  count: [[1, ""]],
  number: [[1, ""]],
  FLOP: rates("FLOP"),
  "FLOP/s": rates("FLOP/s"),
  "B/s": rates("B/s"),
};
export const MINUS = "−";
/** Between groups of three digits; no line breaks there. */
export const NARROW_SPACE = "\u202f";

/** A number and its unit apart, for axes and cells whose units stand in a column of their own. */
export interface Quantity {
  text: string;
  unit: string;
}

function known(value: Maybe): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** `1234567` → `1.23`, `12.3`, `123`, `1 235`: at least three significant digits, never an exponent. */
export function threeDigits(value: number): string {
  const size = Math.abs(value);
  return fixed(value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

function fixed(value: number, digits: number): string {
  const [whole = "", part] = Math.abs(value).toFixed(digits).split(".");
  const text = whole.replace(/\B(?=(\d{3})+$)/g, NARROW_SPACE) + (part ? `.${part}` : "");
  return value < 0 && /[1-9]/.test(text) ? MINUS + text : text;
}

/** The largest step that keeps the rounded number at 1 or more; a value that rounds up to the next unit takes that unit. */
function stepFor(value: number, unit: Unit): Steps[number] {
  const steps = STEPS[unit];
  const fits = steps.find(([factor]) => Math.abs(value) >= factor * 0.9995);
  return fits ?? steps.at(-1) ?? [1, ""];
}

/** `1_234_567` ns → `{text: "1.23", unit: "ms"}`. */
export function quantity(value: number, unit: Unit): Quantity {
  const [factor, name] = stepFor(value, unit);
  const whole = factor === 1 && Number.isInteger(value);
  return { text: whole ? fixed(value, 0) : threeDigits(value / factor), unit: name };
}

/** `1_234_567` ns → `1.23 ms`. */
export const formatTime = (ns: Maybe): string => format(ns, "ns");

/** A time that is expected: `6_410_000` ns → `6.4 ms`, with two significant digits, so that it never looks measured. */
export function formatAbout(ns: number): string {
  const [factor, unit] = TIME_STEPS.find(([each]) => Math.abs(ns) >= each * 0.995) ?? [1, "ns"];
  const value = ns / factor;
  const size = Math.abs(value);
  const text =
    size >= 99.5
      ? fixed(Number(value.toPrecision(2)), 0)
      : fixed(value, size >= 9.95 ? 0 : size >= 0.995 || !size ? 1 : 2);
  return `${text} ${unit}`;
}

/** A difference with its sign: `1_500` ns → `+1.50 µs`. */
export function formatDelta(ns: Maybe): string {
  return `${known(ns) && ns > 0 ? "+" : ""}${formatTime(ns)}`;
}

/** `1 event`, `1 234 events`. */
export function formatEvents(n: number): string {
  return `${formatCount(n)} ${n === 1 ? "event" : "events"}`;
}

/** Exact: `1_234_567` ns → `1 234 567 ns`, for titles and copies. */
export function formatExactTime(ns: Maybe): string {
  return known(ns) ? `${formatCount(ns)} ns` : UNKNOWN;
}

/** `1536` → `1.50 KiB`: powers of 1024. */
export const formatBytes = (bytes: Maybe): string => format(bytes, "bytes");

/** `0.1234` → `12.3 %`; only none at all is `0 %`, only all of it (but for the rounding of sums) `100 %`. */
export function formatShare(share: Maybe): string {
  if (!known(share)) return UNKNOWN;
  if (!share || Math.abs(share - 1) < 1e-12) return share ? "100 %" : "0 %";
  const percent = share * 100;
  if (Math.abs(percent) < 0.05) return percent > 0 ? "<0.1 %" : `>${MINUS}0.1 %`;
  return percent >= 99.95 && percent < 100 ? ">99.9 %" : `${fixed(percent, 1)} %`;
}

/** `1234567` → `1 234 567`: every digit. */
export function formatCount(value: Maybe): string {
  return known(value) ? fixed(value, 0) : UNKNOWN;
}

/** A number without a unit: whole ones as counts, others with three significant digits. */
export function formatNumber(value: Maybe): string {
  if (!known(value)) return UNKNOWN;
  if (Number.isInteger(value)) return formatCount(value);
  let digits = 2;
  for (let bound = 0.9995; Math.abs(value) < bound && digits < 6; bound /= 10) digits++;
  return digits > 2 ? fixed(value, digits) : threeDigits(value);
}

/** As its unit is written: `989_400_000_000_000` FLOP/s → `989 TFLOP/s`. */
export function format(value: Maybe, unit: Unit): string {
  if (unit === "share") return formatShare(value);
  if (unit === "count") return formatCount(value);
  if (unit === "number") return formatNumber(value);
  if (!known(value)) return UNKNOWN;
  const { text, unit: name } = quantity(value, unit);
  return `${text} ${name}`;
}

/** One unit for a whole axis or column, chosen by its largest value. */
export interface Scale {
  unit: string;
  factor: number;
  text: (value: number) => string;
}

/** The scale that fits `largest`; `digits` after the point follow from `step`, the distance of two ticks, where given. */
export function scaleFor(largest: number, unit: Unit, step?: number): Scale {
  const [factor, name] = stepFor(largest, unit);
  if (step === undefined) return { unit: name, factor, text: (v) => threeDigits(v / factor) };
  const digits = Math.min(6, Math.max(0, -Math.floor(Math.log10(step / factor) + 1e-9)));
  return { unit: name, factor, text: (v) => (v === 0 ? "0" : fixed(v / factor, digits)) };
}
