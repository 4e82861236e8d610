/** Hidden columns and widths, kept in the browser. */

import { useState } from "preact/hooks";
import { clamp } from "../../base/clamp";
import { readStored, writeStored } from "../../base/stored";
import { isText } from "./order";
import type { CellKind, Column } from "./types";

export interface Saved {
  /** Columns that a person showed or hid, against what they start with. */
  hidden: Readonly<Record<string, boolean>>;
  widths: Readonly<Record<string, number>>;
  /** Whether columns for which there is no room are drawn, and the table scrolls sideways. */
  all?: boolean;
  /** Whether the charts beside the table are folded. */
  folded?: boolean;
}

const PREFIX = "pytorch_profiler.grid.";
const WIDTHS: Readonly<Record<CellKind, number>> = {
  text: 200,
  code: 340,
  time: 90,
  delta: 132,
  bytes: 96,
  share: 92,
  count: 80,
  number: 100,
  knowledge: 96,
  FLOP: 104,
  "FLOP/s": 104,
  "B/s": 96,
};
export const NARROWEST = 56;
export const WIDEST = 1600;

function read(name: string | undefined): Saved {
  try {
    const text = name ? readStored(PREFIX + name) : null;
    const value = JSON.parse(text ?? "null") as Partial<Saved> | null;
    return { ...value, hidden: { ...value?.hidden }, widths: { ...value?.widths } };
  } catch {
    return { hidden: {}, widths: {} };
  }
}

export function useSaved(name: string | undefined): [Saved, (saved: Saved) => void] {
  const [saved, setSaved] = useState(() => read(name));
  const keep = (next: Saved): void => {
    setSaved(next);
    if (name) writeStored(PREFIX + name, JSON.stringify(next));
  };
  return [saved, keep];
}

export function isHidden(column: Column, saved: Saved): boolean {
  return saved.hidden[column.key] ?? column.hidden ?? false;
}

export function widthOf(column: Column, saved: Saved): number {
  const width = saved.widths[column.key] ?? column.width ?? WIDTHS[column.kind];
  return clamp(width, NARROWEST, WIDEST);
}

/** How wide columns are: as somebody dragged them, the first at most as wide as half of the room. */
export function widthsOf(columns: readonly Column[], saved: Saved, room: number): number[] {
  return columns.map((column, place) => {
    const width = widthOf(column, saved);
    const most = place || column.key in saved.widths ? width : Math.max(room / 2, NARROWEST);
    return Math.min(width, most);
  });
}

/**
 * The columns for which there is room, in their order. The first, the sorted one (else the first figure, with a bar if there is one) and those that somebody
 * chose always stay; then those that lead somewhere, and of the others all up to the first that has no room.
 */
export function fitting(
  columns: readonly Column[],
  saved: Saved,
  room: number,
  sorted: string | undefined,
): readonly Column[] {
  if (saved.all) return columns;
  const figure =
    columns.find(({ bar }) => bar) ?? columns.find(({ kind, action }) => !action && !isText(kind));
  const stays = (column: Column): boolean =>
    column === columns[0] ||
    column.key === (sorted ?? figure?.key) ||
    saved.hidden[column.key] === false;
  const widths = widthsOf(columns, saved, room);
  const kept = new Set<Column>();
  let left = room;
  const keep = (wanted: (column: Column) => boolean, always = false): void =>
    columns.forEach((column, place) => {
      if (kept.has(column) || !wanted(column) || (left < 0 && !always)) return;
      left -= widths[place] ?? 0;
      if (left >= 0 || always) kept.add(column);
    });
  keep(stays, true);
  keep(({ action }) => action === true);
  keep(() => true);
  return columns.filter((column) => kept.has(column));
}
