/** The frames that were zoomed to, as a browser keeps pages. */

import { useRef } from "preact/hooks";

export interface ZoomPath {
  readonly zooms: readonly number[];
  readonly at: number;
}

/** Goes to a frame: what was ahead is forgotten; the frame in sight again changes nothing. */
export function visited({ zooms, at }: ZoomPath, zoom: number): ZoomPath {
  return zooms[at] === zoom
    ? { zooms, at }
    : { zooms: [...zooms.slice(0, at + 1), zoom], at: at + 1 };
}

export interface Zooms {
  go: (zoom: number) => void;
  /** −1: to what was in sight before, 1: forward again. */
  step: (by: -1 | 1) => void;
  back: boolean;
  forward: boolean;
}

/** Begins anew with each tree of frames, and follows a zoom that comes from elsewhere, such as a link. */
export function useZooms(tree: unknown, zoom: number, onZoom: (row: number) => void): Zooms {
  const kept = useRef<{ tree: unknown; path: ZoomPath }>({ tree, path: { zooms: [zoom], at: 0 } });
  if (kept.current.tree !== tree) kept.current = { tree, path: { zooms: [zoom], at: 0 } };
  kept.current.path = visited(kept.current.path, zoom);
  const { zooms, at } = kept.current.path;
  return {
    go: onZoom,
    step: (by) => {
      const target = zooms[at + by];
      if (target === undefined) return;
      kept.current.path = { zooms, at: at + by };
      onZoom(target);
    },
    back: at > 0,
    forward: at < zooms.length - 1,
  };
}
