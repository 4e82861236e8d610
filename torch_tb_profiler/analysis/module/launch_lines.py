"""Python lines of device work that no operator launched: captured graphs, kernels of Triton and
others that are launched from Python.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.stacks import frames_needed
from torch_tb_profiler.analysis.module.frames import MOST_FRAMES
from torch_tb_profiler.analysis.module.numbering import PathLayout, number_paths
from torch_tb_profiler.analysis.module.sums import LaunchedWork
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role


def launch_lines(trace: Trace, facts: Facts, work: LaunchedWork) -> tuple[Table, Table]:
    """``(lines, line_steps)``: the stacks of the facts know the lines of operators only."""
    spans, links = trace["spans"], facts["span_links"]
    is_frame = spans["role"] == Role.PYTHON
    outside = np.flatnonzero((links["operator"][work.row] < 0) & (links["launch"][work.row] >= 0))
    if not len(outside) or not is_frame.any():
        return schema.LINES.empty(), schema.LINE_STEPS.empty()
    frame = nearest(links["parent"], is_frame)[links["launch"][work.row[outside]]].astype(np.int64)
    outside, frame = outside[frame >= 0], frame[frame >= 0]
    used, caller = frames_needed(links["parent"].astype(np.int64), is_frame, frame)
    nothing = np.zeros(0, np.int64)
    laid = PathLayout(
        caller,
        spans["name"][used].astype(np.int64),
        np.full(len(used), -1),
        np.zeros(len(used), np.bool_),
    )
    tree = number_paths(laid, nothing, nothing, deep=MOST_FRAMES, most=len(used))
    line, step = tree.path[np.searchsorted(used, frame)], work.step[outside]
    first, of = group_rows((step, line))
    n = len(first)
    return schema.LINES.build(parent=tree.parent, frame=tree.code), schema.LINE_STEPS.build(
        line=line[first],
        step=step[first],
        device=sum_by(of, n, spans["dur"][work.row[outside]]),
        launched=np.bincount(of, minlength=n),
    )
