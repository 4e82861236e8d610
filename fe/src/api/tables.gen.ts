// Generated from the declared tables (torch_tb_profiler/store/display.py) by `python -m tests.generate --write`. Do not edit.
import type { DeclaredColumn } from "../base/columns";

export const API_CALLS: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Call", "kind": "code", "term": "api_name", "width": 260},
  {"key": "calls", "label": "Calls", "kind": "count", "term": "api_calls"},
  {"key": "total_ns", "label": "Total", "kind": "time", "term": "api_total", "bar": true},
  {"key": "thread_share", "label": "Of launch thread", "kind": "share", "term": "api_share"},
  {"key": "mean_ns", "label": "Mean", "kind": "time", "term": "api_mean"},
  {"key": "median_ns", "label": "Median", "kind": "time", "term": "api_median"},
  {"key": "max_ns", "label": "Max", "kind": "time", "term": "api_max"},
];

export const LONG_CALLS: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Call", "kind": "code", "term": "api_name", "width": 240},
  {"key": "dur_ns", "label": "Duration", "kind": "time", "term": "long_call", "bar": true},
  {"key": "reason", "label": "Why", "kind": "code", "term": "api_reason", "width": 140},
  {"key": "operator", "label": "Operator", "kind": "code", "term": "long_operator", "width": 220},
  {"key": "kernel", "label": "Launched", "kind": "code", "term": "long_launched", "width": 220},
  {"key": "start_ns", "label": "Begin", "kind": "time", "term": "long_begin"},
];

export const LAUNCHES: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Kernel", "kind": "code", "term": "launch_kernel", "width": 320},
  {"key": "calls", "label": "Calls", "kind": "count", "term": "launch_calls"},
  {"key": "total_ns", "label": "Total", "kind": "time", "term": "launch_total"},
  {"key": "short", "label": "Short", "kind": "count", "term": "launch_short"},
  {"key": "short_ns", "label": "In short ones", "kind": "time", "term": "launch_short_time", "bar": true},
  {"key": "below_launch", "label": "Below launch", "kind": "count", "term": "launch_below"},
  {"key": "launch_ns", "label": "Mean launch", "kind": "time", "term": "launch_duration"},
  {"key": "median_delay_ns", "label": "Median delay", "kind": "time", "term": "launch_median_delay"},
  {"key": "max_delay_ns", "label": "Max delay", "kind": "time", "term": "launch_max_delay"},
];

export const QUEUES: readonly DeclaredColumn[] = [
  {"key": "stream", "label": "Stream", "kind": "text", "term": "queue_stream", "width": 160},
  {"key": "launches", "label": "Launches", "kind": "count", "term": "queue_launches"},
  {"key": "mean_length", "label": "Mean length", "kind": "number", "term": "queue_mean"},
  {"key": "max_length", "label": "Max length", "kind": "count", "term": "queue_max"},
  {"key": "waiting_ns", "label": "Waiting", "kind": "time", "term": "queue_waiting", "bar": true},
  {"key": "full_ns", "label": "At the limit", "kind": "time", "term": "queue_full"},
  {"key": "full_share", "label": "Share", "kind": "share", "term": "queue_share"},
  {"key": "blocked", "label": "Blocked launches", "kind": "count", "term": "queue_blocked"},
  {"key": "blocked_ns", "label": "In blocked ones", "kind": "time", "term": "queue_blocked_time"},
];

export const COPIES: readonly DeclaredColumn[] = [
  {"key": "kind", "label": "Kind", "kind": "code", "term": "copy_kind", "width": 90},
  {"key": "memory", "label": "Host memory", "kind": "code", "term": "copy_memory", "width": 110},
  {"key": "size", "label": "Size", "kind": "code", "term": "copy_size", "width": 110},
  {"key": "calls", "label": "Count", "kind": "count", "term": "copy_calls"},
  {"key": "total_ns", "label": "Total", "kind": "time", "term": "copy_total", "bar": true},
  {"key": "median_ns", "label": "Median", "kind": "time", "term": "copy_median"},
  {"key": "max_ns", "label": "Max", "kind": "time", "term": "copy_max"},
  {"key": "bytes", "label": "Bytes", "kind": "bytes", "term": "copy_bytes"},
  {"key": "rate", "label": "Rate", "kind": "B/s", "term": "copy_rate"},
  {"key": "link_share", "label": "Of link", "kind": "share", "term": "copy_link"},
];

export const KERNEL_SEQUENCES: readonly DeclaredColumn[] = [
  {"key": "sequence", "label": "Kernels", "kind": "code", "term": "sequence_kernels", "width": 420},
  {"key": "length", "label": "Length", "kind": "count", "term": "sequence_length"},
  {"key": "count", "label": "Count", "kind": "count", "term": "sequence_count"},
  {"key": "device_ns", "label": "{Device}", "kind": "time", "term": "sequence_device", "bar": true},
  {"key": "gaps_ns", "label": "Gaps", "kind": "time", "term": "sequence_gaps"},
  {"key": "host_ns", "label": "Operator", "kind": "time", "term": "sequence_host"},
];

export const COUNTERS: readonly DeclaredColumn[] = [
  {"key": "kernel", "label": "Kernel", "kind": "code", "term": "counters_kernel", "width": 240},
  {"key": "op_stack", "label": "Operators", "kind": "code", "term": "counters_path", "hidden": true},
  {"key": "top_op", "label": "Top operator", "kind": "code", "term": "counters_top", "width": 170},
  {"key": "bottom_op", "label": "Bottom operator", "kind": "code", "term": "counters_bottom", "width": 170},
  {"key": "step", "label": "Step", "kind": "count", "term": "counters_step", "hidden": true},
  {"key": "time_ns", "label": "Time", "kind": "time", "term": "counters_time", "bar": true},
  {"key": "flops", "label": "FLOPs", "kind": "FLOP", "term": "counters_flops", "bar": true},
  {"key": "bytes", "label": "Memory traffic", "kind": "bytes", "term": "counters_bytes", "bar": true},
  {"key": "intensity", "label": "FLOP/B", "kind": "number", "term": "counters_intensity", "width": 76},
  {"key": "flops_rate", "label": "FLOP/s", "kind": "FLOP/s", "term": "counters_rate"},
];

export const COUNTER_SAMPLES: readonly DeclaredColumn[] = [
  {"key": "counter", "label": "Counter", "kind": "code", "term": "counters_counter", "width": 280},
  {"key": "unit", "label": "Unit", "kind": "text", "term": "counters_unit", "width": 90},
  {"key": "device", "label": "Device", "kind": "text", "term": "counters_device", "width": 110},
  {"key": "step", "label": "Step", "kind": "count", "term": "counters_step", "width": 130},
  {"key": "samples", "label": "Samples", "kind": "count", "term": "counters_samples"},
  {"key": "mean", "label": "Mean", "kind": "number", "term": "counters_mean"},
  {"key": "min", "label": "Least", "kind": "number", "term": "counters_least"},
  {"key": "max", "label": "Greatest", "kind": "number", "term": "counters_greatest"},
];

export const PATH_KINDS: readonly DeclaredColumn[] = [
  {"key": "path_ns", "label": "On the path", "kind": "time", "term": "path_time"},
  {"key": "share", "label": "Share", "kind": "share", "term": "path_share"},
  {"key": "segments", "label": "Segments", "kind": "count", "term": "path_segments"},
];

export const PATH_STEPS: readonly DeclaredColumn[] = [
  {"key": "not_recorded_ns", "label": "Not recorded", "kind": "time"},
  {"key": "kernel_ns", "label": "Kernel", "kind": "time"},
  {"key": "memcpy_ns", "label": "Memcpy", "kind": "time"},
  {"key": "memset_ns", "label": "Memset", "kind": "time"},
  {"key": "communication_ns", "label": "Communication", "kind": "time"},
  {"key": "launch_ns", "label": "Launch latency", "kind": "time"},
  {"key": "operator_ns", "label": "Host operator", "kind": "time"},
  {"key": "python_ns", "label": "Python", "kind": "time"},
  {"key": "runtime_ns", "label": "Runtime call", "kind": "time"},
  {"key": "synchronization_ns", "label": "Synchronization", "kind": "time"},
  {"key": "dataloader_ns", "label": "DataLoader", "kind": "time"},
  {"key": "annotation_ns", "label": "Host code in an annotation", "kind": "time"},
  {"key": "before_recording_ns", "label": "Before the recording", "kind": "time"},
  {"key": "waiting_ns", "label": "Waiting for a rank", "kind": "time"},
];

export const PATH_EVENTS: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Event", "kind": "code", "term": "path_event", "width": 300},
  {"key": "kind", "label": "Kind", "kind": "code", "term": "path_kind", "width": 180},
  {"key": "line", "label": "Source line", "kind": "code", "term": "path_line", "width": 240},
  {"key": "operator", "label": "Operator", "kind": "code", "term": "path_operator", "width": 150},
  {"key": "path_ns", "label": "On the path", "kind": "time", "term": "path_time", "bar": true},
  {"key": "share", "label": "Share", "kind": "share", "term": "path_share"},
  {"key": "work_ns", "label": "Plain time", "kind": "time", "term": "path_work"},
  {"key": "work_share", "label": "Plain share", "kind": "share", "term": "path_work_share"},
  {"key": "segments", "label": "Segments", "kind": "count", "term": "path_segments"},
];

export const DIFF: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Name", "kind": "code", "term": "diff_name", "width": 320},
  {"key": "status", "label": "Status", "kind": "text", "term": "diff_status", "width": 80},
  {"key": "delta_ns", "label": "Change per step", "kind": "delta", "term": "diff_delta", "width": 160, "bar": true},
  {"key": "share", "label": "Of the step", "kind": "share", "term": "diff_share", "width": 84},
  {"key": "time_a_ns", "label": "A per step", "kind": "time", "term": "diff_time", "width": 92},
  {"key": "time_b_ns", "label": "B per step", "kind": "time", "term": "diff_time", "width": 92},
  {"key": "calls_a", "label": "Calls A", "kind": "number", "term": "diff_calls", "width": 74},
  {"key": "calls_b", "label": "Calls B", "kind": "number", "term": "diff_calls", "width": 74},
  {"key": "beyond", "label": "Beyond noise", "kind": "text", "term": "diff_noise", "width": 84},
  {"key": "host_a_ns", "label": "Host self A", "kind": "time", "term": "diff_host", "width": 92, "hidden": true},
  {"key": "host_b_ns", "label": "Host self B", "kind": "time", "term": "diff_host", "width": 92, "hidden": true},
];

export const DIFF_TREE: readonly DeclaredColumn[] = [
  {"key": "name_a", "label": "Name", "kind": "code", "term": "diff_name", "width": 360},
  {"key": "kind", "label": "Kind", "kind": "text", "term": "diff_kind", "width": 92},
  {"key": "status", "label": "Status", "kind": "text", "term": "diff_status", "width": 80},
  {"key": "device_a_ns", "label": "Device A", "kind": "time", "term": "diff_tree", "width": 92},
  {"key": "device_b_ns", "label": "Device B", "kind": "time", "term": "diff_tree", "width": 92},
  {"key": "host_a_ns", "label": "Host A", "kind": "time", "term": "diff_tree", "width": 92},
  {"key": "host_b_ns", "label": "Host B", "kind": "time", "term": "diff_tree", "width": 92},
  {"key": "calls_a", "label": "Calls A", "kind": "number", "term": "diff_calls", "width": 74},
  {"key": "calls_b", "label": "Calls B", "kind": "number", "term": "diff_calls", "width": 74},
];

export const OPERATIONS: readonly DeclaredColumn[] = [
  {"key": "kind", "label": "Operation", "kind": "text", "term": "distributed_operation", "width": 120},
  {"key": "bytes", "label": "Message", "kind": "bytes", "term": "distributed_bytes", "width": 88},
  {"key": "dtype", "label": "Type", "kind": "text", "term": "distributed_dtype", "width": 80},
  {"key": "library", "label": "Library", "kind": "text", "term": "distributed_library", "width": 70},
  {"key": "group", "label": "Group", "kind": "text", "term": "distributed_group", "width": 76},
  {"key": "group_size", "label": "Ranks", "kind": "count", "term": "distributed_group_size", "width": 64},
  {"key": "calls", "label": "Calls", "kind": "count", "term": "calls", "width": 70},
  {"key": "total_ns", "label": "Total", "kind": "time", "term": "distributed_total", "width": 110, "bar": true},
  {"key": "mean_ns", "label": "Mean", "kind": "time", "term": "distributed_mean", "width": 84},
  {"key": "exposed_ns", "label": "Exposed", "kind": "time", "term": "distributed_exposed", "width": 84},
  {"key": "waiting_ns", "label": "Waiting", "kind": "time", "term": "distributed_waiting", "width": 84},
  {"key": "transfer_ns", "label": "Transferring", "kind": "time", "term": "distributed_transfer", "width": 98},
  {"key": "algorithm_bandwidth", "label": "Algorithm bandwidth", "kind": "B/s", "term": "distributed_algorithm_bandwidth", "width": 104},
  {"key": "bus_bandwidth", "label": "Bus bandwidth", "kind": "B/s", "term": "distributed_bus_bandwidth", "width": 104},
  {"key": "split", "label": "Without waiting", "kind": "text", "term": "distributed_split", "width": 92, "hidden": true},
];

export const EFFICIENCY: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Operator", "kind": "code", "term": "efficiency_operator", "width": 200},
  {"key": "kernel", "label": "Kernel", "kind": "code", "term": "efficiency_kernel", "width": 250},
  {"key": "parameters", "label": "Parameters", "kind": "code", "term": "efficiency_parameters", "width": 190},
  {"key": "input_shapes", "label": "Input shapes", "kind": "code", "term": "efficiency_shapes", "width": 220, "hidden": true},
  {"key": "input_dtypes", "label": "Types", "kind": "code", "term": "efficiency_types", "width": 130, "hidden": true},
  {"key": "family", "label": "Family", "kind": "text", "term": "efficiency_family", "width": 130},
  {"key": "calls", "label": "Calls", "kind": "count", "term": "calls"},
  {"key": "time_ns", "label": "Time", "kind": "time", "term": "efficiency_time", "width": 100, "bar": true},
  {"key": "flops_share", "label": "Of the peak", "kind": "share", "term": "efficiency_flops_share", "width": 200, "bar": true},
  {"key": "bytes_share", "label": "Of the bandwidth", "kind": "share", "term": "efficiency_bytes_share", "width": 116, "bar": true},
  {"key": "bound", "label": "Bound by", "kind": "text", "term": "efficiency_bound", "width": 96},
  {"key": "recoverable_ns", "label": "Recoverable", "kind": "time", "term": "efficiency_recoverable", "width": 100, "bar": true},
  {"key": "flops_rate", "label": "FLOP/s", "kind": "FLOP/s", "term": "efficiency_flops_rate", "width": 104},
  {"key": "bytes_rate", "label": "Bytes/s", "kind": "B/s", "term": "efficiency_bytes_rate"},
  {"key": "intensity", "label": "FLOP/B", "kind": "number", "term": "efficiency_intensity"},
  {"key": "flops", "label": "FLOPs per call", "kind": "FLOP", "term": "efficiency_flops"},
  {"key": "bytes", "label": "Bytes per call", "kind": "bytes", "term": "efficiency_bytes"},
  {"key": "ideal_ns", "label": "At the peak", "kind": "time", "term": "efficiency_ideal", "hidden": true},
  {"key": "matrix", "label": "{Matrix_cores}", "kind": "knowledge", "term": "matrix"},
];

export const EXPERIMENTS: readonly DeclaredColumn[] = [
  {"key": "run", "label": "Run", "kind": "text", "term": "run", "width": 190},
  {"key": "recorded", "label": "Recorded", "kind": "text", "term": "experiment_recorded", "width": 146},
  {"key": "steps", "label": "Steps", "kind": "count", "term": "step", "width": 58},
  {"key": "step_ns", "label": "Step", "kind": "time", "term": "experiment_step", "width": 78},
  {"key": "spread_ns", "label": "Spread", "kind": "time", "term": "experiment_spread", "width": 76},
  {"key": "delta_ns", "label": "Change", "kind": "delta", "term": "diff_delta", "width": 92},
  {"key": "share", "label": "Of the step", "kind": "share", "term": "diff_share", "width": 84},
  {"key": "noise_ns", "label": "Noise", "kind": "time", "term": "experiment_noise", "width": 76, "hidden": true},
  {"key": "beyond", "label": "Beyond noise", "kind": "text", "term": "diff_noise", "width": 76},
  {"key": "busy", "label": "GPU active", "kind": "share", "term": "experiment_busy", "width": 70},
  {"key": "mfu", "label": "MFU", "kind": "share", "term": "efficiency_mfu", "width": 66},
  {"key": "peak_bytes", "label": "Peak memory", "kind": "bytes", "term": "memory_peak", "width": 84},
  {"key": "exposed_ns", "label": "Exposed", "kind": "time", "term": "distributed_exposed", "width": 80},
  {"key": "findings", "label": "Findings", "kind": "text", "term": "findings", "width": 300},
  {"key": "device", "label": "Device", "kind": "text", "term": "device", "width": 170},
  {"key": "worker", "label": "Worker", "kind": "text", "term": "worker", "width": 90},
  {"key": "common", "label": "Operators in common", "kind": "share", "term": "experiment_common", "hidden": true},
];

export const ITERATIONS: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Iteration", "kind": "text", "term": "iteration", "width": 330},
  {"key": "phase", "label": "Phase", "kind": "text", "term": "iteration_phase", "width": 72},
  {"key": "part", "label": "Part", "kind": "text", "term": "steady_state", "width": 88},
  {"key": "context_requests", "label": "Prompts", "kind": "count", "term": "iteration_requests"},
  {"key": "context_tokens", "label": "Prompt tokens", "kind": "count", "term": "iteration_tokens"},
  {"key": "generation_requests", "label": "Generating", "kind": "count", "term": "iteration_requests"},
  {"key": "generation_tokens", "label": "Generated tokens", "kind": "count", "term": "iteration_tokens"},
  {"key": "batch", "label": "Batch", "kind": "count", "term": "padded_batch"},
  {"key": "padding", "label": "Padding", "kind": "share", "term": "padding"},
  {"key": "begin_ns", "label": "Begin", "kind": "time", "term": "iteration_begin", "hidden": true},
  {"key": "wall_ns", "label": "Time", "kind": "time", "term": "iteration_time"},
  {"key": "device_ns", "label": "Device", "kind": "time", "term": "iteration_device"},
  {"key": "gap_ns", "label": "Gap before", "kind": "time", "term": "gap_before"},
  {"key": "host_ns", "label": "Host", "kind": "time", "term": "iteration_host"},
  {"key": "scheduler_ns", "label": "Scheduler", "kind": "time", "term": "scheduler_time"},
  {"key": "interval_ns", "label": "Interval", "kind": "time", "term": "token_interval"},
  {"key": "tokens_per_second", "label": "Tokens/s", "kind": "number", "term": "tokens_per_second"},
  {"key": "odd", "label": "Odd", "kind": "text", "term": "odd_step"},
];

export const PHASES: readonly DeclaredColumn[] = [
  {"key": "phase", "label": "Phase", "kind": "text", "term": "iteration_phase"},
  {"key": "iterations", "label": "Iterations", "kind": "count", "term": "iteration"},
  {"key": "wall_ns", "label": "Median time", "kind": "time", "term": "iteration_time"},
  {"key": "interval_ns", "label": "Median interval", "kind": "time", "term": "token_interval"},
  {"key": "tokens", "label": "Tokens", "kind": "count", "term": "iteration_tokens"},
  {"key": "tokens_per_second", "label": "Tokens/s", "kind": "number", "term": "tokens_per_second"},
  {"key": "padding", "label": "Padding", "kind": "share", "term": "padding"},
  {"key": "device_share", "label": "Device", "kind": "share", "term": "iteration_device"},
  {"key": "odd", "label": "Odd", "kind": "count", "term": "odd_step"},
];

export const MEMORY_BLOCKS: readonly DeclaredColumn[] = [
  {"key": "operator", "label": "Operator", "kind": "code", "term": "memory_block_operator", "width": 200},
  {"key": "parent", "label": "Called by", "kind": "code", "term": "memory_block_parent", "width": 180},
  {"key": "module", "label": "Module", "kind": "code", "term": "memory_block_module", "width": 150},
  {"key": "line", "label": "Line", "kind": "code", "term": "memory_block_line", "width": 220},
  {"key": "category", "label": "Category", "kind": "code", "term": "memory_block_category", "width": 120},
  {"key": "known_by", "label": "Known by", "kind": "code", "term": "memory_known_by", "width": 160},
  {"key": "bytes", "label": "Size", "kind": "bytes", "term": "memory_block_bytes", "bar": true},
  {"key": "allocated_ns", "label": "Allocated at", "kind": "time", "term": "memory_allocated_at"},
  {"key": "released_ns", "label": "Released at", "kind": "time", "term": "memory_released_at"},
  {"key": "lifetime_ns", "label": "Lifetime", "kind": "time", "term": "memory_lifetime", "width": 84},
];

export const MEMORY_STATISTICS: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Name", "kind": "code", "width": 240},
  {"key": "calls", "label": "Calls", "kind": "count", "term": "memory_calls", "width": 80},
  {"key": "increase_bytes", "label": "Size increase", "kind": "bytes", "term": "memory_increase", "width": 116},
  {"key": "self_increase_bytes", "label": "Self size increase", "kind": "bytes", "term": "memory_self_increase", "width": 120, "bar": true},
  {"key": "allocations", "label": "Allocations", "kind": "count", "term": "memory_allocations", "width": 116},
  {"key": "self_allocations", "label": "Self allocations", "kind": "count", "term": "memory_self_allocations", "width": 120},
  {"key": "allocation_bytes", "label": "Allocated in all", "kind": "bytes", "term": "memory_allocation_bytes", "width": 116},
  {"key": "self_allocation_bytes", "label": "Self allocated in all", "kind": "bytes", "term": "memory_self_allocation_bytes", "width": 120, "bar": true},
];

export const MEMORY_ALIVE: readonly DeclaredColumn[] = [
  {"key": "operator", "label": "Operator", "kind": "code", "term": "memory_block_operator", "width": 200},
  {"key": "parent", "label": "Called by", "kind": "code", "term": "memory_block_parent", "width": 180},
  {"key": "module", "label": "Module", "kind": "code", "term": "memory_block_module", "width": 150},
  {"key": "line", "label": "Line", "kind": "code", "term": "memory_block_line", "width": 220},
  {"key": "category", "label": "Category", "kind": "code", "term": "memory_block_category", "width": 120},
  {"key": "known_by", "label": "Known by", "kind": "code", "term": "memory_known_by", "width": 160},
  {"key": "bytes", "label": "Alive", "kind": "bytes", "term": "memory_alive", "bar": true},
  {"key": "blocks", "label": "Blocks", "kind": "count", "term": "memory_alive_count"},
  {"key": "largest_bytes", "label": "Largest", "kind": "bytes", "term": "memory_largest"},
  {"key": "oldest_ns", "label": "Oldest", "kind": "time", "term": "memory_oldest"},
];

export const MEMORY_CHANGES: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Name", "kind": "code", "width": 320},
  {"key": "delta_bytes", "label": "Change", "kind": "bytes", "term": "memory_delta", "bar": true},
  {"key": "before_bytes", "label": "Before", "kind": "bytes", "term": "memory_alive"},
  {"key": "after_bytes", "label": "After", "kind": "bytes", "term": "memory_alive"},
  {"key": "allocated_bytes", "label": "Allocated", "kind": "bytes", "term": "memory_allocated_between"},
  {"key": "freed_bytes", "label": "Released", "kind": "bytes", "term": "memory_freed_between"},
];

export const MEMORY_POOLS: readonly DeclaredColumn[] = [
  {"key": "stream", "label": "Stream", "kind": "count", "term": "memory_pool"},
  {"key": "pool", "label": "Pool", "kind": "text", "term": "memory_pool"},
  {"key": "segments", "label": "Segments", "kind": "count", "term": "memory_segment"},
  {"key": "reserved_bytes", "label": "Reserved", "kind": "bytes", "term": "memory_curve_reserved"},
  {"key": "allocated_bytes", "label": "In use", "kind": "bytes", "term": "memory_map", "bar": true},
  {"key": "rounding_bytes", "label": "Rounding", "kind": "bytes", "term": "memory_rounding"},
  {"key": "free_bytes", "label": "Free", "kind": "bytes", "term": "memory_free"},
  {"key": "largest_free_bytes", "label": "Largest free", "kind": "bytes", "term": "memory_largest_free"},
  {"key": "split_bytes", "label": "Inactive split", "kind": "bytes", "term": "memory_inactive_split"},
  {"key": "fragmentation", "label": "Fragmentation", "kind": "share", "term": "memory_fragmentation"},
  {"key": "blocks", "label": "Blocks", "kind": "count", "term": "memory_block"},
];

export const MEMORY_MAP_BLOCKS: readonly DeclaredColumn[] = [
  {"key": "bytes", "label": "Size", "kind": "bytes", "term": "memory_block_bytes"},
  {"key": "state", "label": "State", "kind": "text", "term": "memory_map"},
  {"key": "category", "label": "Category", "kind": "text", "term": "memory_block_category"},
  {"key": "line", "label": "Line", "kind": "code", "term": "memory_block_line"},
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

export const FLAME: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Frame", "kind": "code", "term": "flame_frame", "width": 320},
  {"key": "kind", "label": "Kind", "kind": "text", "term": "flame_kind", "width": 150},
  {"key": "calls", "label": "Calls", "kind": "count", "term": "flame_calls", "width": 80},
  {"key": "device_ns", "label": "Device total", "kind": "time", "term": "flame_device", "width": 120, "bar": true},
  {"key": "host_ns", "label": "Host total", "kind": "time", "term": "flame_host", "width": 120, "bar": true},
];

export const PROCESS_GROUPS: readonly DeclaredColumn[] = [
  {"key": "group", "label": "Group", "kind": "text", "term": "distributed_group", "width": 90},
  {"key": "description", "label": "Description", "kind": "text", "term": "distributed_group_description", "width": 150},
  {"key": "backend", "label": "Backend", "kind": "text", "term": "backend", "width": 110, "hidden": true},
  {"key": "ranks", "label": "Members", "kind": "text", "term": "distributed_group_ranks", "width": 130},
  {"key": "group_size", "label": "Ranks", "kind": "count", "term": "distributed_group_size", "width": 64},
  {"key": "recorded", "label": "Recorded", "kind": "count", "term": "distributed_group_recorded", "width": 80, "hidden": true},
  {"key": "reach", "label": "Reach", "kind": "text", "term": "distributed_group_reach", "width": 110},
  {"key": "nodes", "label": "Nodes", "kind": "count", "term": "distributed_group_nodes", "width": 64, "hidden": true},
  {"key": "calls", "label": "Collectives", "kind": "count", "term": "distributed_group_calls", "width": 92},
  {"key": "bytes", "label": "Message sizes", "kind": "bytes", "term": "distributed_group_bytes", "width": 104},
  {"key": "total_ns", "label": "Total", "kind": "time", "term": "distributed_total", "width": 110, "bar": true},
  {"key": "exposed_ns", "label": "Exposed", "kind": "time", "term": "distributed_exposed", "width": 84},
  {"key": "waiting_ns", "label": "Waiting", "kind": "time", "term": "distributed_waiting", "width": 84, "hidden": true},
  {"key": "transfer_ns", "label": "Transferring", "kind": "time", "term": "distributed_transfer", "width": 98, "hidden": true},
  {"key": "bus_bandwidth", "label": "Bus bandwidth", "kind": "B/s", "term": "distributed_bus_bandwidth", "width": 104},
  {"key": "link", "label": "Link", "kind": "text", "term": "distributed_link", "width": 84},
  {"key": "link_bandwidth", "label": "Link's peak", "kind": "B/s", "term": "distributed_link_peak", "width": 98},
  {"key": "link_share", "label": "Of the link", "kind": "share", "term": "distributed_link_share", "width": 84},
];

export const RANGES: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Range", "kind": "code", "term": "range_name", "width": 320},
  {"key": "kind", "label": "Recorded on", "kind": "text", "term": "range_kind", "width": 110, "hidden": true},
  {"key": "calls", "label": "Calls", "kind": "count", "term": "range_calls"},
  {"key": "host_ns", "label": "Host", "kind": "time", "term": "range_host", "bar": true},
  {"key": "device_ns", "label": "{Device}", "kind": "time", "term": "range_device", "bar": true},
  {"key": "busy_ns", "label": "{Device} busy", "kind": "time", "term": "range_busy", "bar": true},
  {"key": "device_share", "label": "{Device} share", "kind": "share", "term": "range_share"},
  {"key": "launched", "label": "Launched", "kind": "count", "term": "range_launched"},
  {"key": "path_ns", "label": "On the path", "kind": "time", "term": "range_path"},
  {"key": "path_share", "label": "Share of path", "kind": "share", "term": "range_path_share"},
];

export const PATH_RANKS: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Event", "kind": "code", "term": "path_event", "width": 340},
  {"key": "kind", "label": "Kind", "kind": "code", "term": "path_kind", "width": 180},
  {"key": "path_ns", "label": "On the path", "kind": "time", "term": "path_time", "bar": true},
  {"key": "share", "label": "Share", "kind": "share", "term": "path_share"},
  {"key": "segments", "label": "Segments", "kind": "count", "term": "path_segments"},
];

export const MATCHES: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Name", "kind": "code", "width": 420},
  {"key": "look", "label": "Kind", "kind": "count", "width": 140},
  {"key": "count", "label": "Matches", "kind": "count", "width": 90},
  {"key": "total_ns", "label": "Total", "kind": "time", "term": "total", "width": 110, "bar": true},
];

export const AREA: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Name", "kind": "code", "width": 216},
  {"key": "look", "label": "Kind", "kind": "count", "width": 124},
  {"key": "count", "label": "Count", "kind": "count", "term": "area_count", "width": 68},
  {"key": "total_ns", "label": "Total", "kind": "time", "term": "area_total", "width": 92},
  {"key": "self_ns", "label": "Self", "kind": "time", "term": "area_self", "width": 104, "bar": true},
  {"key": "share", "label": "Share", "kind": "share", "term": "area_share", "width": 76},
  {"key": "mean_ns", "label": "Mean", "kind": "time", "term": "area_mean", "width": 88},
  {"key": "shortest_ns", "label": "Min", "kind": "time", "term": "area_shortest", "width": 88},
  {"key": "longest_ns", "label": "Max", "kind": "time", "term": "area_longest", "width": 88},
];

export const WHAT_IF_KINDS: readonly DeclaredColumn[] = [
  {"key": "measured_ns", "label": "Measured", "kind": "time"},
  {"key": "predicted_ns", "label": "Predicted", "kind": "time"},
];

export const PREDICTED_STEPS: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Step", "kind": "text", "width": 160},
  {"key": "measured_ns", "label": "Measured", "kind": "time", "term": "path_time"},
  {"key": "replayed_ns", "label": "Replayed", "kind": "time", "term": "replay"},
  {"key": "predicted_ns", "label": "Predicted", "kind": "time", "term": "predicted"},
  {"key": "saved", "label": "Saved", "kind": "share", "term": "what_if"},
];

export const WHAT_IF: readonly DeclaredColumn[] = [
  {"key": "change", "label": "Change", "kind": "code"},
  {"key": "words", "label": "What changes", "kind": "text"},
  {"key": "measured_ns", "label": "Measured", "kind": "time"},
  {"key": "replayed_ns", "label": "Replayed", "kind": "time"},
  {"key": "replay_error", "label": "Replay error", "kind": "share"},
  {"key": "predicted_ns", "label": "Predicted", "kind": "time"},
  {"key": "low_ns", "label": "Low", "kind": "time"},
  {"key": "high_ns", "label": "High", "kind": "time"},
  {"key": "saved_ns", "label": "Saved", "kind": "time"},
  {"key": "saved", "label": "Saved", "kind": "share"},
];

export const FILES: readonly DeclaredColumn[] = [
  {"key": "path", "label": "File", "kind": "code", "term": "diagnosis_path", "width": 360},
  {"key": "state", "label": "State", "kind": "text", "term": "diagnosis_state", "width": 140},
  {"key": "reason", "label": "Why", "kind": "text", "term": "diagnosis_reason", "width": 440},
  {"key": "bytes", "label": "Size", "kind": "bytes", "term": "diagnosis_bytes"},
  {"key": "events", "label": "Events", "kind": "count", "term": "events"},
  {"key": "lost", "label": "Events lost", "kind": "count", "term": "diagnosis_lost"},
  {"key": "run", "label": "Run", "kind": "text", "term": "run", "width": 160, "hidden": true},
  {"key": "worker", "label": "Worker", "kind": "text", "term": "worker", "width": 160, "hidden": true},
  {"key": "span", "label": "Span", "kind": "text", "term": "span", "hidden": true},
];

export const OPERATORS: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Operator", "kind": "code", "term": "operator", "width": 232},
  {"key": "input_shapes", "label": "Input shapes", "kind": "code", "term": "input_shapes", "width": 240},
  {"key": "time_share", "label": "Share", "kind": "share", "term": "operator_share"},
  {"key": "calls", "label": "Calls", "kind": "count", "term": "calls"},
  {"key": "device_self_ns", "label": "{Device} self", "kind": "time", "term": "device_self", "bar": true},
  {"key": "device_total_ns", "label": "{Device} total", "kind": "time", "term": "device_total", "bar": true},
  {"key": "host_self_ns", "label": "Host self", "kind": "time", "term": "host_self", "bar": true},
  {"key": "host_total_ns", "label": "Host total", "kind": "time", "term": "host_total", "bar": true},
  {"key": "host_median_ns", "label": "Call median", "kind": "time", "term": "call_median"},
  {"key": "host_mean_ns", "label": "Call mean", "kind": "time", "term": "call_mean"},
  {"key": "host_deviation_ns", "label": "Call std. dev.", "kind": "time", "term": "call_deviation"},
  {"key": "host_min_ns", "label": "Call min", "kind": "time", "term": "call_min"},
  {"key": "host_max_ns", "label": "Call max", "kind": "time", "term": "call_max"},
  {"key": "matrix_eligible", "label": "{Matrix_cores} eligible", "kind": "knowledge", "term": "matrix_eligible", "width": 112},
  {"key": "matrix_self_share", "label": "{Matrix_cores} self", "kind": "share", "term": "matrix_self_share"},
  {"key": "matrix_total_share", "label": "{Matrix_cores} total", "kind": "share", "term": "matrix_total_share"},
  {"key": "attribution", "label": "Named by", "kind": "text", "term": "named_by", "width": 110, "hidden": true},
];

export const KERNELS: readonly DeclaredColumn[] = [
  {"key": "name", "label": "Kernel", "kind": "code", "term": "kernel", "width": 320},
  {"key": "operator", "label": "Operator", "kind": "code", "term": "kernel_operator", "width": 236},
  {"key": "fused", "label": "Fused operators", "kind": "code", "term": "fused", "width": 200},
  {"key": "time_share", "label": "Share", "kind": "share", "term": "kernel_share"},
  {"key": "calls", "label": "Calls", "kind": "count", "term": "calls"},
  {"key": "total_ns", "label": "Total", "kind": "time", "term": "total", "bar": true},
  {"key": "mean_ns", "label": "Mean", "kind": "time", "term": "mean"},
  {"key": "median_ns", "label": "Median", "kind": "time", "term": "median"},
  {"key": "deviation_ns", "label": "Std. dev.", "kind": "time", "term": "deviation"},
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
