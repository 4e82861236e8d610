"""Which steps a figure is made from."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.model import Facts


class Selection(msgspec.Struct, frozen=True):
    """A choice of steps.

    Attributes:
        steps: rows of ``facts["steps"]``, int64, ascending.
        whole: the recording marks no steps, so everything counts, the edges that no step holds too.
    """

    steps: Ints
    whole: bool


def has_steps(facts: Facts) -> bool:
    """Whether the recording marks steps; otherwise it counts as one as a whole."""
    flags = facts["steps"]["flags"]
    return len(flags) > 0 and not flags[0] & StepFlag.WHOLE


def select(
    facts: Facts,
    first: int | None = None,
    last: int | None = None,
    skip_cold: bool = False,
    cold: Mask | None = None,
) -> Selection:
    """The steps ``first`` to ``last`` (rows, both included; None: the first and the last there is),
    without cold ones on request; all of a recording that marks no steps. ``cold``: which steps those are in
    its job (``step_kinds.agreed``), bool of shape (steps,); by itself without.

    Raises:
        IndexError: a bound is not a row of ``facts["steps"]``, or ``first`` is after ``last``.
    """
    n = facts["steps"].n
    if first is None and last is None and not has_steps(facts):
        return Selection(np.arange(n, dtype=np.int64), True)
    begin = 0 if first is None else first
    end = n - 1 if last is None else last
    for bound in (first, last):
        if bound is not None and not 0 <= bound < n:
            raise IndexError(f"step {bound} does not exist; there are {n}, counted from 0")
    if first is not None and last is not None and first > last:
        raise IndexError(f"the first step, {first}, comes after the last, {last}")
    rows = np.arange(begin, end + 1, dtype=np.int64)
    if skip_cold:
        own = (facts["steps"]["flags"] & StepFlag.COLD) != 0
        rows = rows[~(own if cold is None else cold)[rows]]
    return Selection(rows, False)


def mask(selection: Selection, step_column: Array) -> Mask:
    """Which rows of a table with a ``step`` column the selection holds, bool of the same shape."""
    steps = selection.steps
    if selection.whole:
        return np.ones(len(step_column), np.bool_)
    first, last = (int(steps[0]), int(steps[-1])) if len(steps) else (0, -1)
    if last - first == len(steps) - 1:
        # Steps follow each other nearly always, and two comparisons are faster than a look-up.
        return np.asarray((step_column >= first) & (step_column <= last))
    return np.isin(step_column, steps)


def sums_in(steps: Ints, table: Table, group: str, whole: Mapping[str, Array]) -> dict[str, Ints]:
    """Sums of columns of a table per value of its column ``group`` (negative: of none) over some
    steps, int64 of the shape of the column of ``whole``, which has the sums over all.
    """
    rows = np.flatnonzero(np.isin(table["step"], steps) & (table[group] >= 0))
    groups = table[group][rows]
    return {key: sum_by(groups, len(total), table[key][rows]) for key, total in whole.items()}


def sums_over(
    selection: Selection, table: Table, group: str, whole: Mapping[str, Array]
) -> dict[str, Array]:
    """``sums_in`` of the steps of a selection; the whole of the recording has the sums over all,
    what is outside the steps included.
    """
    return dict(whole) if selection.whole else dict(sums_in(selection.steps, table, group, whole))


def recurring(facts: Facts) -> Mask:
    """Steps that speak for the program: not cold, recorded as a whole; bool of shape (steps,)."""
    unwanted = StepFlag.COLD | StepFlag.PART
    return np.asarray((facts["steps"]["flags"] & unwanted) == 0)


def judged_steps(facts: Facts) -> Ints:
    """The steps that speak for the program: without cold and cut ones, or cut ones alone, where others are left."""
    flags = facts["steps"]["flags"]
    for speaks in (recurring(facts), (flags & StepFlag.PART) == 0):
        if speaks.any():
            return np.flatnonzero(speaks)
    return np.arange(len(flags))


def judged(facts: Facts, selection: Selection) -> Selection:
    """Of all steps those that speak for the program; of chosen ones all."""
    whole = len(selection.steps) == facts["steps"].n
    return Selection(judged_steps(facts), selection.whole) if whole else selection


def complete(facts: Facts, selection: Selection) -> Ints:
    """The selected steps without those of which only a part was recorded; all of them where each is such a one."""
    part = (facts["steps"]["flags"][selection.steps] & StepFlag.PART) != 0
    return selection.steps if part.all() else selection.steps[~part]
