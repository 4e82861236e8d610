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
const IterationsView = lazy(async () => (await import("./later")).IterationsView);
const ApiCallsView = lazy(async () => (await import("./later")).ApiCallsView);
const MemoryView = lazy(async () => (await import("./later")).MemoryView);
const ModuleView = lazy(async () => (await import("./later")).ModuleView);
const DistributedView = lazy(async () => (await import("./later")).DistributedView);
const EfficiencyView = lazy(async () => (await import("./later")).EfficiencyView);
const CriticalPathView = lazy(async () => (await import("./later")).CriticalPathView);
const CountersView = lazy(async () => (await import("./later")).CountersView);
const SqlView = lazy(async () => (await import("./later")).SqlView);
const DiffView = lazy(async () => (await import("./later")).DiffView);

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
  view("api_calls", "API Calls", ApiCallsView, { term: "api_calls_view" }),
  view("iterations", "Iterations", IterationsView, { term: "iterations_view" }),
  view("trace", "Trace", TraceView),
  view("critical_path", "Critical Path", CriticalPathView, { term: "critical_path_view" }),
  view("memory", "Memory", MemoryView, { term: "memory_view" }),
  view("module", "Module", ModuleView),
  view("distributed", "Distributed", DistributedView),
  view("efficiency", "Efficiency", EfficiencyView, { term: "efficiency_view" }),
  view("counters", "Counters", CountersView, { term: "counters_view" }),
  view("diff", "Diff", DiffView),
  view("sql", "SQL", SqlView, { term: "sql_view", fixedSteps: "all steps" }),
  view("diagnosis", "Diagnosis", DiagnosisView, { fixedSteps: "all steps", needsTrace: false }),
];
