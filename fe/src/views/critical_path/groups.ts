/** The seven groups of time: what the end of a step waited for. */

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

/** The host's code by phase, and its waiting: what is no group of its own. */
const PHASES: readonly (readonly [key: string, label: string, color: string, pattern?: string])[] =
  [
    ["forward", "forward", "host"],
    ["backward", "backward", "host", "M-2 6L2 10M0 0L8 8M6-2L10 2"],
    ["optimizer", "optimizer", "host", "M2 0V8M6 0V8"],
    ["python", "Python", "host"],
    ["device_wait", "waits for GPU", "line", "M-2 2L2-2M0 8L8 0M6 10L10 6"],
  ];

/** How each category of a lane is drawn and called. */
export const categoryLooks = (device: string): Series[] => [
  ...groupLooks(device),
  ...PHASES.map(([key, label, color, pattern]) => ({
    ...{ key, pattern, color: `var(--${color})` },
    label: label.replace("GPU", device),
  })),
];

export const lookOfCategory = (category: string, device: string): Series =>
  categoryLooks(device).find(({ key }) => key === category) ?? {
    ...{ key: category, label: category, color: "var(--host)" },
  };

/** Parts of a path by kind, ns. */
export interface PathTimes {
  kind: readonly string[];
  path_ns: readonly number[];
}

export interface GroupTime extends Series {
  ns: number;
  /** Of the whole; `null` where that is nothing. */
  share: number | null;
}

/** The parts of a path by group, those that occur; of nothing known none. */
export function groupTimes(payload: { parts: PathTimes } | null, device: string): GroupTime[] {
  const times = new Map<string, number>();
  for (const { kind, path_ns } of payload ? rowsOf(payload.parts) : []) {
    const key = groupOfKind(kind, device === "CPU");
    times.set(key, (times.get(key) ?? 0) + path_ns);
  }
  const whole = [...times.values()].reduce((sum, time) => sum + time, 0);
  return groupLooks(device)
    .map((look) => ({ ...look, ns: times.get(look.key) ?? 0 }))
    .filter(({ ns }) => ns > 0)
    .map((item) => ({ ...item, share: whole > 0 ? item.ns / whole : null }));
}

/** Share of what a group takes in all from which on it is worth a line that so much is beside the path. */
const MUCH = 0.05;

/** The groups with what they take in all; `null`: as much as on the path, or unknown. Groups of which nothing is on it, too. */
export function withAll(
  times: readonly GroupTime[],
  all: Readonly<Record<string, number>> | undefined,
  device: string,
): (GroupTime & { all: number | null })[] {
  return groupLooks(device)
    .map((look) => ({
      ...(times.find(({ key }) => key === look.key) ?? { ...look, ns: 0, share: 0 }),
      all: all?.[look.key] ?? 0,
    }))
    .filter(({ ns, all }) => ns > 0 || all > 0)
    .map((item) => ({ ...item, all: item.all - item.ns > MUCH * item.all ? item.all : null }));
}
