import { formatCount, formatShare, formatTime } from "../base/units";
import { valueAt, valueText } from "./crosshair";
import { ownAt, ownLength } from "./clock";
import { timeText } from "./ruler";
import type { Curve, Row, Slice, Source } from "./types";

export interface HoverText {
  title: string;
  lines: readonly string[];
}

/** A name that is still on its way is said to be. */
function nameOf(slice: Slice, sources: readonly Source[]): string {
  return sources[slice.source]?.name(slice.name) ?? "…";
}

/** An event: its name, begin and duration. A summary: how many events, how busy, and the longest one. */
export function hoverText(
  slice: Slice,
  sources: readonly Source[],
  origin: number,
  more: readonly string[],
): HoverText {
  const name = nameOf(slice, sources);
  const source = sources[slice.source];
  const length = source ? Math.max(0, ownLength(source, slice)) : 0;
  // Beside another recording each has a time of its own.
  const begin = source?.line ? ownAt(source, slice.start) : slice.start - origin;
  const at = `at ${timeText(Math.round(begin))}`;
  if (slice.count <= 1)
    return { title: name || "(no name)", lines: [`${formatTime(length)} ${at}`, ...more] };
  return {
    title: `${formatCount(slice.count)} events, ${formatShare(slice.busy)} busy`,
    lines: [`${formatTime(length)} ${at}`, `longest: ${name || "(no name)"}`, ...more],
  };
}

/** A row where it has no slice: the value of a curve, or why the row is there. */
export function rowText(
  row: Row,
  curve: Curve | undefined,
  time: number,
  origin: number,
  about: string | undefined,
): HoverText {
  const value = curve && valueAt(curve, time);
  const at = `at ${timeText(Math.round(time - origin))}`;
  const lines = [
    row.counter < 0 ? row.note : value ? `${valueText(value, curve)} ${at}` : `unknown ${at}`,
    about ?? "",
  ];
  return { title: row.label || "Overlap", lines: lines.filter(Boolean) };
}

/** The text of a hovered slice as one sentence, for screen readers. */
export function spokenText(
  slice: Slice,
  sources: readonly Source[],
  origin: number,
  row: string,
): string {
  const { title, lines } = hoverText(slice, sources, origin, []);
  return [title, ...lines, row ? `in ${row}` : ""].filter(Boolean).join(", ");
}
