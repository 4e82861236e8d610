/** What the Diagnosis page computes: how many files are in which state, and which come first. */

import type { FilesTable, FileState } from "../../api/types.gen";
import { pickRows } from "../columns";

/** All states, those that need a person first. */
export const STATES: readonly FileState[] = [
  "failed",
  "rejected",
  "growing",
  "waiting",
  "importing",
  "ready",
];

/** Files by state; states without a file are left out. */
export function countStates(files: FilesTable): { state: FileState; count: number }[] {
  return STATES.map((state) => ({
    state,
    count: files.state.filter((text) => text === state).length,
  })).filter((x) => x.count > 0);
}

/** The files of one state, or all (`null`); those that need a person first, then by path. */
export function chooseFiles(files: FilesTable, state: FileState | null): FilesTable {
  const order = new Map<string, number>(STATES.map((s, i) => [s, i]));
  const urgency = (row: number): number => order.get(files.state[row] ?? "") ?? -1;
  const path = (row: number): string => files.path[row] ?? "";
  const rows = [...files.state.keys()]
    .filter((row) => state === null || files.state[row] === state)
    .sort(
      (a, b) => urgency(a) - urgency(b) || path(a).localeCompare(path(b), "en", { numeric: true }),
    );
  return pickRows(files, rows);
}

export function readState(text: string): FileState | null {
  return STATES.find((state) => state === text) ?? null;
}
