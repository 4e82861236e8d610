/** Numbers as people read them. Unknown (`null`, `undefined`, `NaN`) is always shown as `UNKNOWN`, never as 0. */

/** `FLOP`, `FLOP/s` and `B/s` scale by powers of 1000, `bytes` by powers of 1024. */
export type Unit = "ns" | "bytes" | "share" | "count" | "number" | RateUnit;
type RateUnit = "FLOP" | "FLOP/s" | "B/s";

export type Maybe = number | null | undefined;

/** An en dash: what stands where a figure is not known. */
export const UNKNOWN = "–";

const TIME_STEPS: readonly (readonly [number, string])[] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];
const BYTE_STEPS: readonly (readonly [number, string])[] = [
  [2 ** 40, "TiB"],
  [2 ** 30, "GiB"],
  [2 ** 20, "MiB"],
  [2 ** 10, "KiB"],
  [1, "B"],
];
const PREFIXES: readonly (readonly [number, string])[] = [
  [1e18, "E"],
  [1e15, "P"],
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
];
const MINUS = "−";
/** A figure that is as wide as a digit, so that columns of numbers stand under each other. */
const NARROW_SPACE = "\u202f";

/** A number and its unit apart, for axes and cells whose units stand in a column of their own. */
export interface Quantity {
  text: string;
  unit: string;
}

function known(value: Maybe): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** `1234567` → `1.23`, `12.3`, `123`, `1235`: at least three significant digits, never an exponent. */
export function threeDigits(value: number): string {
  const size = Math.abs(value);
  const digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return signed(value.toFixed(digits));
}

function signed(text: string): string {
  if (!text.startsWith("-")) return text;
  return /[1-9]/.test(text) ? MINUS + text.slice(1) : text.slice(1);
}

/** The largest step that keeps the rounded number at 1 or more; a value that rounds up to the next unit takes that unit. */
function stepFor(
  value: number,
  steps: readonly (readonly [number, string])[],
): readonly [number, string] {
  const size = Math.abs(value);
  let best: readonly [number, string] = [1, ""];
  for (const step of steps) {
    best = step;
    if (size >= step[0] * 0.9995) break;
  }
  return best;
}

function quantity(value: number, steps: readonly (readonly [number, string])[]): Quantity {
  const [factor, unit] = stepFor(value, steps);
  return {
    text:
      factor === 1 && Number.isInteger(value)
        ? signed(value.toString())
        : threeDigits(value / factor),
    unit,
  };
}

/** `1_234_567` ns → `{text: "1.23", unit: "ms"}`. */
export function timeQuantity(ns: number): Quantity {
  return quantity(ns, TIME_STEPS);
}

/** `1_234_567` ns → `1.23 ms`. */
export function formatTime(ns: Maybe): string {
  if (!known(ns)) return UNKNOWN;
  const { text, unit } = timeQuantity(ns);
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
export function formatBytes(bytes: Maybe): string {
  if (!known(bytes)) return UNKNOWN;
  const { text, unit } = quantity(bytes, BYTE_STEPS);
  return `${text} ${unit}`;
}

/** `989_400_000_000_000` FLOP/s → `989 TFLOP/s`. */
export function formatRate(value: Maybe, unit: RateUnit): string {
  if (!known(value)) return UNKNOWN;
  const { text, unit: prefix } = quantity(value, PREFIXES);
  return `${text} ${prefix}${unit}`;
}

/** A fraction of 1 as per cent with one digit: `0.1234` → `12.3 %`; what is not 0 never reads as 0.0, and what is below 1 never as 100.0. */
export function formatShare(share: Maybe): string {
  if (!known(share)) return UNKNOWN;
  const percent = share * 100;
  if (percent && Math.abs(percent) < 0.05) return percent > 0 ? "<0.1 %" : `>${MINUS}0.1 %`;
  if (percent < 100 && percent >= 99.95) return ">99.9 %";
  return `${signed(percent.toFixed(1))} %`;
}

/** `1234567` → `1 234 567` with narrow spaces, which copy as one number in few places: copies use the plain value. */
export function formatCount(value: Maybe): string {
  if (!known(value)) return UNKNOWN;
  const text = signed(Math.round(value).toString());
  return text.replace(/\B(?=(\d{3})+(?!\d))/g, NARROW_SPACE);
}

/** A plain number: integers as counts, others with three significant digits. */
export function formatNumber(value: Maybe): string {
  if (!known(value)) return UNKNOWN;
  if (Number.isInteger(value)) return formatCount(value);
  const size = Math.abs(value);
  if (size < 0.995)
    return signed(value.toPrecision(3).includes("e") ? value.toFixed(6) : value.toPrecision(3));
  return threeDigits(value);
}

/** The formatter of a unit. */
export function format(value: Maybe, unit: Unit): string {
  switch (unit) {
    case "ns":
      return formatTime(value);
    case "bytes":
      return formatBytes(value);
    case "share":
      return formatShare(value);
    case "count":
      return formatCount(value);
    case "number":
      return formatNumber(value);
    default:
      return formatRate(value, unit);
  }
}

/** One unit for a whole axis or column, chosen by its largest value. */
export interface Scale {
  unit: string;
  factor: number;
  /** The value in this unit, without the unit. */
  text: (value: number) => string;
}

function stepsOf(unit: Unit): readonly (readonly [number, string])[] {
  switch (unit) {
    case "ns":
      return TIME_STEPS;
    case "bytes":
      return BYTE_STEPS;
    case "share":
      return [[0.01, "%"]];
    case "count":
    case "number":
      return [[1, ""]];
    default:
      return PREFIXES.map(([factor, prefix]) => [factor, prefix + unit]);
  }
}

/** The scale that fits `largest`; `digits` after the point follow from `step`, the distance of two ticks, where given. */
export function scaleFor(largest: number, unit: Unit, step?: number): Scale {
  const [factor, name] = stepFor(largest, stepsOf(unit));
  if (step === undefined) return { unit: name, factor, text: (v) => threeDigits(v / factor) };
  const digits = Math.min(6, Math.max(0, -Math.floor(Math.log10(step / factor) + 1e-9)));
  return {
    unit: name,
    factor,
    text: (v) => (v === 0 ? "0" : signed((v / factor).toFixed(digits))),
  };
}
