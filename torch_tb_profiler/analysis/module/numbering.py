"""Calls with parents → paths: one number for all calls with the same names above them.

Level by level from the outermost calls, so that the work is linear in the calls and no path is
compared as a whole::

    level 0   A  A  B        (-1, A) → 0   (-1, B) → 1
    level 1   c  c  c        ( 0, c) → 2   ( 1, c) → 3
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.arrays.nesting import depths, nearest
from torch_tb_profiler.analysis.facts.operators import DEEP
from torch_tb_profiler.store.columns import Array, Ints, Mask

MOST_PATHS = 200_000
"""Distinct paths; programs that make up a name for every call would have millions."""
REST = -1
"""Code of the path that holds the outermost calls beyond the limit."""


@dataclass(frozen=True)
class PathLayout:
    """Where calls are laid; arrays of shape (calls,).

    parent: position of the call above it, which stands before it; −1 none.
    code: number of (kind, name, backward), ≥ 0.
    given: row of the paths that there are before: of a call with ``settled`` its own, of an
        outermost one that above it; −1 none.
    settled: whether ``given`` is its own path.
    """

    parent: Array
    code: Ints
    given: Array
    settled: Mask


@dataclass(frozen=True)
class NumberedPaths:
    """``parent`` and ``code`` of every path, parents before children. Of every call ``path``, and
    ``pooled``: beyond the limits, so that it belongs
    to the path of a call around it."""

    parent: Ints
    code: Ints
    path: Array
    pooled: Mask


def number_paths(
    laid: PathLayout, parent: Ints, code: Ints, deep: int = DEEP, most: int = MOST_PATHS
) -> NumberedPaths:
    """Number the paths of calls.

    Args:
        parent, code: the paths that there are before.
        deep: levels, less than 65,536; calls beneath belong to the path of the last one.
        most: number of paths beyond which new ones are not made: their calls belong to the path
            above.
    """
    numbering = _Numbering(parent, code, most)
    depth = depths(laid.parent)
    shallow = depth < deep
    pooled = ~shallow & ~laid.settled
    path = np.where(laid.settled, laid.given, -1).astype(np.int32)
    order = np.flatnonzero(shallow & ~laid.settled)
    # numpy sorts 16-bit integers stably in linear time.
    order = order[np.argsort(depth[order].astype(np.uint16), kind="stable")]
    bounds = np.searchsorted(depth[order], np.arange(deep + 1))
    for begin, end in pairwise(bounds.tolist()):
        if begin == end:
            continue
        level = order[begin:end]
        outer = laid.parent[level]
        above = np.where(outer >= 0, path[outer], laid.given[level])
        path[level], pooled[level] = numbering.add(above, laid.code[level])
    lost = np.flatnonzero(~shallow & ~laid.settled)
    if len(lost):
        path[lost] = path[nearest(laid.parent, shallow | laid.settled)[lost]]
    return NumberedPaths(
        np.concatenate(numbering.parent), np.concatenate(numbering.code), path, pooled
    )


class _Numbering:
    """Paths so far; ``parent`` and ``code`` are lists of arrays to be joined."""

    def __init__(self, parent: Ints, code: Ints, most: int) -> None:
        self.parent, self.code = [parent], [code]
        self._count, self._most = len(parent), most
        self._rest = -1

    def add(self, above: Array, code: Ints) -> tuple[Ints, Mask]:
        """(path, pooled) of calls beneath the paths ``above``."""
        first, of = group_rows((above, code))
        kept = np.ones(len(first), np.bool_)
        room = max(self._most - self._count, 0)
        if len(first) > room:
            kept[np.argsort(-np.bincount(of, minlength=len(first)), kind="stable")[room:]] = False
        number = np.where(kept, self._count + np.cumsum(kept) - 1, -1)
        self._append(above[first[kept]], code[first[kept]])
        path = number[of]
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
