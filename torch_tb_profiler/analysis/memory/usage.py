"""How much each operator or module allocated and released in a window of time, by itself and with everything beneath it.

A total counts what lies beneath the outermost of calls of one name only, so that a recursion counts once.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.grouping import sum_by
from torch_tb_profiler.analysis.memory.places import modules_of_paths
from torch_tb_profiler.analysis.memory.window import Window, records_in
from torch_tb_profiler.analysis.nesting import depths
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.insight import Insight

MemoryGroup = Literal["operator", "module"]
DEEPEST = 256
"""So many calls around one are looked at for its own name; nothing real recurses deeper, a hostile trace may."""
_SUMS = ("increase", "allocations", "allocated")


@dataclass(frozen=True)
class Usage:
    """Names with records in the window, by themselves or beneath, by self increase, the largest first; int64 of shape (names,).

    name: number of an own text.
    increase, allocated: bytes, of allocations less releases, and of allocations; allocations: their number. ``self_``: without the calls beneath.
    outside, outside_increase: bytes allocated, and allocated less released, by no known operator or module.
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


@dataclass(frozen=True)
class Forest:
    """What encloses what, arrays of shape (nodes,). ``parent``: position; −1 none. ``name``: number of an own text.

    ``outermost``: nothing of its name is around it. ``levels``: positions by depth, the roots first.
    """

    parent: Ints
    name: Ints
    outermost: Mask
    levels: tuple[Ints, ...]


def usage(insight: Insight, device: int, window: Window | None, group: MemoryGroup) -> Usage:
    """Sums over the records of a device in a window; None: all."""
    curve = insight["memory_curve"]
    rows = records_in(insight, device, window)
    size = curve["bytes"][rows]
    owner = curve["node"][rows] if group == "operator" else modules_of_paths(insight)[curve["path"][rows]]
    trees = operator_forest(insight) if group == "operator" else module_forest(insight)
    n, known = len(trees.parent), owner >= 0
    values = {"increase": size, "allocations": size > 0, "allocated": np.maximum(size, 0), "records": np.ones(len(size), np.int64)}
    own = {key: sum_by(owner[known], n, column[known]) for key, column in values.items()}
    totals = {key: _beneath(trees, column) for key, column in own.items()}
    texts = len(insight.strings)
    outermost = np.flatnonzero(trees.outermost)
    by_name = {key: sum_by(trees.name[outermost], texts, column[outermost]) for key, column in totals.items()}
    self_by_name = {key: sum_by(trees.name, texts, column) for key, column in own.items()}
    used = np.flatnonzero(by_name["records"])
    used = used[np.lexsort((-by_name["allocated"][used], -self_by_name["increase"][used]))]
    columns = {key: by_name[key][used] for key in _SUMS} | {f"self_{key}": self_by_name[key][used] for key in _SUMS}
    return Usage(used, **columns, outside=int(values["allocated"][~known].sum()), outside_increase=int(size[~known].sum()))


def operator_forest(insight: Insight) -> Forest:
    """The calls of operators that allocated or released, and the operators around them."""
    nodes = insight["memory_nodes"]
    return _forest(nodes["parent"], nodes["name"])


def module_forest(insight: Insight) -> Forest:
    """All paths, of which those that are no module hang in the module around them and hold nothing."""
    paths = insight["paths"]
    above = modules_of_paths(insight)[paths["parent"]]
    return _forest(above, paths["name"])


def _forest(parent: Array, name: Array) -> Forest:
    parent = parent.astype(np.int64)
    depth = depths(parent)
    order = np.argsort(depth, kind="stable")
    bounds = np.searchsorted(depth[order], np.arange(int(depth.max(initial=-1)) + 2))
    nested = np.zeros(len(parent), np.bool_)
    above = parent.copy()
    active = np.flatnonzero(above >= 0)
    for _ in range(DEEPEST):
        if not len(active):
            break
        same = name[above[active]] == name[active]
        nested[active[same]] = True
        active = active[~same]
        above[active] = parent[above[active]]
        active = active[above[active] >= 0]
    return Forest(parent, name.astype(np.int64), ~nested, tuple(order[low:high] for low, high in pairwise(bounds.tolist())))


def _beneath(trees: Forest, own: Ints) -> Ints:
    """Sums over every node and all beneath it."""
    total: Ints = own.copy()
    for level in reversed(trees.levels[1:]):
        held = level[total[level] != 0]
        np.add.at(total, trees.parent[held], total[held])
    return total
