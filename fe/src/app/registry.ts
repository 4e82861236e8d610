import type { ComponentType } from "preact";
import type { ViewId, ViewProps } from "../state/view";
import { OverviewView } from "../views/overview/view";
import { later } from "./lazy_component";

export interface View {
  id: ViewId;
  label: string;
  term: string;
  component: ComponentType<ViewProps>;
  /** Which steps it is of where choosing some means nothing; empty where it follows the choice. */
  fixedSteps: string;
  /** Whether it needs a trace; without one such a view says that there is none. */
  needsTrace: boolean;
}

const view = (
  id: ViewId,
  label: string,
  component: View["component"],
  options: Partial<Pick<View, "term" | "fixedSteps" | "needsTrace">> = {},
): View => ({ id, label, term: id, component, fixedSteps: "", needsTrace: true, ...options });

export const VIEWS: readonly View[] = [
  view("overview", "Overview", OverviewView),
  view("operator", "Operator", later("OperatorView")),
  view("kernel", "Kernel", later("KernelView")),
  view("api_calls", "API Calls", later("ApiCallsView"), { term: "api_calls_view" }),
  view("iterations", "Iterations", later("IterationsView"), { term: "iterations_view" }),
  view("trace", "Trace", later("TraceView")),
  view("critical_path", "Critical Path", later("CriticalPathView"), {
    term: "critical_path_view",
  }),
  view("memory", "Memory", later("MemoryView"), { term: "memory_view" }),
  view("module", "Module", later("ModuleView")),
  view("distributed", "Distributed", later("DistributedView")),
  view("steps", "Steps", later("StepsView"), { term: "steps_view", fixedSteps: "all steps" }),
  view("efficiency", "Efficiency", later("EfficiencyView"), { term: "efficiency_view" }),
  view("counters", "Counters", later("CountersView"), { term: "counters_view" }),
  view("diff", "Diff", later("DiffView")),
  view("sql", "SQL", later("SqlView"), { term: "sql_view", fixedSteps: "all steps" }),
  view("diagnosis", "Diagnosis", later("DiagnosisView"), {
    fixedSteps: "all steps",
    needsTrace: false,
  }),
];
