/** What kinds of events look like and are called: by `Look` of store/timeline_schema.py, which numbers them from 0. */

export interface LookWords {
  /** What one is called. */
  label: string;
  /** Key of its definition. */
  term: string;
  /** CSS variable of its colour. */
  colour: string;
}

const LOOKS: readonly LookWords[] = [
  { label: "Other", term: "other_event", colour: "--look-other" },
  { label: "Operator", term: "operator", colour: "--category-cpu-exec" },
  { label: "Runtime call", term: "runtime", colour: "--category-runtime" },
  { label: "Kernel", term: "kernel", colour: "--category-kernel" },
  { label: "Memory copy", term: "memcpy", colour: "--category-memcpy" },
  { label: "Memset", term: "memset", colour: "--category-memset" },
  { label: "Annotation", term: "annotation", colour: "--category-dataloader" },
  { label: "Annotation on the device", term: "device_annotation", colour: "--look-device-annotation" },
  { label: "Python frame", term: "python_frame", colour: "--look-python" },
  { label: "Synchronisation", term: "synchronisation", colour: "--look-sync" },
  { label: "Overhead", term: "overhead", colour: "--look-overhead" },
  { label: "Counter range", term: "counter_range", colour: "--look-counter-range" },
  { label: "Profiler", term: "profiler_event", colour: "--look-profiler" },
  { label: "Communication", term: "communication", colour: "--category-communication" },
  { label: "Instant event", term: "instant_event", colour: "--look-instant" },
];

const UNKNOWN_LOOK: LookWords = { label: "Other", term: "other_event", colour: "--look-other" };

export function lookOf(look: number): LookWords {
  return LOOKS[look] ?? UNKNOWN_LOOK;
}

export const LOOK_COLOURS: readonly string[] = LOOKS.map((look) => look.colour);

/** What the legend lists, the same word once. */
export const LEGEND: readonly LookWords[] = LOOKS;

const PYTHON = 8;
const KERNEL = 3;
const DEVICE = new Set([KERNEL, 4, 5, 13]);

/** Whether it ran on an accelerator. */
export const isDeviceWork = (look: number): boolean => DEVICE.has(look);
export const isPython = (look: number): boolean => look === PYTHON;
