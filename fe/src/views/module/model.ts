/** What the Module page computes: modules summed by class, rows' names, the totals in words, and the frames of the flame graph. */

import type { FlameTable, ModulesTable, ModulePayload } from "../../api/types.gen";
import { formatCount, formatTime } from "../../base/units";
import { FLAME_KINDS } from "../../widgets";
import { grouped } from "../rows";
import type { Total } from "../totals";

export type Flat = Omit<ModulesTable, "name" | "parent"> & {
  /** Modules of the class. */
  modules: number[];
};

/** One row per class. `event` is that of the module of the class with the longest forward. */
export function byClass(rows: ModulesTable): Flat {
  const { name: _, parent: __, ...columns } = rows;
  const groups = [...grouped(rows.kind.keys(), (row) => rows.kind[row]).values()];
  const outermost = (row: number): boolean => !insideOneLikeIt(rows.parent, rows.kind, row);
  const flat = Object.entries(columns).map(([key, values]) => [
    key,
    groups.map((group) =>
      // Totals hold what is beneath as well: a module inside another one of its class must not count again.
      joined(rows, key, values, key.endsWith("_total_ns") ? group.filter(outermost) : group),
    ),
  ]);
  return { ...Object.fromEntries(flat), modules: groups.map(({ length }) => length) } as Flat;
}

/** Whether a row is inside another one of its name, kind or whatever the values are. */
export function insideOneLikeIt(
  parent: readonly number[],
  values: readonly string[],
  row: number,
): boolean {
  for (let at = parent[row] ?? -1; at >= 0; at = parent[at] ?? -1)
    if (values[at] === values[row]) return true;
  return false;
}

export interface Merged {
  rows: ModulesTable;
  /** Whether a row stands for several modules, which are beneath it. */
  summary: boolean[];
}

/**
 * The tree with a row around siblings of one class and one structure, their sums in it:
 *
 *     Encoder_0                Encoder_0
 *       Layer_0 (Linear_0)       Layer ×2
 *       Layer_1 (Linear_1)   ▸     Layer_0 (Linear_0)
 *       Norm_0 ()                  Layer_1 (Linear_1)
 *                                Norm_0 ()
 */
export function mergeLayers(rows: ModulesTable): Merged {
  const count = rows.name.length;
  const children = rows.name.map((): number[] => []);
  const roots: number[] = [];
  rows.parent.forEach((up, row) => (children[up] ?? roots).push(row));
  const numbers = new Map<string, number>();
  const structure: number[] = [];
  for (let row = count - 1; row >= 0; row--) {
    // A class that is not known is like no other.
    const own = rows.kind[row] || `#${row}`;
    const key = JSON.stringify([own, ...(children[row] ?? []).map((child) => structure[child])]);
    structure[row] = numbers.get(key) ?? numbers.size;
    numbers.set(key, structure[row] ?? 0);
  }
  /** Of each new row the modules that it stands for, and the new row around it. */
  const members: number[][] = [];
  const parent: number[] = [];
  const place = (group: number[], up: number): number => {
    parent.push(up);
    return members.push(group) - 1;
  };
  const waiting: [siblings: readonly number[], up: number][] = [[roots, -1]];
  // Level by level: a tree may be deeper than calls can nest.
  for (const [siblings, up] of waiting) {
    for (const group of grouped(siblings, (row) => structure[row]).values()) {
      const around = group.length > 1 ? place(group, up) : up;
      for (const row of group) waiting.push([children[row] ?? [], place([row], around)]);
    }
  }
  const columns = Object.entries(rows as unknown as Record<string, (string | number | null)[]>);
  const merged = columns.map(([key, values]) => [
    key,
    key === "parent" ? parent : members.map((group) => joined(rows, key, values, group)),
  ]);
  return {
    rows: Object.fromEntries(merged) as ModulesTable,
    summary: members.map((group) => group.length > 1),
  };
}

function joined(
  rows: ModulesTable,
  key: string,
  values: readonly (string | number | null)[],
  group: readonly number[],
): string | number | null {
  const [first = 0] = group;
  if (group.length === 1 || key === "kind") return values[first] ?? null;
  if (key === "name") return `${rows.kind[first] ?? ""} ×${group.length}`;
  if (key === "event") {
    const time = (row: number): number => rows.forward_host_total_ns[row] ?? -1;
    return values[group.reduce((a, b) => (time(b) > time(a) ? b : a))] ?? -1;
  }
  const known = group.map((row) => values[row]).filter((value) => typeof value === "number");
  return known.length ? known.reduce((a, b) => a + b, 0) : null;
}

/** Every module by the names that lead to it, by which it is found again over other steps. */
export function pathsOf({ parent, name }: ModulesTable): string[] {
  const paths: string[] = [];
  name.forEach((own, row) => paths.push(`${paths[parent[row] ?? -1] ?? ""}/${own}`));
  return paths;
}

/** Where the time of the selected steps is. The parts of the device add up to all that it did. */
export function totalParts({
  totals,
  has_device,
  vocabulary,
  has_backward,
}: Pick<ModulePayload, "totals" | "has_device" | "vocabulary" | "has_backward">): Total[] {
  const both = (host: number, device: number): string =>
    `${formatTime(host)} host${has_device ? `, ${formatTime(device)} ${vocabulary.device}` : ""}`;
  const parts: Total[] = [
    {
      term: "module_inside",
      label: "In modules",
      text: both(totals.module_host_ns, totals.module_device_ns),
    },
    {
      term: "module_outside",
      label: "Outside modules",
      text: both(totals.outside_host_ns, totals.outside_device_ns),
    },
  ];
  if (has_device && totals.unattributed_device_ns > 0)
    parts.push({
      term: "module_unattributed",
      label: "Launched by no recorded call",
      text: `${formatTime(totals.unattributed_device_ns)} ${vocabulary.device}`,
    });
  if (has_backward) {
    const { backward_tied: tied, backward_untied: untied, backward_outside: outside } = totals;
    const rest = [
      untied ? `${formatCount(untied)} whose forward is not known` : "",
      outside ? `${formatCount(outside)} of a forward outside modules` : "",
    ].filter(Boolean);
    parts.push({
      term: "module_backward",
      label: "Backward operators",
      text: [`${formatCount(tied)} at their module`, ...rest].join(", "),
    });
  }
  return parts;
}

export type Metric = "host" | "device";

export const readMetric = (text: string | undefined, hasDevice: boolean): Metric =>
  hasDevice && text !== "host" ? "device" : "host";

export const valuesOf = (rows: FlameTable, metric: Metric): (number | null)[] =>
  metric === "device" ? rows.device_ns : rows.host_ns;

/** Place in `FLAME_KINDS`; of a kind that this page does not know, that of the rest. */
export const kindsOf = (rows: { kind: readonly (string | null)[] }): Uint8Array =>
  Uint8Array.from(rows.kind, (kind) => {
    const place = FLAME_KINDS.findIndex((known) => known === kind);
    return place < 0 ? FLAME_KINDS.length - 1 : place;
  });

/** What stands in the address bar for a frame, because rows are others with other steps: its event, or else the names that lead to it, as a number. */
export function keyOfFrame(rows: FlameTable, row: number): string | null {
  const event = rows.event[row] ?? -1;
  if (row < 0) return null;
  return event < 0 ? `n${ways(rows)[row]}` : String(event);
}

/** The frame of a key; −1 where there is none. */
export function frameOfKey(rows: FlameTable, key: string | undefined): number {
  if (!key) return -1;
  return key.startsWith("n")
    ? ways(rows).indexOf(Number(key.slice(1)))
    : rows.event.indexOf(Number(key));
}

/** The names that lead to each frame, hashed. */
function ways({ parent, name }: FlameTable): number[] {
  const hashes: number[] = [];
  name.forEach((text, row) => {
    let hash = hashes[parent[row] ?? -1] ?? 7;
    for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) >>> 0;
    hashes.push((Math.imul(hash, 31) + 1) >>> 0);
  });
  return hashes;
}

export const KIND_WORDS: Readonly<Record<string, string>> = {
  module: "module",
  annotation: "annotation",
  operator: "operator",
  line: "Python line",
  rest: "smaller frames",
};

export function kindText(rows: FlameTable, row: number): string {
  const kind = rows.kind[row] ?? "";
  return `${KIND_WORDS[kind] ?? kind}${kind === "rest" ? ", merged" : ""}${rows.backward[row] ? ", backward" : ""}`;
}
