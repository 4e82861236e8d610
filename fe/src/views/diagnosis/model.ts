/** What the Diagnosis page computes: how many files are in which state, and which come first. */

import type { FilesTable, FileState } from "../../api/types.gen";
import type { IconName } from "../../widgets";
import { pickRows } from "../columns";

interface StateWords {
  word: string;
  meaning: string;
  icon: IconName;
}

/** What each state means, in a word and in a sentence; those that need a person first, what is no trace last. */
export const STATES: Readonly<Record<FileState, StateWords>> = {
  failed: { word: "Failed", meaning: "A trace that could not be imported.", icon: "error" },
  growing: {
    word: "Still being written",
    meaning: "Imported once it stops growing.",
    icon: "reload",
  },
  waiting: { word: "Waiting", meaning: "Imported in its turn, or when opened.", icon: "info" },
  importing: { word: "Importing", meaning: "Being read now.", icon: "reload" },
  ready: { word: "Ready", meaning: "OK", icon: "check" },
  rejected: { word: "Rejected", meaning: "Not a readable trace.", icon: "close" },
};

const NAMES = Object.keys(STATES) as FileState[];

/** Files by state; states without a file are left out. */
export const countStates = (files: FilesTable): { state: FileState; count: number }[] =>
  NAMES.map((state) => ({
    state,
    count: files.state.filter((text) => text === state).length,
  })).filter(({ count }) => count);

/** Whether a file is shown where no state is chosen: those that are no traces are only where there are no others. */
export const isTrace = ({ state }: FilesTable, row: number): boolean =>
  state[row] !== "rejected" || state.every((text) => text === "rejected");

/** The files of one state, or all traces (`null`); those that need a person first, then by path. */
export function chooseFiles(files: FilesTable, state: FileState | null): FilesTable {
  const urgency = (row: number): number => NAMES.indexOf(files.state[row] as FileState);
  const path = (row: number): string => files.path[row] ?? "";
  const rows = [...files.state.keys()]
    .filter((row) => (state === null ? isTrace(files, row) : files.state[row] === state))
    .sort(
      (a, b) => urgency(a) - urgency(b) || path(a).localeCompare(path(b), "en", { numeric: true }),
    );
  return pickRows(files, rows);
}

export function readState(text: string): FileState | null {
  return NAMES.find((state) => state === text) ?? null;
}
