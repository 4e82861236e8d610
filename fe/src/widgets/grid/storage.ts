/** Hidden columns and widths, kept in the browser. */

import { useState } from "preact/hooks";
import type { CellKind, Column } from "./types";

export interface Saved {
  /** Columns that a person showed or hid, against what they start with. */
  hidden: Readonly<Record<string, boolean>>;
  widths: Readonly<Record<string, number>>;
}

const NOTHING: Saved = { hidden: {}, widths: {} };
const PREFIX = "pytorch_profiler.grid.";
const WIDTHS: Readonly<Record<CellKind, number>> = {
  text: 200,
  code: 340,
  time: 104,
  delta: 132,
  bytes: 100,
  share: 92,
  count: 92,
  number: 100,
  knowledge: 96,
  FLOP: 104,
  "FLOP/s": 104,
  "B/s": 96,
};
export const NARROWEST = 56;
export const WIDEST = 1600;

function read(name: string | undefined): Saved {
  if (!name) return NOTHING;
  try {
    const value = JSON.parse(
      localStorage.getItem(PREFIX + name) ?? "null",
    ) as Partial<Saved> | null;
    return { hidden: { ...value?.hidden }, widths: { ...value?.widths } };
  } catch {
    return NOTHING;
  }
}

function write(name: string | undefined, saved: Saved): void {
  if (!name) return;
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(saved));
  } catch {
    // Without storage the choice lasts as long as the table.
  }
}

export function useSaved(name: string | undefined): [Saved, (saved: Saved) => void] {
  const [saved, setSaved] = useState(() => read(name));
  const keep = (next: Saved): void => {
    setSaved(next);
    write(name, next);
  };
  return [saved, keep];
}

export function isHidden(column: Column, saved: Saved): boolean {
  return saved.hidden[column.key] ?? column.hidden ?? false;
}

export function widthOf(column: Column, saved: Saved): number {
  const width = saved.widths[column.key] ?? column.width ?? WIDTHS[column.kind];
  return Math.max(NARROWEST, Math.min(WIDEST, width));
}
