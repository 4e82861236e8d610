/** What the Diagnosis page computes: how many files are in which state, and which come first. */

import type { FileItem } from "../../api/types.gen";

export type FileState = FileItem["state"];

/** All states, those that need a person first. */
export const STATES: readonly FileState[] = [
  "failed",
  "rejected",
  "growing",
  "waiting",
  "importing",
  "ready",
];

export function countStates(files: readonly FileItem[]): { state: FileState; count: number }[] {
  return STATES.map((state) => ({
    state,
    count: files.filter((file) => file.state === state).length,
  })).filter((x) => x.count > 0);
}

/** The files of one state, or all (`null`); those that need a person first, then by path. */
export function chooseFiles(files: readonly FileItem[], state: FileState | null): FileItem[] {
  const order = new Map(STATES.map((s, i) => [s, i]));
  return files
    .filter((file) => state === null || file.state === state)
    .sort(
      (a, b) =>
        (order.get(a.state) ?? -1) - (order.get(b.state) ?? -1) ||
        a.path.localeCompare(b.path, "en", { numeric: true }),
    );
}

export function readState(text: string): FileState | null {
  return STATES.find((state) => state === text) ?? null;
}
