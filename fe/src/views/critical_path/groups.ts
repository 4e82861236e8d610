/** The seven groups of time: what the end of a step waited for. */

import type { FirstParts } from "../../api/types.gen";
import { GROUP_LABELS, GROUP_OF_KIND } from "../../base/groups.gen";
import type { Series } from "../../widgets";
import { rowsOf } from "../rows";

/** Colour and pattern; the patterns are told apart without the colours. In the order of a step: its data come first. */
const LOOKS: readonly (readonly [key: string, color: string, pattern?: string])[] = [
  ["data_loading", "data", "M0 2H8M0 6H8"],
  ["compute", "compute"],
  ["copies", "copies"],
  ["communication", "communication"],
  ["waiting", "communication", "M-2 2L2-2M-2 6L6-2M0 8L8 0M2 10L10 2M6 10L10 6"],
  ["host_code", "host", "M-2 6L2 10M0 0L8 8M6-2L10 2"],
  ["not_recorded", "not-recorded", "M0 0L8 8M0 8L8 0"],
];

/** The key of the group of a kind. `onHost`: without an accelerator the operators are what computes. */
export const groupOfKind = (kind: string, onHost = false): string =>
  onHost && kind === "operator" ? "compute" : (GROUP_OF_KIND[kind] ?? "host_code");

/** How a group is drawn and called; `device`: what computes, `CPU` where there is no accelerator. */
export const groupLooks = (device: string): Series[] =>
  LOOKS.map(([key, color, pattern]) => ({
    key,
    label: key === "compute" ? `${device} compute` : (GROUP_LABELS[key] ?? key),
    color: `var(--${color})`,
    pattern,
  }));

export interface GroupTime extends Series {
  ns: number;
  /** Of the whole; `null` where that is nothing. */
  share: number | null;
}

/** The parts of a path by group, those that occur. */
export function groupTimes({ parts }: { parts: FirstParts }, device: string): GroupTime[] {
  const times = new Map<string, number>();
  for (const { kind, path_ns } of rowsOf(parts)) {
    const key = groupOfKind(kind, device === "CPU");
    times.set(key, (times.get(key) ?? 0) + path_ns);
  }
  const whole = [...times.values()].reduce((sum, time) => sum + time, 0);
  return groupLooks(device)
    .map((look) => ({ ...look, ns: times.get(look.key) ?? 0 }))
    .filter(({ ns }) => ns > 0)
    .map((item) => ({ ...item, share: whole > 0 ? item.ns / whole : null }));
}
