"""Device work by what launched it, and runtime calls by name: counted once per trace, so that a comparison reads no events."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.attribution import device_rows
from torch_tb_profiler.analysis.grouping import group_rows, largest_by, sum_by
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringBuilder


def build_work(trace: Trace, facts: Facts, tables: dict[str, Table], texts: StringBuilder) -> tuple[dict[str, Table], dict[str, object]]:
    """The tables ``work_steps`` and ``runtime_steps``; ``tables`` holds ``span_paths``."""
    spans, step = trace["spans"], facts["span_links"]["step"]
    row = device_rows(trace)
    work = _counted(trace, row, {"step": step[row], "path": tables["span_paths"]["path"][row], "name": spans["name"][row]})
    row = np.flatnonzero(spans["role"] == Role.RUNTIME)
    calls = _counted(trace, row, {"step": step[row], "name": spans["name"][row]})
    return {"work_steps": schema.WORK_STEPS.build(**work), "runtime_steps": schema.RUNTIME_STEPS.build(**calls)}, {}


def _counted(trace: Trace, row: Ints, keys: dict[str, Array]) -> dict[str, Array]:
    """Number, total and longest of the given spans for every distinct tuple of the keys."""
    dur = trace["spans"]["dur"][row]
    first, of = group_rows(tuple(keys.values()))
    n = len(first)
    return {
        **{key: values[first] for key, values in keys.items()},
        "calls": np.bincount(of, minlength=n), "total": sum_by(of, n, dur), "event": row[largest_by(of, n, dur)],
    }
