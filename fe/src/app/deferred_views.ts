/**
 * What is not drawn first comes in one file after it: apart, these views would compress worse. They stand in the order in which they compress best, those
 * that are alike beside each other.
 */

export { TraceView } from "../views/trace/view";
export { Ask } from "../views/ask/view";
export { CriticalPathView } from "../views/critical_path/view";
export { OperatorView } from "../views/operator/view";
export { StepCauses, StepsView } from "../views/steps/view";
export { Longest } from "../views/overview/longest";
export { Breakdown } from "../views/overview/breakdown";
export { CopyMessage } from "../views/overview/message";
export { ChangesView, DiffView } from "../views/diff/view";
export { CompareMenu } from "../views/compare_menu";
export { KernelView } from "../views/kernel/view";
export { IterationsView } from "../views/iterations/view";
export { EfficiencyView } from "../views/efficiency/view";
export { CountersView } from "../views/counters/view";
export { ModuleView } from "../views/module/view";
export { LinesView } from "../views/lines/view";
export { ApiCallsView } from "../views/api_calls/view";
export { FirstMemory, MemoryView } from "../views/memory/view";
export { DistributedView } from "../views/distributed/view";
export { SqlView } from "../views/sql/view";
export { DiagnosisView } from "../views/diagnosis/view";
export { PageDialog } from "./dialogs";
