/** The places of the page and their sections. A section is a view: its id stands in the address, and its place is lit. */

import { type ComponentType, h } from "preact";
import type { Missing } from "../api/types.gen";
import type { ViewId, ViewProps } from "../state/view";
import { OverviewView } from "../views/overview/view";
import { later } from "./lazy_component";

export interface Section {
  id: ViewId;
  label: string;
  /** What it is called beside the other sections of its place. */
  short: string;
  term: string;
  component: ComponentType<ViewProps>;
  /** Which steps it is of where choosing some means nothing; empty where it follows the choice. */
  fixedSteps: string;
  /** Whether it needs a trace; without one such a view says that there is none. */
  needsTrace: boolean;
  /** What is not there, and why; null where there is something to see. */
  lack?: ((recorded: Recorded) => Lack | null) | undefined;
}

/** What there is to look at in the chosen trace and its run. */
export interface Recorded {
  ranks: number;
  steps: number;
  /** Of an inference server. */
  iterations: number;
  missing: readonly Missing[];
}

export interface Place {
  label: string;
  sections: readonly Section[];
  /** Its name in this run, and what of it only a wide page has room for. */
  named?: (recorded: Recorded) => readonly string[];
  /** The section that it opens at first. */
  first?: (recorded: Recorded) => ViewId;
  /** What is not there, and why; null where there is something to see. */
  lack?: Section["lack"];
}

export type Lack = Pick<Missing, "what" | "why" | "call">;

const section = (
  id: ViewId,
  label: string,
  component: Section["component"],
  options: Partial<Pick<Section, "short" | "term" | "fixedSteps" | "needsTrace" | "lack">> = {},
): Section => ({
  id,
  label,
  short: label,
  term: id,
  component,
  fixedSteps: "",
  needsTrace: true,
  ...options,
});

const lackOf =
  (...keys: string[]) =>
  ({ missing }: Recorded): Lack | null =>
    missing.find(({ key }) => keys.includes(key)) ?? null;

const ONE_STEP: Lack = {
  what: "Several steps",
  why: "One step of one rank was recorded, so there is nothing beside it.",
  call: "",
};

/** What stands behind ⋯, not in the line. */
export const MORE: Place = {
  label: "More",
  sections: [
    section("sql", "SQL", later("SqlView"), { term: "sql_view", fixedSteps: "all steps" }),
    section("diagnosis", "Diagnosis", later("DiagnosisView"), {
      short: "Files",
      fixedSteps: "all steps",
      needsTrace: false,
    }),
  ],
};

const Steps = later("StepsView");

export const PLACES: readonly Place[] = [
  {
    label: "Overview",
    sections: [
      section("overview", "Overview", (props) => h(OverviewView, { ...props, Steps })),
      section("diff", "Diff", later("DiffView")),
    ],
  },
  {
    label: "Trace",
    sections: [
      section("trace", "Trace", later("TraceView")),
      section("critical_path", "Critical Path", later("CriticalPathView"), {
        term: "critical_path_view",
      }),
    ],
  },
  {
    label: "Steps",
    sections: [
      section("steps", "Steps", Steps, { term: "steps_view", fixedSteps: "all steps" }),
      section("distributed", "Distributed", later("DistributedView")),
      section("iterations", "Iterations", later("IterationsView"), { term: "iterations_view" }),
    ],
    named: ({ ranks, iterations }) =>
      ranks > 1
        ? ["Ranks", ...(iterations ? [" · Iterations"] : [])]
        : [iterations ? "Iterations" : "Steps"],
    first: ({ ranks, iterations }) =>
      ranks > 1 ? "distributed" : iterations ? "iterations" : "steps",
    lack: (recorded) =>
      recorded.ranks > 1 || recorded.steps > 1 || recorded.iterations
        ? null
        : (lackOf("steps")(recorded) ?? ONE_STEP),
  },
  {
    label: "Operators",
    sections: [
      section("operator", "Operator", later("OperatorView")),
      section("module", "Module", later("ModuleView")),
      section("lines", "Lines", later("LinesView"), {
        term: "lines_view",
        lack: lackOf("stack", "events"),
      }),
      section("api_calls", "API Calls", later("ApiCallsView"), { term: "api_calls_view" }),
    ],
  },
  {
    label: "Kernels",
    sections: [
      section("efficiency", "Efficiency", later("EfficiencyView"), {
        short: "Operator and shape",
        term: "efficiency_view",
      }),
      section("kernel", "Kernel", later("KernelView")),
      section("counters", "Counters", later("CountersView"), { term: "counters_view" }),
    ],
    first: (recorded) => (lackOf("device_times")(recorded) ? "kernel" : "efficiency"),
    lack: lackOf("device", "device_of_rank", "events"),
  },
  {
    label: "Memory",
    sections: [section("memory", "Memory", later("MemoryView"), { term: "memory_view" })],
    lack: lackOf("memory"),
  },
];

/** The section of an id, and the place that is lit while it is shown. */
export function placeOf(id: ViewId): { place: Place; section: Section } {
  for (const place of [...PLACES, MORE])
    for (const section of place.sections) if (section.id === id) return { place, section };
  throw new Error(`No place has the section ${id}`);
}
