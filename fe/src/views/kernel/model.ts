/** What the Kernel page computes from its payload: the charts' parts, who launched what, and what is not known. */

import type { KernelPayload } from "../../api/types.gen";
import { NO, YES } from "../../base/columns";
import type { Part } from "../../widgets";
import { partsByName } from "../parts_by_name";

/** Calls by kernel where the table is sorted by them; otherwise total time, because no other figure of a kernel adds up. */
export function partsByKernel(
  { rows, pooled }: KernelPayload,
  found: Uint32Array,
  figure: "calls" | "total_ns",
): Part[] {
  return partsByName(rows.name, rows[figure], pooled, rows.short_name, found);
}

export interface MatrixTime {
  yes: number;
  no: number;
  unknown: number;
  total: number;
}

/** Kernel time by whether the matrix cores were used; whatever is neither yes nor no is unknown. */
export function matrixTime({ rows }: KernelPayload, found: Uint32Array): MatrixTime {
  const time: MatrixTime = { yes: 0, no: 0, unknown: 0, total: 0 };
  for (const row of found) {
    const [used, ns] = [rows.matrix[row], rows.total_ns[row] ?? 0];
    time[used === YES ? "yes" : used === NO ? "no" : "unknown"] += ns;
    time.total += ns;
  }
  return time;
}

export interface Unattributed {
  reason: string;
  calls: number;
  ns: number;
}

/** Why the operator of a row is not known; null where it is, or where rows are pooled. */
export function reasonText({ rows, reasons }: KernelPayload, row: number): string | null {
  return reasons.find(({ key }) => key === rows.no_operator[row])?.text ?? null;
}

/** Kernels whose operator is not known, by reason, the costliest first. */
export function unattributed(payload: KernelPayload): Unattributed[] {
  const { operator, calls, total_ns } = payload.rows;
  const by = new Map<string, Unattributed>();
  total_ns.forEach((_, row) => {
    const why = operator[row] ? null : reasonText(payload, row);
    if (why === null) return;
    const entry = by.get(why) ?? { reason: why, calls: 0, ns: 0 };
    entry.calls += calls[row] ?? 0;
    entry.ns += total_ns[row] ?? 0;
    by.set(why, entry);
  });
  return [...by.values()].sort((a, b) => b.ns - a.ns);
}

/** The name under which a row can be found again. */
export function rowKey(payload: KernelPayload, row: number): string {
  const { name, operator, grid, block, registers, shared_memory_bytes } = payload.rows;
  return JSON.stringify(
    [name[row], operator[row], grid[row], block[row], registers[row], shared_memory_bytes[row]].map(
      (x) => x ?? null,
    ),
  );
}
