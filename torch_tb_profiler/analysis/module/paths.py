"""Paths of calls."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.strings import StringBuilder


def build_paths(trace: Trace, facts: Facts, tables: dict[str, Table], texts: StringBuilder) -> tuple[dict[str, Table], dict[str, object]]:
    """The tables ``paths``, ``path_steps`` and ``span_paths``."""
    spans = schema.SPAN_PATHS.build(path=np.full(trace["spans"].n, -1))
    return {"paths": schema.PATHS.empty(), "path_steps": schema.PATH_STEPS.empty(), "span_paths": spans}, {"module_source": ""}
