"""The table ``span_links``: what encloses each span, what launched it, its operator and its step."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import picked, scatter
from torch_tb_profiler.analysis.arrays.intervals import window_at
from torch_tb_profiler.analysis.arrays.nesting import nest_rows
from torch_tb_profiler.analysis.facts.calltree import CallTree, is_call
from torch_tb_profiler.analysis.facts.device_causes import DeviceCauses
from torch_tb_profiler.analysis.facts.steps import StepWindows
from torch_tb_profiler.store import fact_schema
from torch_tb_profiler.store.columns import Array, Mask, Table
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role


def host_mask(trace: Trace) -> Mask:
    """Which rows of spans ran on a host thread."""
    role = trace["spans"]["role"]
    return np.asarray(is_call(role) | (role == Role.PYTHON))


def enclosing_spans(trace: Trace) -> Array:
    """Per row of spans the innermost enclosing host span or frame; −1 none. int32."""
    spans = trace["spans"]
    row = np.flatnonzero(host_mask(trace)).astype(np.int32)
    parent = scatter(spans.n, row, picked(row, nest_rows(spans, row).parent), -1, np.int32)
    return parent


def span_links(
    trace: Trace, tree: CallTree, caused: DeviceCauses, windows: StepWindows, parent: Array
) -> Table:
    """The table ``span_links``; ``parent`` comes from ``enclosing_spans``."""
    spans = trace["spans"]
    launch, operator = np.full(spans.n, -1, np.int32), np.full(spans.n, -1, np.int32)
    launch[caused.row] = caused.launch
    known = caused.operator >= 0
    operator[caused.row[known]] = tree.row[caused.operator[known]]
    call = np.flatnonzero((spans["role"][tree.row] == Role.RUNTIME) & (tree.operator >= 0))
    operator[tree.row[call]] = tree.row[tree.operator[call]]
    step = window_at(windows.host_start, windows.host_end, spans["start"])
    step[caused.row] = windows.device_step
    return fact_schema.SPAN_LINKS.build(parent=parent, launch=launch, operator=operator, step=step)
