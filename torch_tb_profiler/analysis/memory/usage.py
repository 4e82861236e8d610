"""What each operator or module allocated and released in a time window, self and total.

Totals count only the outermost call of a name, so that a recursion counts once.
"""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.arrays.nesting import climb, subtree_totals
from torch_tb_profiler.analysis.memory.origins import outermost
from torch_tb_profiler.analysis.memory.window import Window, records_in
from torch_tb_profiler.analysis.module.path_modules import modules_of_paths
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

MemoryGroup = Literal["operator", "module"]
_SUMS = ("increase", "allocations", "allocated")


class Usage(msgspec.Struct, frozen=True):
    """Names with records in the window, self or total, by self increase descending; int64 of shape
    (names,).

    name: insight string.
    increase: bytes allocated − released.
    allocations, allocated: number and bytes of allocations.
    outside, outside_increase: bytes allocated, and increase, by no known operator or module.

    ``self_``: without the calls beneath.
    """

    name: Ints
    increase: Ints
    self_increase: Ints
    allocations: Ints
    self_allocations: Ints
    allocated: Ints
    self_allocated: Ints
    outside: int
    outside_increase: int


def usage(insight: Insight, device: int, window: Window | None, group: MemoryGroup) -> Usage:
    """Sums over the records of a device in a window; None: all."""
    curve = insight["memory_curve"]
    rows = records_in(insight, device, window)
    size = curve["bytes"][rows]
    if group == "operator":
        nodes = insight["memory_nodes"]
        owner, parent, name = curve["node"][rows], nodes["parent"], nodes["name"]
        first = np.flatnonzero(nodes["outermost"])
    else:
        # Paths that are not modules are empty children of their module.
        paths, module = insight["paths"], modules_of_paths(insight["paths"])
        owner, parent, name = module[curve["path"][rows]], module[paths["parent"]], paths["name"]
        first = np.flatnonzero(outermost(parent, name))
    n, texts, known, grows = len(parent), len(insight.strings), owner >= 0, size > 0
    growing = owner[known & grows]
    own = {
        "increase": sum_by(owner[known], n, size[known]),
        "allocations": np.bincount(growing, minlength=n),
        "allocated": sum_by(growing, n, size[known & grows]),
    }
    totals = {key: subtree_totals(parent, column) for key, column in own.items()}
    by_name = {key: sum_by(name[first], texts, column[first]) for key, column in totals.items()}
    self_by_name = {key: sum_by(name, texts, column) for key, column in own.items()}
    used = np.flatnonzero((by_name["allocations"] > 0) | (by_name["increase"] != 0))
    used = used[np.lexsort((-by_name["allocated"][used], -self_by_name["increase"][used]))]
    columns = {key: by_name[key][used] for key in _SUMS} | {
        f"self_{key}": self_by_name[key][used] for key in _SUMS
    }
    outside, outside_increase = int(size[~known & grows].sum()), int(size[~known].sum())
    return Usage(used, **columns, outside=outside, outside_increase=outside_increase)


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
