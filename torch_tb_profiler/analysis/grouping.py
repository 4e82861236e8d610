"""Group rows by several integer columns, sum within groups, and spell out runs of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.store.columns import Array, Ints

_LIMIT = 1 << 62


def group_rows(columns: Sequence[Array]) -> tuple[Ints, Ints]:
    """``(first, group)``: the first row of every distinct tuple, int64 of shape (groups,), and the group of every row, shape (n,).

    ``columns`` are integer arrays of one length, mostly with values from −1 up. Groups are in the order of their tuples.
    """
    key: Ints | None = None
    width = 1
    for column in columns:
        values = column.astype(np.int64) + 1
        size = int(values.max()) + 1 if len(values) else 1
        if size >= 1 << 31 or size * width >= _LIMIT or (len(values) and int(values.min()) < 0):
            values = np.unique(values, return_inverse=True)[1].astype(np.int64)
            size = int(values.max()) + 1
            if key is not None and size * width >= _LIMIT:
                key = np.unique(key, return_inverse=True)[1].astype(np.int64)
                width = int(key.max()) + 1
        key = values if key is None else key * size + values
        width *= size
    if key is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    return first.astype(np.int64), group.astype(np.int64)


def sum_by(group: Array, groups: int, values: Array) -> Ints:
    """Exact integer sums of ``values`` per group, int64 of shape (groups,).

    ``np.bincount`` sums in float64, exact below 2**53 (104 days in ns), beyond which an exact slower path is taken.
    """
    if len(values) and float(np.abs(values).sum(dtype=np.float64)) >= 2.0**53:
        total = np.zeros(groups, np.int64)
        np.add.at(total, group, values.astype(np.int64))
        return total
    return np.bincount(group, weights=values, minlength=groups).astype(np.int64)


def largest_by(group: Array, groups: int, values: Array) -> Ints:
    """Per group the position of its largest value (of equals the last), −1 where it has none; int64 of shape (groups,)."""
    found = np.full(groups, -1, np.int64)
    # The last assignment to a place stays: in ascending order that is the largest.
    order = np.argsort(values, kind="stable")
    found[group[order]] = order
    return found


def sum_floats(group: Array, groups: int, values: Array) -> Array:
    """Sums of float64 ``values`` per group, shape (groups,)."""
    return np.bincount(group, weights=values, minlength=groups)


def join_knowledge(group: Array, groups: int, values: Array) -> Array:
    """Per group: YES when any is, else UNKNOWN when any is, else NO; uint8 of shape (groups,)."""
    yes = np.bincount(group[values == Knowledge.YES], minlength=groups) > 0
    unknown = np.bincount(group[values == Knowledge.UNKNOWN], minlength=groups) > 0
    return np.where(yes, Knowledge.YES, np.where(unknown, Knowledge.UNKNOWN, Knowledge.NO)).astype(np.uint8)


def places_of(keys: Array, wanted: Array) -> Ints:
    """For each of ``wanted`` its place in ``keys``, ascending and distinct integers; −1 where it is not among them. int64 of the shape of ``wanted``."""
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    # Of another type numpy would convert all the keys first.
    place = np.minimum(np.searchsorted(keys, wanted.astype(keys.dtype)), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


def last_of(group: Array, groups: int, rows: Array, order: Ints) -> Ints:
    """Per group the one of ``rows`` that comes last in an order of their positions (ascending by length: the longest); int64 of shape (groups,)."""
    found = np.zeros(groups, np.int64)
    # The last assignment to a place stays.
    found[group[order]] = rows[order]
    return found


def expand(first: Ints, count: Ints) -> Ints:
    """For every i the numbers ``first[i]``, ``first[i] + 1`` …, ``count[i]`` of them, one run after the other; int64 of shape (Σ count,)."""
    before = np.cumsum(count) - count
    return np.asarray(np.arange(int(count.sum())) + np.repeat(first - before, count))
