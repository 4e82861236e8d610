/** What kinds of events look like and are called: by `Look` of store/timeline_schema.py, which numbers them from 0. */

import type { Column } from "../../widgets";

interface LookWords {
  label: string;
  term: string;
  /** CSS variable of its colour; the timeline's style sheet has them. */
  colour: string;
}

const OTHER: LookWords = { label: "Other", term: "other_event", colour: "--look-0" };

export const LOOKS: readonly LookWords[] = [
  OTHER,
  { label: "Operator", term: "operator", colour: "--look-1" },
  { label: "Runtime call", term: "runtime", colour: "--look-2" },
  { label: "Kernel", term: "kernel", colour: "--look-3" },
  { label: "Memory copy", term: "memcpy", colour: "--look-4" },
  { label: "Memset", term: "memset", colour: "--look-5" },
  { label: "Annotation", term: "annotation", colour: "--look-6" },
  { label: "Device annotation", term: "device_annotation", colour: "--look-7" },
  { label: "Python frame", term: "python_frame", colour: "--look-8" },
  { label: "Synchronisation", term: "synchronisation", colour: "--look-9" },
  { label: "Overhead", term: "overhead", colour: "--look-10" },
  { label: "Counter range", term: "counter_range", colour: "--look-11" },
  { label: "Profiler", term: "profiler_event", colour: "--look-12" },
  { label: "Communication", term: "communication", colour: "--look-13" },
  { label: "Instant event", term: "instant_event", colour: "--look-14" },
];

export const lookOf = (look: number): LookWords => LOOKS[look] ?? OTHER;

/** What a column of looks shows. */
export const lookCells = (looks: readonly number[]): Partial<Column> => ({
  kind: "text",
  values: looks.map((look) => lookOf(look).label),
});

export const isPython = (look: number): boolean => lookOf(look).term === "python_frame";
