// Generated from the routes of torch_tb_profiler/web by `python -m tests.generate --write`. Do not edit.

export const SECTIONS = {
  overview: "Overview",
  diff: "Diff",
  trace: "Trace",
  critical_path: "Critical Path",
  steps: "Steps",
  distributed: "Distributed",
  iterations: "Iterations",
  operator: "Operator",
  module: "Module",
  lines: "Lines",
  api_calls: "API Calls",
  efficiency: "Operator and shape",
  kernel: "Kernel",
  counters: "Counters",
  memory: "Memory",
  sql: "SQL",
  diagnosis: "Files",
} as const;
