/** What is not drawn first comes in one file after it: apart, these views would compress worse. */

export { ApiCallsView } from "../views/api_calls/view";
export { CompareMenu } from "../views/compare_menu";
export { CountersView } from "../views/counters/view";
export { CriticalPathView } from "../views/critical_path/view";
export { DiagnosisView } from "../views/diagnosis/view";
export { ChangesView, DiffView } from "../views/diff/view";
export { DistributedView } from "../views/distributed/view";
export { EfficiencyView } from "../views/efficiency/view";
export { IterationsView } from "../views/iterations/view";
export { KernelView } from "../views/kernel/view";
export { LinesView } from "../views/lines/view";
export { MemoryView } from "../views/memory/view";
export { ModuleView } from "../views/module/view";
export { OperatorView } from "../views/operator/view";
export { SqlView } from "../views/sql/view";
export { StepsView } from "../views/steps/view";
export { TraceView } from "../views/trace/view";
