"""The calls around allocations as forests."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.module.path_modules import modules_of_paths
from torch_tb_profiler.store.columns import Array, Mask
from torch_tb_profiler.store.insight import Insight

DEEPEST = 256
"""Depth limit of a forest; only hostile traces nest deeper."""


class Forest(msgspec.Struct, frozen=True):
    """Arrays of shape (nodes,).

    parent: position; −1 none.
    name: insight string.
    outermost: no ancestor has its name.
    """

    parent: Array
    name: Array
    outermost: Mask


def operator_forest(insight: Insight) -> Forest:
    """The operator calls that allocated or released, and the operators around them."""
    nodes = insight["memory_nodes"]
    return Forest(nodes["parent"], nodes["name"], nodes["outermost"] == 1)


def module_forest(insight: Insight) -> Forest:
    """All paths; those that are not modules are empty children of their module."""
    paths = insight["paths"]
    parent, name = modules_of_paths(paths)[paths["parent"]], paths["name"]
    return Forest(parent, name, outermost(parent, name))


def outermost(parent: Array, name: Array) -> Mask:
    """Which nodes have no ancestor (of the nearest ``DEEPEST``) of their own name, bool."""
    is_outermost = np.ones(len(parent), np.bool_)
    active = np.flatnonzero(parent >= 0)
    above = parent[active]
    for _ in range(DEEPEST):
        if not len(active):
            break
        same = name[above] == name[active]
        is_outermost[active[same]] = False
        active, above = active[~same], parent[above[~same]]
        active, above = active[above >= 0], above[above >= 0]
    return is_outermost
