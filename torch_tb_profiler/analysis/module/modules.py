"""The module tree from the paths: every module once, with what ran in it forward and backward.

::

    paths                                     modules
    ResNet_0                                  ResNet_0      forward self 2 (aten::add), total 12
      A  forward                                Linear_0    forward 10, backward 20
      │    Linear_0     forward  10
      │      AddmmBackward0      20
      Linear_0 (again, backward)
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import extreme_by, places_in, sum_by
from torch_tb_profiler.analysis.arrays.nesting import depths, nearest, subtree_totals
from torch_tb_profiler.analysis.arrays.numbering import number_tree
from torch_tb_profiler.analysis.facts.operators import DEEP
from torch_tb_profiler.analysis.figures.selection import Selection, mask, sums_over
from torch_tb_profiler.analysis.module.named_modules import MOST_LEVELS
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathKind

DIRECTIONS = ("forward", "backward")
_COLUMNS = ("calls", "host_self", "runtime", "device_self", "allocated", "increase")


class ModuleTree(msgspec.Struct, frozen=True):
    """The modules of a trace, arrays of shape (modules,); parents before children.

    parent: row of the enclosing module, −1 none.
    name: insight string.
    event: the longest forward call, −1 unknown.
    of_path: the innermost module at or around every path, −1 outside modules; shape (paths,).
    """

    parent: Ints
    name: Ints
    event: Ints
    of_path: Ints


class ModuleSums(msgspec.Struct, frozen=True):
    """Sums over some steps.

    own, total: by (``forward`` or ``backward``, ``host`` or ``device``): int64 ns of shape
        (modules,), without and with the modules beneath.
    outside: by ``host`` or ``device``, ns outside modules.
    launched_by_none: ns of device work that no path launched.
    """

    own: dict[tuple[str, str], Ints]
    total: dict[tuple[str, str], Ints]
    calls: Ints
    operators: Ints
    allocated: Ints
    increase: Ints
    outside: dict[str, int]
    launched_by_none: int


def module_tree(insight: Insight) -> ModuleTree:
    """The module tree: equal module paths are merged, forward and backward."""
    paths = insight["paths"]
    is_module = paths["kind"] == PathKind.MODULE
    inner = nearest(paths["parent"], is_module)
    path = np.flatnonzero(is_module)
    position = places_in(paths.n, path)
    outer = paths["parent"][path]
    around = np.append(inner, -1)[outer]
    parent = np.append(position, -1)[around]
    # No module is deeper than its path.
    numbered = number_tree(parent, paths["name"][path].astype(np.int64), DEEP + MOST_LEVELS + 1)
    n = len(numbered.parent)
    first = extreme_by(np.minimum, numbered.path, n, paths["first"][path])
    event = np.full(n, -1, np.int64)
    forward = paths["backward"][path] == 0
    event[numbered.path[~forward]] = paths["event"][path[~forward]]
    event[numbered.path[forward]] = paths["event"][path[forward]]
    order = np.lexsort((first, depths(numbered.parent)))
    rank = places_in(n, order)
    above = numbered.parent[order]
    module = np.append(rank[numbered.path], -1)[np.append(position, -1)[inner]]
    parent = np.where(above >= 0, rank[above], -1)
    return ModuleTree(parent, numbered.code[order], event[order], module)


def module_sums(insight: Insight, tree: ModuleTree, selection: Selection) -> ModuleSums:
    """What the modules cost in the selected steps."""
    paths = insight["paths"]
    per_path, launched_by_none = path_sums(insight, selection)
    inside, n = tree.of_path >= 0, len(tree.parent)
    module = tree.of_path[inside]
    times = {"host": per_path["host_self"] + per_path["runtime"], "device": per_path["device_self"]}
    own = {
        (direction, key): sum_by(
            module, n, np.where(paths["backward"][inside] == number, values[inside], 0)
        )
        for number, direction in enumerate(DIRECTIONS)
        for key, values in times.items()
    }
    forward = paths["backward"] == 0
    is_module = forward & (paths["kind"] == PathKind.MODULE)
    around = paths["parent"]
    beneath_operator = (around >= 0) & (paths["kind"][around] == PathKind.OPERATOR)
    operators = forward & inside & (paths["kind"] == PathKind.OPERATOR) & ~beneath_operator
    return ModuleSums(
        own,
        {key: subtree_totals(tree.parent, values) for key, values in own.items()},
        sum_by(tree.of_path[is_module], n, per_path["calls"][is_module]),
        sum_by(tree.of_path[operators], n, per_path["calls"][operators]),
        sum_by(module, n, per_path["allocated"][inside]),
        sum_by(module, n, per_path["increase"][inside]),
        {key: int(values[~inside].sum()) for key, values in times.items()},
        launched_by_none,
    )


def largest(tree: ModuleTree, sums: ModuleSums, most: int) -> ModuleTree:
    """The ``most`` modules with the most time; in place of the others beneath one of them there is one
    module without a name (−1) and event, so that all sums stay as they are.

    ::

        Net                      Net
          Linear_0  90             Linear_0  90
          Linear_1   2    ──▶      (others)   5
          ReLU_0     3
    """
    n = len(tree.parent)
    if n <= most:
        return tree
    # A module has at least the time of each one in it, and comes before it: what is kept is a tree.
    time = np.sum(list(sums.total.values()), axis=0)
    kept = np.sort(np.argsort(-time, kind="stable")[:most])
    row = places_in(n + 1, kept)
    around = nearest(tree.parent, row[:n] >= 0)
    cut = row[:n] < 0
    outer, other = np.unique(row[around[cut]], return_inverse=True)
    row[:n][cut] = most + other
    parent = np.concatenate((row[tree.parent[kept]], outer))
    none = np.full(len(outer), -1, np.int64)
    return ModuleTree(
        parent,
        np.concatenate((tree.name[kept], none)),
        np.concatenate((tree.event[kept], none)),
        row[tree.of_path],
    )


def path_sums(
    insight: Insight, selection: Selection, columns: Sequence[str] = _COLUMNS
) -> tuple[dict[str, Ints], int]:
    """``(sums, rest)`` of the selected steps: per column (paths,), and ns that no path launched."""
    table, sums = insight["path_steps"], insight["path_sums"]
    # Device work that no path launched has one row per step.
    none = np.flatnonzero(table["path"] < 0)
    rest = int(table["device_self"][none[mask(selection, table["step"][none])]].sum())
    return sums_over(selection, table, "path", {key: sums[key] for key in columns}), rest
