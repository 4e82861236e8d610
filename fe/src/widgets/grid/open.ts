/** Which rows are open, also after sorting, searching and new data. */

import { useMemo, useRef, useState } from "preact/hooks";
import type { OpenAt } from "./layout";

/** What a detail takes until it is measured, px. */
const GUESS = 96;

interface OpenRows {
  /** Open rows among the shown ones, by position. */
  at: (OpenAt & { row: number })[];
  isOpen: (row: number) => boolean;
  toggle: (row: number) => void;
  setHeight: (row: number, height: number) => void;
}

/** Row numbers are those of `data`; when that is replaced, `rowKey` finds the open ones again, or else they are closed. */
export function useOpenRows(
  data: unknown,
  rowCount: number,
  shown: Uint32Array,
  rowKey: ((row: number) => string) | undefined,
): OpenRows {
  const [heights, setHeights] = useState<ReadonlyMap<string, number>>(new Map());
  const seen = useRef(data);
  const key = rowKey ?? String;
  let current = heights;
  if (seen.current !== data) {
    seen.current = data;
    if (!rowKey && heights.size > 0) {
      current = new Map();
      setHeights(current);
    }
  }
  const at = useMemo(() => {
    const places: (OpenAt & { row: number })[] = [];
    if (current.size === 0) return places;
    for (let position = 0; position < shown.length && places.length < current.size; position++) {
      const row = shown[position] ?? 0;
      const height = current.get(key(row));
      if (height !== undefined) places.push({ position, height, row });
    }
    return places;
    // `key` is a new function with each draw, but says the same for the same data.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [current, shown, data, rowCount]);
  const change = (edit: (map: Map<string, number>) => void): void =>
    setHeights((before) => {
      const next = new Map(before);
      edit(next);
      return next;
    });
  return {
    at,
    isOpen: (row) => current.has(key(row)),
    toggle: (row) =>
      change((map) => (map.has(key(row)) ? map.delete(key(row)) : map.set(key(row), GUESS))),
    setHeight: (row, height) => {
      if (current.get(key(row)) !== height && current.has(key(row)))
        change((map) => map.set(key(row), height));
    },
  };
}
