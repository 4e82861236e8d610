/** The places of the page and their sections. A section is a view: its id stands in the address, and its place is lit. */

import { type ComponentType, h } from "preact";
import { served } from "../api/client";
import type { ChangeTable, Missing } from "../api/types.gen";
import { SECTIONS } from "../base/sections.gen";
import type { ViewId, ViewProps } from "../state/view";
import { OverviewView } from "../views/overview/view";
import { later } from "./lazy_component";

export interface Section {
  id: ViewId;
  label: string;
  term: string;
  component: ComponentType<ViewProps>;
  /** Which steps it is of where choosing some means nothing; empty where it follows the choice. */
  fixedSteps: string;
  /** Whether it needs a trace; without one such a view says that there is none. */
  needsTrace: boolean;
  /** What it shows while two recordings are compared: the changes of these in place of its own; above its own, the steps; it knows itself; or one of them alone, and says so. */
  compared: readonly ChangeTable[] | "steps" | "itself" | null;
  /** Whether it shows all ranks where all are meant: always, with this key in the address, or never: then it says which one. */
  ranks: "all" | "workers" | "ranks" | "";
  /** The key of the address by which it filters what it shows, empty where it does not. */
  filter: string;
  /** What it would need and was not recorded, and why; null where there is something to see. */
  lack: (recorded: Recorded) => Lack | null;
}

/** The section of its place that shows a comparison; itself where none does. */
export const comparedIn = (id: ViewId): ViewId => {
  const { place, section } = placeOf(id);
  return (section.compared ? section : (place.sections.find(({ compared }) => compared) ?? section))
    .id;
};

/** What there is to look at in the chosen trace and its run. */
export interface Recorded {
  ranks: number;
  /** Ranks of the job, read or not. */
  world: number;
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
}

export type Lack = Pick<Missing, "what" | "why" | "call">;

/** A file of memory records alone has no events, and then only that is missing. */
const lackOf =
  (...keys: string[]) =>
  ({ missing }: Recorded): Lack | null =>
    missing.find(({ key }) => key === "events" || keys.includes(key)) ?? null;

const because =
  (what: string, why: string, has: (recorded: Recorded) => unknown, ...keys: string[]) =>
  (recorded: Recorded): Lack | null =>
    has(recorded) ? null : (lackOf(...keys)(recorded) ?? { what, why, call: "" });

const anything = (): null => null;
/** What asks a server at each look is not in a saved report. */
const ofServer =
  (lack: Section["lack"]): Section["lack"] =>
  (recorded) =>
    served
      ? lack(recorded)
      : {
          what: "Answers of a server",
          why: "A report holds what was asked when it was made.",
          call: "",
        };
const NO_DEVICE = lackOf("device", "device_times", "device_of_rank");

const section = (
  id: ViewId,
  component: Section["component"],
  options: Partial<Omit<Section, "id" | "label" | "component">> = {},
): Section => ({
  id,
  label: SECTIONS[id],
  term: id,
  component,
  fixedSteps: "",
  needsTrace: true,
  compared: null,
  ranks: "",
  filter: "search",
  lack: lackOf(),
  ...options,
});

/** What stands behind ⋯, not in the line. */
export const MORE: Place = {
  label: "More",
  sections: [
    section("sql", later("SqlView"), {
      term: "sql_view",
      filter: "",
      fixedSteps: "all steps",
      lack: ofServer(anything),
    }),
    section("diagnosis", later("DiagnosisView"), {
      fixedSteps: "all steps",
      needsTrace: false,
      compared: "itself",
      ranks: "all",
      lack: anything,
    }),
  ],
};

const Steps = later("StepsView");
const OF_OVERVIEW = {
  FirstMemory: later("FirstMemory"),
  Steps: later("StepCauses"),
  Longest: later("Longest"),
  Breakdown: later("Breakdown"),
  CopyMessage: later("CopyMessage"),
};

export const PLACES: readonly Place[] = [
  {
    label: "Overview",
    sections: [
      section("overview", (props) => h(OverviewView, { ...props, later: OF_OVERVIEW }), {
        ranks: "all",
        filter: "",
        lack: anything,
      }),
      section("diff", later("DiffView"), { compared: "itself", lack: ofServer(anything) }),
    ],
  },
  {
    label: "Trace",
    sections: [
      section("trace", later("TraceView"), {
        ranks: "workers",
        filter: "q",
        compared: "itself",
        lack: ofServer(lackOf()),
      }),
      section("critical_path", later("CriticalPathView"), {
        term: "critical_path_view",
        ranks: "ranks",
      }),
    ],
  },
  {
    label: "Steps",
    sections: [
      section("steps", Steps, {
        term: "steps_view",
        filter: "",
        fixedSteps: "all steps",
        compared: "steps",
        ranks: "all",
        lack: because(
          "Several steps",
          "One step was recorded, so there is nothing beside it.",
          ({ steps }) => steps > 1,
          "steps",
        ),
      }),
      section("distributed", later("DistributedView"), {
        compared: "steps",
        ranks: "all",
        lack: because(
          "Several ranks",
          "One process was recorded; no other rank is here.",
          ({ ranks, world }) => ranks > 1 || world > 1,
        ),
      }),
      section("iterations", later("IterationsView"), {
        term: "iterations_view",
        compared: "steps",
        lack: because(
          "Iterations",
          "The trace has no iterations of an inference server.",
          ({ iterations }) => iterations,
        ),
      }),
    ],
    named: ({ ranks, iterations }) =>
      ranks > 1
        ? ["Ranks", ...(iterations ? [" · Iterations"] : [])]
        : [iterations ? "Iterations" : "Steps"],
    first: ({ ranks, iterations }) =>
      ranks > 1 ? "distributed" : iterations ? "iterations" : "steps",
  },
  {
    label: "Operators",
    sections: [
      section("operator", later("OperatorView"), {
        compared: ["operator", "host"],
        lack: lackOf("host"),
      }),
      section("module", later("ModuleView"), {
        compared: ["module"],
        lack: lackOf("host"),
      }),
      section("lines", later("LinesView"), {
        term: "lines_view",
        lack: lackOf("host"),
      }),
      section("api_calls", later("ApiCallsView"), {
        term: "api_calls_view",
        compared: ["runtime"],
      }),
    ],
  },
  {
    label: "Kernels",
    sections: [
      section("efficiency", later("EfficiencyView"), {
        term: "efficiency_view",
        lack: NO_DEVICE,
      }),
      section("kernel", later("KernelView"), {
        compared: ["kernel"],
        lack: lackOf("device", "device_of_rank"),
      }),
      section("counters", later("CountersView"), {
        term: "counters_view",
        lack: lackOf("counters"),
      }),
    ],
  },
  {
    label: "Memory",
    sections: [
      section("memory", later("MemoryView"), {
        term: "memory_view",
        compared: "itself",
        lack: ({ missing }) => missing.find(({ key }) => key === "memory") ?? null,
      }),
    ],
  },
];

/** What a place lacks: where none of its sections has anything to see. */
export function lackOfPlace({ sections }: Place, recorded: Recorded): Lack | null {
  const lacks = sections.map(({ lack }) => lack(recorded));
  return lacks.every((lack) => lack) ? (lacks[0] ?? null) : null;
}

/** The section of an id, and the place that is lit while it is shown. */
export function placeOf(id: ViewId): { place: Place; section: Section } {
  for (const place of [...PLACES, MORE])
    for (const section of place.sections) if (section.id === id) return { place, section };
  throw new Error(`No place has the section ${id}`);
}
