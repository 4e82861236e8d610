"""Group rows by integer columns, aggregate within groups, and expand ranges of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table, TableSpec

_LIMIT = 1 << 62
_TABLE_ENTRIES_PER_ROW = 4
"""A lookup table of up to this size is 4 to 15 times as fast as a sort (measured)."""


def group_rows(columns: Sequence[Array]) -> tuple[Ints, Ints]:
    """``(first, group)``: the first row of each distinct tuple, int64 of shape (groups,), and the
    group of each row, shape (n,).

    ``columns`` are integer arrays of equal length. Groups are in the order of their tuples. The
    cost is linear in the rows for dense values (string numbers, steps, rows), otherwise that of a
    sort.
    """
    key: Array | None = None
    width = 1
    for column in columns:
        least, size = (int(column.min()), int(column.max()) + 2) if len(column) else (0, 1)
        if size >= 1 << 31 or least < -1:
            values = np.unique(column, return_inverse=True)[1]
            size = int(values.max()) + 1
        else:
            values = column.astype(np.int32)
            values += 1
        if key is None:
            key, width = values, size
            continue
        # Renumber densely where a lookup table would be too large, or the key would overflow.
        if _is_sparse(size * width, len(key)) and (
            size * width >= _LIMIT or not _is_sparse(width, len(key))
        ):
            key, width = _numbered(key, width)
        if _is_sparse(size * width, len(key)) and (
            size * width >= _LIMIT or not _is_sparse(size, len(key))
        ):
            values, size = _numbered(values, size)
        # In place, and in 32 bits while they do: a column of a large trace dominates memory.
        if size * width >= 1 << 31:
            key = key.astype(np.int64, copy=False)
        key *= size
        key += values
        width *= size
    if key is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    first, group = _grouped(key, width)
    return first, group.astype(np.int64)


def _is_sparse(width: int, rows: int) -> bool:
    return width > _TABLE_ENTRIES_PER_ROW * rows


def _numbered(key: Array, width: int) -> tuple[Array, int]:
    """Keys in [0, ``width``) renumbered without gaps in their order, and their number."""
    first, group = _grouped(key, width)
    return group, len(first)


def _grouped(key: Array, width: int) -> tuple[Ints, Array]:
    """``group_rows`` of one column with values in [0, ``width``); the groups in as few bits as do."""
    row = np.int32 if len(key) <= np.iinfo(np.int32).max else np.int64
    if _is_sparse(width, len(key)):
        _, first, group = np.unique(key, return_index=True, return_inverse=True)
        return first.astype(np.int64), group.astype(row)
    first_row = np.full(width, -1, row)
    # Assigned in reverse order, so the first row of each key wins.
    first_row[key[::-1]] = np.arange(len(key) - 1, -1, -1, dtype=row)
    used = np.flatnonzero(first_row >= 0)
    first = first_row[used].astype(np.int64)
    first_row[used] = np.arange(len(used), dtype=row)
    return first, first_row.take(key)


def sum_by(group: Array, groups: int, values: Array) -> Ints:
    """Exact integer sums of ``values`` per group, int64 of shape (groups,)."""
    if values.dtype == np.bool_:
        return np.bincount(group[values], minlength=groups)
    # ``np.bincount`` sums in float64: slower (measured), and exact only below 2**53 ns, 104 days.
    total = np.zeros(groups, np.int64)
    np.add.at(total, group, values.astype(np.int64, copy=False))
    return total


def costliest(kind: Array, cost: Array) -> tuple[Mask, int]:
    """Which rows are of the ``kind`` whose integer ``cost`` is most in all, and that sum; of several the least kind."""
    kinds, group = np.unique(kind, return_inverse=True)
    total = sum_by(group, len(kinds), cost)
    return np.asarray(group == total.argmax()), int(total.max())


def sum_rows(spec: TableSpec, table: Table, group: str, groups: int) -> Table:
    """Each column of ``spec`` summed over the rows of ``table``, one row per value of its column ``group``
    in [0, ``groups``); −1 is none.
    """
    # The place −1 is that behind all groups.
    return spec.build(
        **{
            column.name: sum_by(table[group], groups + 1, table[column.name])[:-1]
            for column in spec.columns
        }
    )


def largest_by(group: Array, groups: int, *values: Array) -> Ints:
    """Per group the row with the largest value, −1 for an empty group; int64 of shape (groups,).

    ``values`` are integer or bool columns of the shape of ``group``: ties in one are broken by the
    next, then by the last row.
    """
    rows: Ints | None = None
    row_group = group
    for column in values:
        value = (column if rows is None else column[rows]).astype(np.int64, copy=False)
        top = np.full(groups, np.iinfo(np.int64).min)
        np.maximum.at(top, row_group, value)
        kept = np.flatnonzero(value == top[row_group])
        rows, row_group = kept if rows is None else rows[kept], row_group[kept]
    largest = np.full(groups, -1, np.int64)
    largest[row_group] = np.arange(len(group)) if rows is None else rows  # the last row wins
    return largest


def sum_floats(group: Array, groups: int, values: Array) -> Array:
    """Sums of float64 ``values`` per group, shape (groups,)."""
    return np.bincount(group, weights=values, minlength=groups)


def join_knowledge(group: Array, groups: int, values: Array) -> Array:
    """Per group YES if any row is, else UNKNOWN if any is, else NO; uint8 of shape (groups,)."""
    yes = np.bincount(group[values == Knowledge.YES], minlength=groups) > 0
    unknown = np.bincount(group[values == Knowledge.UNKNOWN], minlength=groups) > 0
    return np.where(yes, Knowledge.YES, np.where(unknown, Knowledge.UNKNOWN, Knowledge.NO)).astype(
        np.uint8
    )


def positions_of(keys: Array, wanted: Array) -> Ints:
    """The position of each ``wanted`` value in ``keys`` (ascending), −1 if it is not there; int64."""
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    # With another dtype numpy would convert all keys first.
    position = np.minimum(np.searchsorted(keys, wanted.astype(keys.dtype)), len(keys) - 1)
    return np.where(keys[position] == wanted, position, -1)


def position_of(keys: Array, wanted: int) -> int:
    """The position of one value in ``keys`` (ascending), −1 if it is not there."""
    return int(positions_of(keys, np.array([wanted]))[0])


def last_in_group(group: Array, groups: int, rows: Array, order: Ints) -> Ints:
    """Per group the element of ``rows`` that comes last in ``order``; int64 of shape (groups,)."""
    last = np.zeros(groups, np.int64)
    last[group[order]] = rows[order]  # the last assignment wins
    return last


def extreme_by(extreme: np.ufunc, group: Array, groups: int, values: Array) -> Ints:
    """The least (``np.minimum``) or greatest (``np.maximum``) of integer ``values`` per group, int64
    of shape (groups,); in an empty group the largest, or smallest, integer.
    """
    bounds = np.iinfo(np.int64)
    result = np.full(groups, bounds.min if extreme is np.maximum else bounds.max)
    extreme.at(result, group, values)
    return result


def stable_order(values: Array) -> Ints:
    """Positions in the order of integers, equal ones as they stand; those of 16 bits numpy sorts in linear time."""
    bounds = np.iinfo(np.int16)
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    narrow = bounds.min <= low and high <= bounds.max
    return np.argsort(values.astype(np.int16) if narrow else values, kind="stable")


def sorted_within(group: Array, values: Array) -> tuple[Ints, Ints]:
    """``(group, values)`` in the order of the group, then of the value; int64 of the same shape.

    ``values`` is not negative. Both packed in one integer sort ten times as fast as two columns.
    """
    bits = int(values.max(initial=0)).bit_length()
    if int(group.max(initial=0)).bit_length() + bits > 62:
        order = np.lexsort((values, group))
        return group[order].astype(np.int64), values[order].astype(np.int64)
    packed = group.astype(np.int64)
    packed <<= bits
    packed |= values
    packed.sort()
    values = packed & ((1 << bits) - 1)
    packed >>= bits
    return packed, values


def same_keys(a: Sequence[Array], b: Sequence[Array]) -> tuple[Ints, Ints]:
    """A number for each row of two lists of columns, equal where the rows are; int64."""
    _, key = group_rows([np.concatenate(both) for both in zip(a, b, strict=True)])
    return key[: len(a[0])], key[len(a[0]) :]


def matching_points(a: Sequence[Array], b: Sequence[Array]) -> Ints:
    """For each row of the columns b the position of the last equal one in a; −1 without any."""
    key, wanted = same_keys(a, b)
    position = np.full(int(max(key.max(initial=-1), wanted.max(initial=-1))) + 1, -1, np.int64)
    position[key] = np.arange(len(key))
    return position[wanted]


def expand_ranges(first: Ints, count: Ints) -> Ints:
    """The ranges ``first[i]`` … ``first[i] + count[i] − 1``, concatenated; int64."""
    before = np.cumsum(count) - count
    return np.asarray(np.arange(int(count.sum())) + np.repeat(first - before, count))


def occurrences(values: Array) -> Ints:
    """How many earlier rows have the same value, int64 of the shape of ``values``."""
    order = np.argsort(values, kind="stable")
    count = np.unique(values, return_counts=True)[1]
    occurrence = np.empty(len(values), np.int64)
    occurrence[order] = expand_ranges(np.zeros(len(count), np.int64), count)
    return occurrence


def block_begins(n: int, most: int) -> Ints:
    """Where each of at most ``most`` blocks of consecutive rows begins; all but the last one hold equally many."""
    return np.arange(0, n, max(1, -(-n // max(1, most))), dtype=np.int64)


def consecutive(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """First and last of each run of numbers that follow each other: 0, 1, 2, 5 is (0, 2), (5, 5)."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs


def mixed(key: Array) -> Array:
    """Numbers spread over all of uint64: the finalizer of splitmix64 (S. Vigna), which maps no two to one."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        key = (key ^ (key >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(key ^ (key >> np.uint64(31)))


def medians(group: Array, groups: int, values: Array) -> Array:
    """Median of the integer ``values`` (≥ 0) per group, float64 of shape (groups,); NaN of an empty group."""
    count = np.bincount(group, minlength=groups)
    first = np.cumsum(count) - count
    result = np.full(groups, np.nan)
    some = np.flatnonzero(count)
    middle = np.stack((first[some] + (count[some] - 1) // 2, first[some] + count[some] // 2))
    low, high = sorted_within(group, values)[1][middle]
    result[some] = (low + high) / 2
    return result


def places_in(n: int, rows: Array, dtype: Any = np.int64) -> Ints:
    """Where each of ``n`` rows stands among some ``rows``, which are distinct; −1 of those that do not."""
    return scatter(n, rows, np.arange(len(rows)), -1, dtype)


def scatter(n: int, places: Array, values: Any, rest: float = -1, dtype: Any = np.int64) -> Array:
    """An array of shape (n,) with values at their places, of several at one place the last, and ``rest`` elsewhere."""
    found = np.full(n, rest, dtype)
    found[places] = values
    return found


def mask_of(n: int, places: Array | Sequence[int]) -> Mask:
    """Which of ``n`` places are among some; bool of shape (n,)."""
    mask = np.zeros(n, np.bool_)
    mask[places] = True
    return mask


def picked(values: Array, place: Array) -> Array:
    """``values[place]``, of the type of the values; −1 where the place is −1."""
    none = values.dtype.type(-1)
    return np.where(place >= 0, values.take(place) if len(values) else none, none)
