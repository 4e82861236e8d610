import type { ComponentType } from "preact";
import type { ViewId, ViewProps } from "../state/view";
import { DiagnosisView } from "../views/diagnosis/view";
import { KernelView } from "../views/kernel/view";
import { OperatorView } from "../views/operator/view";
import { OverviewView } from "../views/overview/view";
import { lazy } from "./lazy";

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

const TraceView = lazy(async () => (await import("../views/trace/view")).TraceView);

type Later = typeof import("./later");

/** One of the views that come together. */
const inLater = (name: keyof Later): View["component"] =>
  lazy(async () => (await import("./later"))[name]);

const view = (
  id: ViewId,
  label: string,
  component: View["component"],
  options: Partial<Pick<View, "term" | "fixedSteps" | "needsTrace">> = {},
): View => ({ id, label, term: id, component, fixedSteps: "", needsTrace: true, ...options });

export const VIEWS: readonly View[] = [
  view("overview", "Overview", OverviewView),
  view("operator", "Operator", OperatorView),
  view("kernel", "Kernel", KernelView),
  view("api_calls", "API Calls", inLater("ApiCallsView"), { term: "api_calls_view" }),
  view("iterations", "Iterations", inLater("IterationsView"), { term: "iterations_view" }),
  view("trace", "Trace", TraceView),
  view("critical_path", "Critical Path", inLater("CriticalPathView"), {
    term: "critical_path_view",
  }),
  view("memory", "Memory", inLater("MemoryView"), { term: "memory_view" }),
  view("module", "Module", inLater("ModuleView")),
  view("distributed", "Distributed", inLater("DistributedView")),
  view("efficiency", "Efficiency", inLater("EfficiencyView"), { term: "efficiency_view" }),
  view("counters", "Counters", inLater("CountersView"), { term: "counters_view" }),
  view("diff", "Diff", inLater("DiffView")),
  view("sql", "SQL", inLater("SqlView"), { term: "sql_view", fixedSteps: "all steps" }),
  view("diagnosis", "Diagnosis", DiagnosisView, { fixedSteps: "all steps", needsTrace: false }),
];
