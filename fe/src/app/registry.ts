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
  /** Whether the step selector is shown. The trace page has its own, beside the other ways to choose a part. */
  usesSteps: boolean;
  /** Whether it needs a trace; without one such a view says that there is none. */
  needsTrace: boolean;
}

const TraceView = lazy(async () => (await import("../views/trace/view")).TraceView);
const MemoryView = lazy(async () => (await import("./later")).MemoryView);
const ModuleView = lazy(async () => (await import("./later")).ModuleView);
const DistributedView = lazy(async () => (await import("./later")).DistributedView);
const EfficiencyView = lazy(async () => (await import("./later")).EfficiencyView);
const CountersView = lazy(async () => (await import("./later")).CountersView);
const DiffView = lazy(async () => (await import("./later")).DiffView);

export const VIEWS: readonly View[] = [
  {
    id: "overview",
    label: "Overview",
    term: "overview",
    component: OverviewView,
    usesSteps: true,
    needsTrace: true,
  },
  {
    id: "operator",
    label: "Operator",
    term: "operator",
    component: OperatorView,
    usesSteps: true,
    needsTrace: true,
  },
  {
    id: "kernel",
    label: "Kernel",
    term: "kernel",
    component: KernelView,
    usesSteps: true,
    needsTrace: true,
  },
  {
    id: "trace",
    label: "Trace",
    term: "trace",
    component: TraceView,
    usesSteps: false,
    needsTrace: true,
  },
  {
    id: "memory",
    label: "Memory",
    term: "memory_view",
    component: MemoryView,
    usesSteps: false,
    needsTrace: true,
  },
  {
    id: "module",
    label: "Module",
    term: "module",
    component: ModuleView,
    usesSteps: true,
    needsTrace: true,
  },
  {
    id: "distributed",
    label: "Distributed",
    term: "distributed",
    component: DistributedView,
    usesSteps: false,
    needsTrace: true,
  },
  {
    id: "efficiency",
    label: "Efficiency",
    term: "efficiency_view",
    component: EfficiencyView,
    usesSteps: true,
    needsTrace: true,
  },
  {
    id: "counters",
    label: "Counters",
    term: "counters_view",
    component: CountersView,
    usesSteps: true,
    needsTrace: true,
  },
  {
    id: "diff",
    label: "Diff",
    term: "diff",
    component: DiffView,
    usesSteps: true,
    needsTrace: true,
  },
  {
    id: "diagnosis",
    label: "Diagnosis",
    term: "diagnosis",
    component: DiagnosisView,
    usesSteps: false,
    needsTrace: false,
  },
];
