/** Hidden columns and widths, kept in the browser. */

import { useState } from "preact/hooks";
import { readStored, writeStored } from "../../base/stored";
import type { CellKind, Column } from "./types";

export interface Saved {
  /** Columns that a person showed or hid, against what they start with. */
  hidden: Readonly<Record<string, boolean>>;
  widths: Readonly<Record<string, number>>;
}

const PREFIX = "pytorch_profiler.grid.";
const WIDTHS: Readonly<Record<CellKind, number>> = {
  text: 200,
  code: 340,
  time: 98,
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
    return { hidden: { ...value?.hidden }, widths: { ...value?.widths } };
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
  return Math.max(NARROWEST, Math.min(WIDEST, width));
}
