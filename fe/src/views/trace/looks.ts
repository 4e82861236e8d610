/** What kinds of events look like and are called: by `Look` of store/timeline_schema.py, which numbers them from 0. */

import type { Column } from "../../widgets";

const WORDS = [
  ["Other", "other_event"],
  ["Operator", "operator"],
  ["Runtime call", "runtime"],
  ["Kernel", "kernel"],
  ["Memory copy", "memcpy"],
  ["Memset", "memset"],
  ["Annotation", "annotation"],
  ["Device annotation", "device_annotation"],
  ["Python frame", "python_frame"],
  ["Synchronisation", "synchronisation"],
  ["Overhead", "overhead"],
  ["Counter range", "counter_range"],
  ["Profiler", "profiler_event"],
  ["Communication", "communication"],
  ["Instant event", "instant_event"],
] as const;

interface LookWords {
  label: string;
  term: string;
  colour: string;
}

const wordsOf = ([label, term]: readonly [string, string], look: number): LookWords => ({
  label,
  term,
  // The timeline's style sheet has it.
  colour: `var(--look-${look})`,
});

export const LOOKS = WORDS.map(wordsOf);

export const lookOf = (look: number): LookWords => LOOKS[look] ?? wordsOf(WORDS[0], 0);

/** What a column of looks shows. */
export const lookCells = (looks: readonly number[]): Partial<Column> => ({
  kind: "text",
  values: looks.map((look) => lookOf(look).label),
});

export const isPython = (look: number): boolean => lookOf(look).term === "python_frame";
