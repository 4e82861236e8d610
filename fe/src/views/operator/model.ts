/** What the Operator page computes from its payload: the charts' parts, frames taken apart. */

import type { FrameTree, OperatorPayload } from "../../api/types.gen";
import type { Part } from "../../widgets";
import { partsByName } from "../parts_by_name";

export type Summed = "device_self" | "device_total" | "host_self" | "host_total" | "calls";

export interface Chart {
  summed: Summed;
  parts: Part[];
}

/**
 * Charts of some rows: of their calls where the table is sorted by these, else of times on the device and on the host, self times or totals as the table is
 * sorted; what it is sorted by comes first. Rows of one name are one part.
 */
export function chartsOf(
  { rows, pooled, has_device }: OperatorPayload,
  found: Uint32Array,
  sortedBy: string,
): Chart[] {
  const kind = sortedBy.includes("_total") ? "total" : "self";
  const places = sortedBy.startsWith("host")
    ? (["host", "device"] as const)
    : (["device", "host"] as const);
  const chart = (summed: Summed, values: readonly (number | null)[]): Chart => ({
    summed,
    parts: partsByName(rows.name, values, pooled, undefined, found),
  });
  if (sortedBy === "calls") return [chart("calls", rows.calls)];
  return places
    .filter((place) => has_device || place === "host")
    .map((place) => chart(`${place}_${kind}`, rows[`${place}_${kind}_ns`]));
}

export interface Frame {
  /** Empty when the frame names no source line. */
  file: string;
  line: number | null;
  func: string;
}

/** `dir/net.py(12): forward` taken apart at the last `(number):`; anything else is all `func`. */
export function splitFrame(text: string): Frame {
  const match = /^(.+)\((\d+)\):\s*(.*)$/s.exec(text);
  if (!match) return { file: "", line: null, func: text };
  const [, file = "", line, func = ""] = match;
  return { file, line: Number(line), func };
}

/** A stack of the tree, innermost frame first. A tree that runs in a circle ends where the circle closes. */
export function framesOf(tree: FrameTree, stack: number | null): string[] {
  const frames: string[] = [];
  let at = stack ?? -1;
  while (at >= 0 && at < tree.frame.length && frames.length < tree.frame.length) {
    frames.push(tree.frame[at] ?? "");
    at = tree.parent[at] ?? -1;
  }
  return frames;
}

/** One line for a stack in a table cell: the innermost frame that names a source line, else the innermost one. */
export function stackLabel(frames: readonly string[]): string {
  for (const text of frames) {
    const { file, line, func } = splitFrame(text);
    if (line !== null) return `${lastTwo(file)}:${line} ${func}`;
  }
  return frames[0] ?? "";
}

const MODULE = "nn.Module: ";

/**
 * Every stack of the tree as one text, and as one short line: its place and the module or the line outside of PyTorch from which it was
 * reached, `functional.py:2103 softmax ← Attention_18`. Texts share their callers' text, so that many deep stacks stay small.
 */
export function stackTexts(tree: FrameTree): { full: string[]; short: string[] } {
  const full: string[] = [];
  const short: string[] = [];
  const known: { place?: string; module?: string; outside?: string }[] = [];
  tree.frame.forEach((frame, stack) => {
    const parent = tree.parent[stack] ?? -1;
    if (parent >= stack) {
      const frames = framesOf(tree, stack);
      full.push(frames.join("; "));
      short.push(stackLabel(frames));
      known.push({});
      return;
    }
    const at = { ...known[parent] };
    const { file, line } = splitFrame(frame);
    if (line !== null) {
      at.place = stackLabel([frame]);
      if (!/(^|[\\/])torch[\\/]/.test(file)) at.outside = at.place;
    }
    if (frame.startsWith(MODULE)) at.module = frame.slice(MODULE.length);
    known.push(at);
    full.push(parent >= 0 ? `${frame}; ${full[parent] ?? ""}` : frame);
    const from = at.module ?? at.outside;
    short.push(!at.place ? frame : !from || from === at.place ? at.place : `${at.place} ← ${from}`);
  });
  return { full, short };
}

function lastTwo(path: string): string {
  return path.split(/[\\/]/).slice(-2).join("/");
}

/** The name under which a row can be found again: name, shapes and stack together. */
export function rowKey(payload: OperatorPayload, row: number): string {
  const { name, input_shapes } = payload.rows;
  return JSON.stringify([name[row], input_shapes[row] ?? null, payload.stacks[row] ?? null]);
}
