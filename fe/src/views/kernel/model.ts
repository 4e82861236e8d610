/** What the Kernel page computes from its payload: the charts' parts, who launched what, and what is not known. */

import type { Attribution, KernelPayload } from "../../api/types.gen";
import { rank, type Whole } from "../ranking";

/** `Knowledge` on the wire. */
export const NO = 0;
export const YES = 1;
export const UNKNOWN = 2;

/** Total time by full kernel name. */
export function timeByKernel(payload: KernelPayload, top: number | null): Whole {
  return rank(payload.rows.name, payload.rows.total_ns, top, payload.pooled);
}

export interface MatrixTime {
  yes: number;
  no: number;
  unknown: number;
  total: number;
}

/** Kernel time by whether the matrix cores were used; whatever is neither yes nor no is unknown. Never cut by the top N. */
export function matrixTime(payload: KernelPayload): MatrixTime {
  const time: MatrixTime = { yes: 0, no: 0, unknown: 0, total: 0 };
  payload.rows.total_ns.forEach((ns, row) => {
    const used = payload.rows.matrix[row];
    time[used === YES ? "yes" : used === NO ? "no" : "unknown"] += ns;
    time.total += ns;
  });
  return time;
}

export interface Unattributed {
  reason: string;
  calls: number;
  ns: number;
}

/** Kernels whose operator is not known, by reason, the costliest first. */
export function unattributed(payload: KernelPayload): Unattributed[] {
  const { operator, reason, calls, total_ns } = payload.rows;
  const by = new Map<string, Unattributed>();
  reason.forEach((why, row) => {
    if (why === null || operator[row]) return;
    const entry = by.get(why) ?? { reason: why, calls: 0, ns: 0 };
    entry.calls += calls[row] ?? 0;
    entry.ns += total_ns[row] ?? 0;
    by.set(why, entry);
  });
  return [...by.values()].sort((a, b) => b.ns - a.ns);
}

export interface Followed {
  launch: number | null;
  operator: number | null;
}

/** Shares of the kernels that could be followed to a launch and to an operator; `null` when there is no kernel. */
export function followed({ kernels, with_launch, with_operator }: Attribution): Followed {
  return kernels > 0 ? { launch: with_launch / kernels, operator: with_operator / kernels } : { launch: null, operator: null };
}

/** The name under which a row can be found again. */
export function rowKey(payload: KernelPayload, row: number): string {
  const { name, operator, grid, block, registers, shared_memory_bytes } = payload.rows;
  return JSON.stringify([name[row], operator[row], grid[row], block[row], registers[row], shared_memory_bytes[row]].map((x) => x ?? null));
}
