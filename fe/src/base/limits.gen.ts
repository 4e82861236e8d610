// Generated from the routes of torch_tb_profiler/web by `python -m tests.generate --write`. Do not edit.

export const LIMITS = {
  api_calls: { short_ns: 1000000000, queue_limit: 1000000 },
  "api_calls/sequences": { longest: 32 },
  "memory/curve": { device: 65536, n: 1024 },
  "memory/blocks": { device: 65536 },
  "memory/statistics": { device: 65536 },
  "memory/alive": { device: 65536 },
  "memory/map": { device: 65536, n: 12288 },
  "memory/changes": { device: 65536 },
  "trace/tiles": { k: 64, cells: 16384 },
  "trace/search/heat": { n: 4096 },
  "trace/arrows": { cap: 5000 },
  "trace/counters": { series: 64, n: 4096 },
  "trace/path": { n: 8192, cap: 5000, arrows: 2000 },
  "trace/alignment": { ranks: 65535 },
  "trace/collective": { ranks: 65535 },
  sql: { rows: 10000 },
} as const;
