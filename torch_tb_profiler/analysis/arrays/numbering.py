"""Numbers paths: calls with the same names above them share one path.

Works level by level from the roots, which is linear in the calls::

    level 0   A  A  B        (-1, A) → 0   (-1, B) → 1
    level 1   c  c  c        ( 0, c) → 2   ( 1, c) → 3
"""

from __future__ import annotations

from itertools import pairwise

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, stable_order
from torch_tb_profiler.analysis.arrays.nesting import depths, nearest
from torch_tb_profiler.store.columns import Array, Ints, Mask

MOST_PATHS = 200_000
"""Limit for programs that give every call a new name."""
DEEPEST = (1 << 16) - 1
"""Levels of a tree."""
REST = -1
"""Code of the path for the outermost calls beyond the limit."""


class PathLayout(msgspec.Struct, frozen=True):
    """Calls to be numbered; arrays of shape (calls,).

    parent: position of the enclosing call, which comes first; −1 none.
    code: number of (kind, name, backward), ≥ 0.
    given: an existing path: of a ``settled`` call its own, of an outermost one that above it; −1
        none.
    settled: whether ``given`` is its own path.
    """

    parent: Array
    code: Ints
    given: Array
    settled: Mask


class NumberedPaths(msgspec.Struct, frozen=True):
    """The paths, parents before children.

    parent, code: of every path.
    path: of every call.
    pooled: whether a call is beyond the limits, so that it belongs to an enclosing call's path.
    """

    parent: Ints
    code: Ints
    path: Array
    pooled: Mask


def number_tree(parent: Array, code: Ints, deep: int = DEEPEST) -> NumberedPaths:
    """Merge the siblings of equal code of a tree with at most ``deep`` levels."""
    n, nothing = len(parent), np.zeros(0, np.int64)
    layout = PathLayout(parent, code, np.full(n, -1, np.int32), np.zeros(n, np.bool_))
    return number_paths(layout, nothing, nothing, deep=deep, most=n)


def number_paths(
    layout: PathLayout, parent: Ints, code: Ints, deep: int = DEEPEST, most: int = MOST_PATHS
) -> NumberedPaths:
    """Number the paths of calls.

    parent, code: the existing paths.
    deep: levels, at most ``DEEPEST``; deeper calls belong to the path of the last level.
    most: number of paths; calls of further ones belong to the path above.
    """
    numbering = _Numbering(parent, code, most)
    depth = depths(layout.parent)
    shallow = depth < deep
    pooled = ~shallow & ~layout.settled
    path = np.where(layout.settled, layout.given, -1).astype(np.int32)
    order = np.flatnonzero(shallow & ~layout.settled)
    order = order[stable_order(depth[order])]
    depth = depth[order]
    bounds = np.searchsorted(depth, np.arange(int(depth.max(initial=-1)) + 2))
    for begin, end in pairwise(bounds.tolist()):
        if begin == end:
            continue
        level = order[begin:end]
        outer = layout.parent[level]
        above = np.where(outer >= 0, path[outer], layout.given[level])
        path[level], pooled[level] = numbering.add(above, layout.code[level])
    lost = np.flatnonzero(~shallow & ~layout.settled)
    if len(lost):
        path[lost] = path[nearest(layout.parent, shallow | layout.settled)[lost]]
    return NumberedPaths(
        np.concatenate(numbering.parent), np.concatenate(numbering.code), path, pooled
    )


class _Numbering:
    """The paths so far; ``parent`` and ``code`` are lists of arrays to be joined."""

    def __init__(self, parent: Ints, code: Ints, most: int) -> None:
        self.parent, self.code = [parent], [code]
        self._count, self._most = len(parent), most
        self._rest = -1

    def add(self, above: Array, code: Ints) -> tuple[Ints, Mask]:
        """``(path, pooled)`` of calls beneath the paths ``above``."""
        first, group = group_rows((above, code))
        is_kept = np.ones(len(first), np.bool_)
        room = max(self._most - self._count, 0)
        if len(first) > room:
            is_kept[np.argsort(-np.bincount(group, minlength=len(first)), kind="stable")[room:]] = (
                False
            )
        number = np.where(is_kept, self._count + np.cumsum(is_kept) - 1, -1)
        self._append(above[first[is_kept]], code[first[is_kept]])
        path = number[group]
        pooled = path < 0
        if pooled.any():
            path = np.where(
                pooled,
                np.where(above >= 0, above, self._rest_path(bool((above[pooled] < 0).any()))),
                path,
            )
        return path, pooled

    def _append(self, parent: Array, code: Array) -> None:
        self.parent.append(parent.astype(np.int64))
        self.code.append(code.astype(np.int64))
        self._count += len(parent)

    def _rest_path(self, needed: bool) -> int:
        if needed and self._rest < 0:
            self._rest = self._count
            self._append(np.full(1, -1), np.full(1, REST))
        return self._rest
