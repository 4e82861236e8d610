"""Group rows by several integer columns, sum within groups, and spell out runs of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.store.columns import Array, Ints

_LIMIT = 1 << 62
_ROOM = 4
"""Places of a table per row up to which looking rows up in it is cheaper than sorting them
(measured: 4 to 15 times, rows sorted already as fast).
"""
_EXACT = 1 << 53
"""Up to here float64 holds every integer: 104 days in ns."""


def group_rows(columns: Sequence[Array]) -> tuple[Ints, Ints]:
    """``(first, group)``: the first row of every distinct tuple, int64 of shape (groups,), and the
    group of every row, shape (n,).

    ``columns`` are integer arrays of one length, mostly with values from −1 up. Groups are in the
    order of their tuples. The cost is linear in the rows where the values are not many times as
    many as they, as numbers of strings, steps and rows are; else that of sorting.
    """
    key: Ints | None = None
    width = 1
    for column in columns:
        values = column.astype(np.int64) + 1
        size = int(values.max()) + 1 if len(values) else 1
        if size >= 1 << 31 or (len(values) and int(values.min()) < 0):
            values = np.unique(values, return_inverse=True)[1].astype(np.int64)
            size = int(values.max()) + 1
        if key is None:
            key, width = values, size
            continue
        # What does not fit a table as it is may, once it is counted from 0 without gaps; what does
        # not fit a key, must.
        if _is_sparse(size * width, len(key)) and (
            size * width >= _LIMIT or not _is_sparse(width, len(key))
        ):
            key, width = _numbered(key, width)
        if _is_sparse(size * width, len(key)) and (
            size * width >= _LIMIT or not _is_sparse(size, len(key))
        ):
            values, size = _numbered(values, size)
        key = key * size + values
        width *= size
    if key is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return _grouped(key, width)


def _is_sparse(width: int, rows: int) -> bool:
    return width > _ROOM * rows


def _numbered(key: Ints, width: int) -> tuple[Ints, int]:
    """Keys of 0 … ``width`` counted without gaps in their order, and how many there are."""
    first, group = _grouped(key, width)
    return group, len(first)


def _grouped(key: Ints, width: int) -> tuple[Ints, Ints]:
    """``group_rows`` of one column of 0 … ``width``."""
    if _is_sparse(width, len(key)):
        _, first, group = np.unique(key, return_index=True, return_inverse=True)
        return first.astype(np.int64), group.astype(np.int64)
    place = np.full(width, -1, np.int64)
    # The last assignment to a place stays.
    place[key[::-1]] = np.arange(len(key) - 1, -1, -1)
    used = np.flatnonzero(place >= 0)
    first = place[used]
    place[used] = np.arange(len(used))
    return first, place[key]


def sum_by(group: Array, groups: int, values: Array) -> Ints:
    """Exact integer sums of ``values`` per group, int64 of shape (groups,).

    ``np.bincount`` sums in float64, exact below 2**53, beyond which an exact slower path is taken.
    """
    largest = max(int(values.max()), -int(values.min())) if len(values) else 0
    if largest * len(values) >= _EXACT and float(np.abs(values).sum(dtype=np.float64)) >= _EXACT:
        total = np.zeros(groups, np.int64)
        np.add.at(total, group, values.astype(np.int64))
        return total
    return np.bincount(group, weights=values, minlength=groups).astype(np.int64)


def largest_by(group: Array, groups: int, *values: Array) -> Ints:
    """Per group the position of its largest value (where several are given: by the first, of equals
    by the next; of equals the last), −1 where it has none.

    ``values`` are of integers or truth values, of the shape of ``group``. int64 of shape (groups,).
    """
    at = np.arange(len(group))
    for column in values:
        value, of = column[at].astype(np.int64), group[at]
        top = np.full(groups, np.iinfo(np.int64).min)
        np.maximum.at(top, of, value)
        at = at[value == top[of]]
    found = np.full(groups, -1, np.int64)
    # The last assignment to a place stays.
    found[group[at]] = at
    return found


def sum_floats(group: Array, groups: int, values: Array) -> Array:
    """Sums of float64 ``values`` per group, shape (groups,)."""
    return np.bincount(group, weights=values, minlength=groups)


def join_knowledge(group: Array, groups: int, values: Array) -> Array:
    """Per group: YES when any is, else UNKNOWN when any is, else NO; uint8 of shape (groups,)."""
    yes = np.bincount(group[values == Knowledge.YES], minlength=groups) > 0
    unknown = np.bincount(group[values == Knowledge.UNKNOWN], minlength=groups) > 0
    return np.where(yes, Knowledge.YES, np.where(unknown, Knowledge.UNKNOWN, Knowledge.NO)).astype(
        np.uint8
    )


def positions_of(keys: Array, wanted: Array) -> Ints:
    """For each of ``wanted`` its place in ``keys``, ascending and distinct integers; −1 where it is
    not among them. int64 of the shape of ``wanted``.
    """
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    # Of another type numpy would convert all the keys first.
    place = np.minimum(np.searchsorted(keys, wanted.astype(keys.dtype)), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


def last_in_group(group: Array, groups: int, rows: Array, order: Ints) -> Ints:
    """Per group the one of ``rows`` that comes last in an order of their positions (ascending by
    length: the longest); int64 of shape (groups,).
    """
    found = np.zeros(groups, np.int64)
    # The last assignment to a place stays.
    found[group[order]] = rows[order]
    return found


def expand_ranges(first: Ints, count: Ints) -> Ints:
    """For every i the numbers ``first[i]``, ``first[i] + 1`` …, ``count[i]`` of them, one run after
    the other; int64 of shape (Σ count,).
    """
    before = np.cumsum(count) - count
    return np.asarray(np.arange(int(count.sum())) + np.repeat(first - before, count))
