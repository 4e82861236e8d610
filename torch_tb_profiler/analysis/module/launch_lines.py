"""Python lines of device work without an operator: captured graphs, Triton and other kernels."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.replayed import captured_operators
from torch_tb_profiler.analysis.facts.stacks import frames_needed
from torch_tb_profiler.analysis.module.frames import MOST_FRAMES
from torch_tb_profiler.analysis.module.numbering import number_tree
from torch_tb_profiler.analysis.module.sums import LaunchedWork
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role


def launch_lines(trace: Trace, facts: Facts, work: LaunchedWork) -> tuple[Table, Table]:
    """The tables ``lines`` and ``line_steps``, which complete the facts' operator stacks."""
    spans, links = trace["spans"], facts["span_links"]
    is_frame = spans["role"] == Role.PYTHON
    unnamed = (links["operator"][work.row] < 0) & (captured_operators(trace, facts, work.row) < 0)
    outside = np.flatnonzero(unnamed & (links["launch"][work.row] >= 0))
    if not len(outside) or not is_frame.any():
        return schema.LINES.empty(), schema.LINE_STEPS.empty()
    frame = nearest(links["parent"], is_frame)[links["launch"][work.row[outside]]].astype(np.int64)
    outside, frame = outside[frame >= 0], frame[frame >= 0]
    used, caller = frames_needed(links["parent"].astype(np.int64), is_frame, frame)
    tree = number_tree(caller, spans["name"][used].astype(np.int64), MOST_FRAMES)
    line, step = tree.path[np.searchsorted(used, frame)], work.step[outside]
    first, group = group_rows((step, line))
    n = len(first)
    return schema.LINES.build(parent=tree.parent, frame=tree.code), schema.LINE_STEPS.build(
        line=line[first],
        step=step[first],
        device=sum_by(group, n, spans["dur"][work.row[outside]]),
        launched=np.bincount(group, minlength=n),
    )
