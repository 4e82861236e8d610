/** Trees of tracks for tests. */

import type { TrackNode } from "./props";

const NODE: TrackNode = {
  key: "",
  kind: "group",
  label: "",
  note: "",
  source: 0,
  lanes: [],
  overlapping: 0,
  counter: -1,
  standingLane: -1,
  foldedByDefault: false,
  bare: false,
  children: [],
};

export function node(key: string, more: Partial<TrackNode> = {}): TrackNode {
  return { ...NODE, key, label: key, ...more };
}

/** A group with lanes `from` to `from + count - 1`, one per depth; `overlaps` lanes more that overlap the last. */
export function group(
  key: string,
  from: number,
  count: number,
  more: Partial<TrackNode> = {},
  overlaps = 0,
): TrackNode {
  const lanes = Array.from({ length: count + overlaps }, (_, i) => ({
    lane: from + i,
    depth: Math.min(i, count - 1),
    overlap: i >= count,
  }));
  return node(key, { lanes, ...more });
}

/** A host process with a thread of python frames (lanes 0, 1), calls (2 to 4), and memory; a device with two streams (5; 6 and its overlap 7). */
export function sampleTree(): readonly TrackNode[] {
  return [
    node("host", {
      kind: "process",
      standingLane: 2,
      children: [
        node("main", {
          children: [
            group("main.calls", 2, 3, { bare: true }),
            group("main.python", 0, 2, { foldedByDefault: true }),
          ],
        }),
        node("memory", { kind: "counter", counter: 0 }),
      ],
    }),
    node("gpu", {
      kind: "process",
      children: [
        node("stream 7", { children: [group("s7.work", 5, 1, { bare: true })] }),
        node("stream 9", { children: [group("s9.work", 6, 1, { bare: true }, 1)] }),
      ],
    }),
  ];
}
