"""How often operators and modules were called in a time window."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.arrays.nesting import climb
from torch_tb_profiler.analysis.memory.usage import MemoryGroup
from torch_tb_profiler.analysis.memory.window import Window
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role


def calls_in(
    trace: Trace, facts: Facts, insight: Insight, window: Window | None, group: MemoryGroup
) -> Ints | None:
    """Calls of every name that overlap the window, whether or not they allocated; int64 of shape
    (insight strings,).

    Only operators in ``memory_nodes`` count. None if unknown: in a window for modules without calls
    of their own in the trace (``Module Hierarchy`` arguments).
    """
    texts = len(insight.strings)
    if group == "operator":
        nodes = insight["memory_nodes"]
        own = np.full(len(facts.strings) + 1, texts)
        own[trace["spans"]["name"][nodes["event"]]] = nodes["name"]
        if window is None:
            steps = insight["name_steps"]
            return sum_by(own[steps["name"]], texts + 1, steps["calls"])[:texts]
        row = _rows(trace, facts, insight, window, PathKind.OPERATOR)
        return np.asarray(
            np.bincount(own[trace["spans"]["name"][row]], minlength=texts + 1)[:texts], np.int64
        )
    paths = insight["paths"]
    if window is None:
        module = paths["kind"] == PathKind.MODULE
        return sum_by(paths["name"][module], texts, insight["path_sums"]["calls"][module])
    if insight.about["module_source"] not in ("python", "compiled", ""):
        return None
    row = _rows(trace, facts, insight, window, PathKind.MODULE)
    return np.asarray(
        np.bincount(paths["name"][insight["span_paths"]["path"][row]], minlength=texts), np.int64
    )


def _rows(trace: Trace, facts: Facts, insight: Insight, window: Window, kind: PathKind) -> Ints:
    """Rows of operator or module calls that overlap a window, or lie in it without a length."""
    spans = trace["spans"]
    path = insight["span_paths"]["path"]
    parent = facts["span_links"]["parent"]
    # Compiled regions and graphs, which are modules, are recorded as operators or annotations.
    roles: tuple[Role, ...] = (Role.OPERATOR,)
    if kind == PathKind.MODULE:
        roles = (Role.PYTHON, Role.OPERATOR, Role.ANNOTATION)
    before = int(np.searchsorted(spans["start"], window[1]))
    row = np.flatnonzero(np.isin(spans["role"][:before], roles))
    start, dur = spans["start"][row], spans["dur"][row]
    row = row[(start + dur > window[0]) | ((dur == 0) & (start == window[0]))]
    row = row[np.append(insight["paths"]["kind"] == kind, False)[path[row]]]
    # Frames within a module, and merged operators, have the path of what is around them.
    around = climb(parent, parent[row].astype(np.int64), path >= 0)
    return np.asarray(row[path[row] != np.where(around >= 0, path[around], -1)])
