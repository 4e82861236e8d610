/** What the Memory page computes from its payloads and keeps in the address bar. */

import type {
  HeldFrames,
  MemoryAliveTable,
  MemoryChangesPayload,
  MemoryDevice,
  MemoryFailure,
  MemoryPayload,
} from "../../api/types.gen";
import { formatBytes, formatShare } from "../../base/units";
import { frameText } from "../callers";
import { grouped } from "../rows";
import type { Params, StepRange } from "../../state/view";
import { FLAME_KINDS, layOutFlame } from "../../widgets";
import { pickRows } from "../columns";
import type { Step } from "../rows";

/** By what the parts of the memory that is alive are grouped; the names are those of the columns. */
export const GROUPS = ["operator", "parent", "module", "line", "category"] as const;
export type AliveGroup = (typeof GROUPS)[number];

export const TABLES = ["blocks", "operator", "module"] as const;
export type TableId = (typeof TABLES)[number];

export interface Stretch {
  t0: number;
  t1: number;
}

const NS = /^\d{1,15}$/;

export function readTime(text: string | undefined): number | null {
  return text && NS.test(text) ? Number(text) : null;
}

/** The window in the address bar; null for the whole recording, and for what makes no sense. */
export function readWindow(params: Params, end: number): Stretch | null {
  const [t0, t1] = [readTime(params.t0), readTime(params.t1)];
  return t0 !== null && t1 !== null && t0 < t1 && t0 < end ? { t0, t1: Math.min(t1, end) } : null;
}

/** The window of the chosen steps; null where all are chosen, or none of these. */
export function windowOfSteps(
  steps: readonly Pick<Step, "step" | "steps" | "start_ns" | "wall_ns">[],
  { first, last }: StepRange,
): Stretch | null {
  if (first === null) return null;
  const chosen = steps.filter(
    ({ step, steps: count }) => step + count > first && step <= (last ?? first),
  );
  const ends = chosen.map(({ start_ns, wall_ns }) => start_ns + wall_ns);
  return chosen[0] ? { t0: chosen[0].start_ns, t1: Math.max(...ends) } : null;
}

export function readDevice(
  devices: readonly MemoryDevice[],
  text: string | undefined,
): MemoryDevice | null {
  return devices.find((device) => String(device.key) === text) ?? devices[0] ?? null;
}

/** What the rows can be grouped by: something that at least one of them knows. */
export function groupsOf(rows: MemoryAliveTable): AliveGroup[] {
  const known = GROUPS.filter((group) => rows[group].some((name) => name !== null));
  return known.length ? known : ["operator"];
}

/** By what the changes between two moments can be listed. */
export const CHANGES = ["line", "stack", "operator", "parent", "module", "category"] as const;
export type ChangesBy = (typeof CHANGES)[number];
export const CHANGE_LABELS: Readonly<Record<ChangesBy, string>> = {
  line: "line",
  stack: "call stack",
  operator: "operator",
  parent: "caller",
  module: "module",
  category: "category",
};

/** The peak, and how far it is from the one before. */
export function peakSentences(
  { name }: Pick<MemoryDevice, "name">,
  { before_bytes, after_bytes }: Pick<MemoryChangesPayload, "before_bytes" | "after_bytes">,
): string[] {
  const change = after_bytes - before_bytes;
  return [
    `${name}: at most ${formatBytes(after_bytes)} allocated, ${change ? `${formatBytes(Math.abs(change))} ${change > 0 ? "more than" : "less than"}` : "as"} before.`,
    `The peak before is ${formatBytes(before_bytes)}.`,
  ];
}

export function changesBy(
  { source, has_modules, has_stacks, categories }: MemoryPayload,
  { blocks }: MemoryDevice,
): ChangesBy[] {
  const called = source === "records";
  const known: Record<ChangesBy, boolean> = {
    line: has_stacks,
    stack: has_stacks && source === "snapshot",
    operator: called,
    parent: called,
    module: has_modules,
    category: categories.length > 0,
  };
  return CHANGES.filter((by) => known[by] && (blocks > 0 || by === "category"));
}

/** The frames of what is held: a line by its file, number and function, with its bytes; what no call is known of stands last. */
export function framesOf({ parent, name, kind, bytes }: HeldFrames) {
  const whole = bytes.reduce((sum, size, row) => sum + ((parent[row] ?? -1) < 0 ? size : 0), 0);
  return {
    parent,
    name: name.map((text, row) => `${frameText(text)}  ${formatBytes(bytes[row] ?? 0)}`),
    kind: kind.map((one) => FLAME_KINDS.findIndex((known) => known === one)),
    layout: layOutFlame({
      parent,
      value: bytes,
      order: bytes.map((size, row) => (kind[row] === "rest" ? whole : 0) - size),
    }),
    describe: (row: number): string[] => [
      name[row] ?? "",
      `${formatBytes(bytes[row] ?? 0)}, ${formatShare(whole ? (bytes[row] ?? 0) / whole : null)} of all`,
    ],
  };
}

/** Share of the scale from which on a free piece is drawn for itself. */
const LEAST_PIECE = 1 / 250;

/** A failed request on the scale of what was free: all in shares of the longest, null where the file does not say. */
export function shortageOf(failure: MemoryFailure) {
  const { requested_bytes: asked, free_bytes, allocated_bytes: held, unused_bytes } = failure;
  if (asked === null || free_bytes === null) return null;
  const unused = unused_bytes ?? 0;
  const scale = Math.max(asked, free_bytes + unused, 1);
  // What is too narrow to be seen apart is drawn as one.
  const told = (failure.pieces_bytes ?? []).filter((size) => size >= LEAST_PIECE * scale);
  const rest = unused - told.reduce((sum, size) => sum + size, 0);
  const all = (held ?? 0) + unused + free_bytes;
  return {
    free: free_bytes / scale,
    asked: asked / scale,
    pieces: [...told, ...(rest > 0 ? [rest] : [])].map((size) => size / scale),
    missing: Math.max(0, asked - free_bytes),
    device: held === null ? [] : [held / all, unused / all, free_bytes / all],
  };
}

/** One row per name of a group, the largest first; what several of its rows do not share is left open. */
export function aliveBy(rows: MemoryAliveTable, group: AliveGroup): MemoryAliveTable {
  const groups = [...grouped(rows[group].keys(), (row) => rows[group][row] ?? null).values()];
  type Texts = "operator" | "parent" | "module" | "line" | "category" | "known_by";
  const shared = (key: Texts): (string | null)[] =>
    groups.map((own) => {
      const value = rows[key][own[0]] ?? null;
      return own.every((row) => rows[key][row] === value) ? value : null;
    });
  const folded = (
    key: "blocks" | "largest_bytes" | "oldest_ns",
    fold: (...values: number[]) => number,
  ): (number | null)[] =>
    groups.map((own) => {
      const values = own.map((row) => rows[key][row] ?? null);
      return values.includes(null) ? null : fold(...(values as number[]));
    });
  const sum = (...values: number[]): number => values.reduce((total, value) => total + value, 0);
  const table: MemoryAliveTable = {
    operator: shared("operator"),
    parent: shared("parent"),
    module: shared("module"),
    line: shared("line"),
    category: shared("category"),
    known_by: shared("known_by"),
    bytes: groups.map((own) => sum(...own.map((row) => rows.bytes[row] ?? 0))),
    blocks: folded("blocks", sum),
    largest_bytes: folded("largest_bytes", Math.max),
    oldest_ns: folded("oldest_ns", Math.min),
  };
  const order = [...table.bytes.keys()].sort(
    (a, b) => (table.bytes[b] ?? 0) - (table.bytes[a] ?? 0),
  );
  return pickRows(table, order);
}

/** The tables that the trace has something for. */
export function tablesOf(
  { source, has_modules }: MemoryPayload,
  { blocks }: MemoryDevice,
): TableId[] {
  return TABLES.filter((table) =>
    table === "blocks" ? blocks > 0 : source === "records" && (table === "operator" || has_modules),
  );
}
