"""Which calls are around which, and sums over a call and everything beneath it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import depths
from torch_tb_profiler.analysis.module.path_modules import modules_of_paths
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.insight import Insight

DEEPEST = 256
"""No call of a forest has as many around it; nothing real nests deeper, a hostile trace may."""


@dataclass(frozen=True)
class Forest:
    """Arrays of shape (nodes,). ``parent``: position; −1 none. ``name``: number of an own text.
    ``outermost``: nothing of its name is around it.

    ``levels``: positions by depth, the roots first.
    """

    parent: Array
    name: Array
    outermost: Mask
    levels: tuple[Ints | slice, ...]


def operator_forest(insight: Insight) -> Forest:
    """The calls of operators that allocated or released, and the operators around them."""
    nodes = insight["memory_nodes"]
    depth = nodes["depth"]
    bounds = np.searchsorted(
        depth, np.arange(int(depth.max(initial=-1)) + 2, dtype=depth.dtype)
    ).tolist()
    return Forest(
        nodes["parent"],
        nodes["name"],
        nodes["outermost"] == 1,
        tuple(slice(low, high) for low, high in pairwise(bounds)),
    )


def module_forest(insight: Insight) -> Forest:
    """All paths, of which those that are no module hang in the module around them and hold nothing."""
    paths = insight["paths"]
    parent = modules_of_paths(insight["paths"])[paths["parent"]]
    depth = depths(parent)
    order = np.argsort(depth, kind="stable")
    bounds = np.searchsorted(depth[order], np.arange(int(depth.max(initial=-1)) + 2)).tolist()
    return Forest(
        parent,
        paths["name"],
        outermost(parent, paths["name"]),
        tuple(order[low:high] for low, high in pairwise(bounds)),
    )


def outermost(parent: Array, name: Array) -> Mask:
    """Which nodes have none of their own name around them (among the nearest ``DEEPEST``), bool of
    shape (nodes,).
    """
    alone = np.ones(len(parent), np.bool_)
    active = np.flatnonzero(parent >= 0)
    above = parent[active]
    for _ in range(DEEPEST):
        if not len(active):
            break
        same = name[above] == name[active]
        alone[active[same]] = False
        active, above = active[~same], parent[above[~same]]
        active, above = active[above >= 0], above[above >= 0]
    return alone


def beneath(trees: Forest, own: Ints) -> Ints:
    """Sums of a value over every node and all beneath it."""
    total: Ints = own.copy()
    for level in reversed(trees.levels[1:]):
        np.add.at(total, trees.parent[level], total[level])
    return total
