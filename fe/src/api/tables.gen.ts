// Generated from the declared tables (torch_tb_profiler/store/display.py) by `python -m torch_tb_profiler.views.typescript --write`. Do not edit.
import type { DeclaredColumn } from "../base/columns";

export const OPERATORS: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Operator", "kind": "code", "term": "operator", "width": 232},
  {"key": "input_shapes", "label": "Input shapes", "kind": "code", "term": "input_shapes", "width": 240},
  {"key": "calls", "label": "Calls", "kind": "count", "term": "calls"},
  {"key": "device_self_ns", "label": "{Device} self", "kind": "time", "term": "device_self", "bar": true},
  {"key": "device_total_ns", "label": "{Device} total", "kind": "time", "term": "device_total", "bar": true},
  {"key": "host_self_ns", "label": "Host self", "kind": "time", "term": "host_self", "bar": true},
  {"key": "host_total_ns", "label": "Host total", "kind": "time", "term": "host_total", "bar": true},
  {"key": "matrix_eligible", "label": "{Matrix_cores} eligible", "kind": "knowledge", "term": "matrix_eligible", "width": 112},
  {"key": "matrix_self_share", "label": "{Matrix_cores} self", "kind": "share", "term": "matrix_self_share"},
  {"key": "matrix_total_share", "label": "{Matrix_cores} total", "kind": "share", "term": "matrix_total_share"},
];

export const KERNELS: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Kernel", "kind": "code", "term": "kernel", "width": 320},
  {"key": "operator", "label": "Operator", "kind": "code", "term": "kernel_operator", "width": 236},
  {"key": "calls", "label": "Calls", "kind": "count", "term": "calls"},
  {"key": "total_ns", "label": "Total", "kind": "time", "term": "total", "bar": true},
  {"key": "mean_ns", "label": "Mean", "kind": "time", "term": "mean"},
  {"key": "min_ns", "label": "Min", "kind": "time", "term": "shortest"},
  {"key": "max_ns", "label": "Max", "kind": "time", "term": "longest"},
  {"key": "grid", "label": "Grid", "kind": "code", "term": "grid", "width": 110},
  {"key": "block", "label": "Block", "kind": "code", "term": "block", "width": 110},
  {"key": "registers", "label": "Registers", "kind": "count", "term": "registers"},
  {"key": "shared_memory_bytes", "label": "Shared memory", "kind": "bytes", "term": "shared_memory"},
  {"key": "blocks_per_sm", "label": "Blocks per {multiprocessor}", "kind": "number", "term": "blocks_per_sm", "width": 116},
  {"key": "occupancy", "label": "Est. occupancy", "kind": "share", "term": "kernel_occupancy"},
  {"key": "matrix", "label": "{Matrix_cores}", "kind": "knowledge", "term": "matrix"},
  {"key": "matrix_eligible", "label": "Operator {matrix_cores} eligible", "kind": "knowledge", "term": "matrix_eligible", "width": 136},
];

export const MODULES: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Module", "kind": "code", "term": "module_name", "width": 210},
  {"key": "kind", "label": "Class", "kind": "code", "term": "module_class", "width": 120, "hidden": true},
  {"key": "calls", "label": "Calls", "kind": "count", "term": "module_calls"},
  {"key": "operators", "label": "Operators", "kind": "count", "term": "module_operators"},
  {"key": "forward_device_total_ns", "label": "Forward {device}", "kind": "time", "term": "module_forward_device_total", "bar": true},
  {"key": "forward_device_self_ns", "label": "Forward {device} self", "kind": "time", "term": "module_forward_device_self", "bar": true},
  {"key": "forward_host_total_ns", "label": "Forward host", "kind": "time", "term": "module_forward_host_total", "bar": true},
  {"key": "forward_host_self_ns", "label": "Forward host self", "kind": "time", "term": "module_forward_host_self", "bar": true},
  {"key": "backward_device_total_ns", "label": "Backward {device}", "kind": "time", "term": "module_backward_device_total", "bar": true},
  {"key": "backward_device_self_ns", "label": "Backward {device} self", "kind": "time", "term": "module_backward_device_self", "bar": true},
  {"key": "backward_host_total_ns", "label": "Backward host", "kind": "time", "term": "module_backward_host_total", "bar": true},
  {"key": "backward_host_self_ns", "label": "Backward host self", "kind": "time", "term": "module_backward_host_self", "bar": true},
  {"key": "allocated_bytes", "label": "Allocated", "kind": "bytes", "term": "module_allocated"},
  {"key": "increase_bytes", "label": "Memory increase", "kind": "bytes", "term": "module_increase"},
];
