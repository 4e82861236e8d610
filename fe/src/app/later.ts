/** Views that come in one file after the first page: small ones apart would compress worse. */

export { DiffView } from "../views/diff/view";
export { DistributedView } from "../views/distributed/view";
export { MemoryView } from "../views/memory/view";
export { ModuleView } from "../views/module/view";
