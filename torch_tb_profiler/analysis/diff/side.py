"""What is compared: the steps of one side, and what each path of calls costs per step there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import depths, subtree_totals
from torch_tb_profiler.analysis.diff.significance import Floats, Moments, moments
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.figures.operators import operators_have_device_time
from torch_tb_profiler.analysis.figures.selection import Selection, complete, sums_in
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts

MOST_ODD = 1 / 3
"""Odd steps are left out unless more than this share of the steps is odd: what returns that often
belongs to the program.
"""

MOST_NUMBERS = 8_000_000
_COMPARED = ("calls", "host_total", "device_total", "device_self", "host_self", "runtime")


@dataclass(frozen=True)
class Cells:
    """Entries of a table that lie in compared steps. ``place``: which of these steps, from 0; int64
    of the shape of a column here.
    """

    table: Table
    rows: slice | Ints
    place: Ints

    def __getitem__(self, name: str) -> Array:
        """A column of these entries."""
        return self.table[name][self.rows]

    def taken(self, kept: Ints) -> Cells:
        """Some of these entries."""
        return Cells(
            self.table,
            kept + self.rows.start if isinstance(self.rows, slice) else self.rows[kept],
            self.place[kept],
        )


@dataclass(frozen=True)
class Side:
    """One recording. ``steps``: rows of its steps that are compared, int64, ascending. ``cold``,
    ``cut``, ``odd``: how many of the chosen were left out.
    """

    facts: Facts
    insight: Insight
    steps: Ints
    cold: int
    cut: int
    odd: int

    @property
    def walls(self) -> Floats:
        """Times of the compared steps, ns."""
        table = self.facts["steps"]
        return np.asarray((table["end"] - table["start"])[self.steps].astype(np.float64))

    @property
    def mean(self) -> float:
        """Mean compared step, ns; NaN without one."""
        return float(self.walls.mean()) if len(self.steps) else float("nan")

    @property
    def has_device_time(self) -> bool:
        """Whether device work was followed back to operators."""
        return operators_have_device_time(self.facts)

    @cached_property
    def of_paths(self) -> dict[str, Ints]:
        """Sums over the compared steps of the columns of ``path_sums`` that are compared, int64 of
        shape (paths,).
        """
        sums = self.insight["path_sums"]
        return sums_in(
            self.steps, self.insight["path_steps"], "path", {key: sums[key] for key in _COMPARED}
        )

    @cached_property
    def of_work(self) -> dict[str, Ints]:
        """``calls`` and ``total`` of the rows of ``work`` in the compared steps, int64 of shape
        (work,).
        """
        sums = self.insight["work"]
        return sums_in(
            self.steps,
            self.insight["work_steps"],
            "work",
            {key: sums[key] for key in ("calls", "total")},
        )

    def cells(self, table: Table) -> Cells:
        """The entries of a table with a column ``step``, those of the compared steps."""
        step, chosen = table["step"], self.steps
        if not len(chosen):
            return Cells(table, slice(0, 0), np.zeros(0, np.int64))
        begin, end = 0, len(step)
        if (step[1:] >= step[:-1]).all():
            begin = int(np.searchsorted(step, chosen[0]))
            end = int(np.searchsorted(step, chosen[-1], side="right"))
            if chosen[-1] - chosen[0] + 1 == len(chosen):
                return Cells(table, slice(begin, end), step[begin:end] - chosen[0])
        place = np.full(max(int(step.max(initial=-1)), int(chosen[-1])) + 2, -1, np.int64)
        place[chosen] = np.arange(len(chosen))
        of = place[step[begin:end]]
        inside = np.flatnonzero(of >= 0)
        return Cells(table, inside + begin, of[inside])

    def moments(self, row: Array, place: Array, value: Array, rows: int) -> Moments:
        """``noise.moments`` over the compared steps."""
        return moments(row, place, value, rows, len(self.steps))

    def mean_of(self, row: Array, value: Array, rows: int) -> Floats:
        """Means per compared step of entries of such steps, float64 of shape (rows,)."""
        return np.asarray(np.bincount(row, weights=value, minlength=rows) / max(len(self.steps), 1))


def compared_side(facts: Facts, insight: Insight, selection: Selection) -> Side:
    """The chosen steps without those that are not like the others: cut off, cold, odd; each kind
    stays where nothing else was chosen.
    """
    flags = facts["steps"]["flags"]
    whole = complete(facts, selection)
    warm = whole[(flags[whole] & StepFlag.COLD) == 0]
    warm = warm if len(warm) else whole
    usual = warm[(flags[warm] & StepFlag.ODD) == 0]
    if len(usual) < (1 - MOST_ODD) * len(warm):
        usual = warm
    return Side(
        facts,
        insight,
        usual,
        len(whole) - len(warm),
        len(selection.steps) - len(whole),
        len(warm) - len(usual),
    )


@dataclass(frozen=True)
class PathCosts:
    """The paths of one side that ran in the compared steps, parents before children, siblings by
    their first call; arrays of shape (paths,).

    ``row``: row of ``paths``. ``parent``: position here, -1 none. Means per step, float64, ns:
        ``host`` total, ``device`` total, ``own`` device or, where
    devices are not compared, host time outside the calls beneath, runtime calls included.
    """

    row: Ints
    parent: Ints
    kind: Array
    backward: Array
    name: tuple[str, ...]
    event: Array
    calls: Floats
    host: Floats
    device: Floats
    own: Floats

    def children(self) -> list[list[int]]:
        """Positions of the children of every path, the outermost ones last."""
        found: list[list[int]] = [[] for _ in range(len(self.row) + 1)]
        for at, parent in enumerate(self.parent.tolist()):
            found[parent].append(at)
        return found


def path_costs(one: Side, device: bool, limit: int) -> PathCosts:
    """The paths of a side; of more than ``limit`` those that take the least are left out, with all
    beneath them.
    """
    paths, steps = one.insight["paths"], max(len(one.steps), 1)
    n = paths.n
    mean = {key: values / steps for key, values in one.of_paths.items()}
    size = (mean["calls"] > 0) | (mean["device_total"] > 0)
    weight = subtree_totals(
        paths["parent"],
        np.where(size, mean["host_total"] + mean["device_total"] + 1e-9, 0.0),
        np.maximum,
    )
    kept = np.flatnonzero(weight > 0)
    if len(kept) > limit:
        kept = np.sort(kept[np.lexsort((kept, -weight[kept]))[:limit]])
    # Parents stand before children, and a parent weighs no less than its children, so what is kept
    # is closed upwards.
    place = np.full(n + 1, -1, np.int64)
    place[kept] = np.arange(len(kept))
    order = np.lexsort((paths["first"][kept], depths(place[paths["parent"][kept]])))
    kept = kept[order]
    place[kept] = np.arange(len(kept))
    own = mean["device_self"] if device else mean["host_self"] + mean["runtime"]
    return PathCosts(
        kept,
        place[paths["parent"][kept]],
        paths["kind"][kept],
        paths["backward"][kept] != 0,
        tuple(one.insight.strings.many(paths["name"][kept])),
        paths["event"][kept],
        mean["calls"][kept],
        mean["host_total"][kept],
        mean["device_total"][kept],
        own[kept],
    )


def distinct(key: Ints, size: int) -> tuple[Ints, Ints]:
    """(the numbers below ``size`` that occur, ascending; of every entry which of them it is):
    without sorting where ``size`` allows it.
    """
    if size > MOST_NUMBERS:
        numbers, of = np.unique(key, return_inverse=True)
        return numbers, of
    there = np.zeros(size, np.bool_)
    there[key] = True
    numbers = np.flatnonzero(there)
    place = np.zeros(size, np.int64)
    place[numbers] = np.arange(len(numbers))
    return numbers, np.asarray(place[key])
