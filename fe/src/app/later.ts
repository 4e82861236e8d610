/** Views that come in one file after the first page: small ones apart would compress worse, and so would their style sheets apart from each other. */

export { ApiCallsView } from "../views/api_calls/view";
export { CountersView } from "../views/counters/view";
export { CriticalPathView } from "../views/critical_path/view";
export { DiffView } from "../views/diff/view";
export { DistributedView } from "../views/distributed/view";
export { EfficiencyView } from "../views/efficiency/view";
export { IterationsView } from "../views/iterations/view";
export { MemoryView } from "../views/memory/view";
export { ModuleView } from "../views/module/view";
export { SqlView } from "../views/sql/view";

