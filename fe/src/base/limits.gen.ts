// Generated from the routes of torch_tb_profiler/web by `python -m tests.generate --write`. Do not edit.

export const api_calls = { short_ns: 1000000000 } as const;
export const memory_curve = { device: 65536, n: 1024 } as const;
export const memory_blocks = { device: 65536 } as const;
export const memory_statistics = { device: 65536 } as const;
export const memory_alive = { device: 65536 } as const;
export const memory_source = { device: 65536 } as const;
export const memory_map = { device: 65536, n: 12288 } as const;
export const memory_changes = { device: 65536 } as const;
export const diff_axis = { n: 8192 } as const;
export const trace_tiles = { k: 64, cells: 16384 } as const;
export const trace_search_heat = { n: 4096 } as const;
export const trace_arrows = { cap: 5000 } as const;
export const trace_counters = { series: 64, n: 4096 } as const;
export const trace_path = { n: 8192, cap: 5000, arrows: 2000 } as const;
export const trace_alignment = { ranks: 65535 } as const;
export const trace_collective = { ranks: 65535 } as const;
export const sql = { rows: 10000 } as const;
