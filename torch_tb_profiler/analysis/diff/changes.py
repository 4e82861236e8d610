"""The changes in one table: paired rows of both sides, the largest contribution first."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.diff.significance import (
    LEAST_EFFECT,
    LEAST_ROW_EFFECT,
    Floats,
    Moments,
    means_differ,
    significant_rows,
)
from torch_tb_profiler.analysis.diff.table_rows import Rows
from torch_tb_profiler.analysis.match.names import pair_all
from torch_tb_profiler.store.columns import Ints, Mask

SAME, CHANGED, NEW, GONE = "same", "changed", "new", "gone"


class Changes(msgspec.Struct, frozen=True):
    r"""Paired rows by \\|delta\\|, descending; arrays of shape (rows,).

    a, b: rows of the sides' tables, −1 absent.
    time_a, time_b: int64 ns per step, 0 where absent; each adds up to the rounded sum of its side.
    beyond: whether the change is significant.
    tested: whether that could be tested.
    """

    a: Ints
    b: Ints
    time_a: Ints
    time_b: Ints
    status: list[str]
    beyond: Mask
    tested: Mask

    @property
    def delta(self) -> Ints:
        """B − A."""
        return self.time_b - self.time_a


def changes(a: Rows, b: Rows, step: float) -> Changes:
    """Pair and rank two tables; ``step``: the mean step of A."""
    pairs = _pairs(a, b)
    row_a = np.array([i for i, _ in pairs], np.int64)
    row_b = np.array([j for _, j in pairs], np.int64)
    beyond, tested = significant_rows(_moments_of(a.time, row_a), _moments_of(b.time, row_b), step)
    time_a, time_b = apportion(_values(a.time.mean, row_a)), apportion(_values(b.time.mean, row_b))
    changed = np.where(tested, beyond, _exceeds_least_effect(time_a, time_b, step))
    if a.calls is not None and b.calls is not None:
        changed |= means_differ(_moments_of(a.calls, row_a), _moments_of(b.calls, row_b))
    status = [
        status_of(i >= 0, j >= 0, c)
        for i, j, c in zip(row_a.tolist(), row_b.tolist(), changed.tolist(), strict=True)
    ]
    order = np.argsort(-np.abs(time_b - time_a), kind="stable")
    return Changes(
        row_a[order],
        row_b[order],
        time_a[order],
        time_b[order],
        [status[i] for i in order],
        beyond[order],
        tested[order],
    )


def apportion(values: Floats) -> Ints:
    """Integers near ``values`` (≥ 0) that keep their rounded sum, by largest remainders."""
    floor = np.floor(values).astype(np.int64)
    missing = round(float(values.sum())) - int(floor.sum())
    order = np.argsort(floor - values, kind="stable")
    floor[order[: max(missing, 0)]] += 1
    return floor


def status_of(a: bool, b: bool, changed: bool) -> str:
    """The status of a row that is, or is not, on each side."""
    return GONE if not b else NEW if not a else CHANGED if changed else SAME


def _pairs(a: Rows, b: Rows) -> list[tuple[int, int]]:
    """All rows of both tables as (row of A, row of B), −1 absent."""
    by_time = [np.argsort(-rows.time.mean, kind="stable").tolist() for rows in (a, b)]
    return pair_all(by_time[0], by_time[1], list(zip(a.keys, b.keys, strict=True)), unique_from=2)


def _values(column: Floats, row: Ints) -> Floats:
    """Entries of a column, 0 for absent rows."""
    return np.append(column, 0.0)[row]


def _moments_of(time: Moments, row: Ints) -> Moments:
    """The moments of rows; an absent row took no time in any step."""
    missing = 0.0 if time.steps > 1 else np.nan
    return Moments(time.steps, _values(time.mean, row), np.append(time.variance, missing)[row])


def _exceeds_least_effect(time_a: Ints, time_b: Ints, step: float) -> Mask:
    """Whether an untestable difference is large enough to count."""
    delta = np.abs(time_b - time_a)
    return np.asarray(
        (delta >= LEAST_ROW_EFFECT * step) & (delta >= LEAST_EFFECT * np.maximum(time_a, time_b))
    )
