"""One side of a comparison: its steps, and the cost of each path of calls per step."""

from __future__ import annotations

from functools import cached_property

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.arrays.grouping import group_rows, places_in
from torch_tb_profiler.analysis.arrays.nesting import depths, subtree_totals
from torch_tb_profiler.analysis.diff.rank_test import Sample
from torch_tb_profiler.analysis.diff.repeats import Repeats, repeats_of
from torch_tb_profiler.analysis.diff.significance import Floats, Moments, moments
from torch_tb_profiler.analysis.diff.work_size import shapes_of
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepFlag, StepKind
from torch_tb_profiler.analysis.figures.operators import operators_have_device_time
from torch_tb_profiler.analysis.figures.selection import Selection, complete, has_steps, sums_in
from torch_tb_profiler.analysis.match.paths import PathCosts
from torch_tb_profiler.store.columns import Array, Ints, Table, unique_values
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace

MOST_ODD = 1 / 3
"""Odd steps are left out unless more than this share of a kind is odd: then they belong to the program."""

_COMPARED = ("calls", "host_total", "device_total", "device_self", "host_self", "runtime")


class Side(msgspec.Struct, frozen=True, dict=True):
    """One recording. ``steps``: rows of the compared steps, int64, ascending; ``odd``: rows that are tested beside
    them, and left out of every mean; ``cold``: rows left out; ``cut``, ``other`` (of other kinds): how many more are.
    Of a recording without steps: ``repeats``, what it repeats, and ``unit``, the times of the units, ns, and the number of
    them that every mean is of; None where it is compared as a whole.
    """

    facts: Facts
    insight: Insight
    steps: Ints
    cold: Ints
    cut: int
    odd: Ints
    other: int = 0
    repeats: Repeats | None = None
    unit: tuple[Floats, int] | None = None

    @property
    def count(self) -> int:
        """Compared steps, or units."""
        return len(self.steps) if self.unit is None else self.unit[1]

    @property
    def walls(self) -> Floats:
        """Durations of the compared steps, or units, ns."""
        if self.unit is not None:
            return self.unit[0]
        return lengths_of(self.facts, self.steps)

    @cached_property
    def sample(self) -> Sample:
        """The step times as the test takes them."""
        facts, tested = self.facts, unique_values(self.steps, self.odd)
        sample = Sample(
            lengths_of(facts, tested),
            shapes=shapes_of(facts, self.steps),
            odd=np.isin(tested, self.odd),
            cold=lengths_of(facts, self.cold),
            repeats=self.repeats,
        )
        if len(tested) != 1:
            return sample
        usual = compared_side(facts, self.insight, Selection(np.arange(facts["steps"].n), True))
        return replace(sample, others=usual.walls[usual.steps != tested[0]])

    @property
    def mean(self) -> float:
        """Mean compared step, ns; NaN without one."""
        return float(self.walls.mean()) if len(self.steps) else float("nan")

    @property
    def has_device_time(self) -> bool:
        """Whether device work was attributed to operators."""
        return operators_have_device_time(self.facts)

    @cached_property
    def of_paths(self) -> dict[str, Ints]:
        """Sums of columns of ``path_sums`` over the compared steps, int64 of shape (paths,)."""
        sums = self.insight["path_sums"]
        return sums_in(
            self.steps, self.insight["path_steps"], "path", {key: sums[key] for key in _COMPARED}
        )

    @cached_property
    def of_work(self) -> dict[str, Ints]:
        """``calls`` and ``total`` of ``work`` in the compared steps, int64 of shape (work,)."""
        sums = self.insight["work"]
        return sums_in(
            self.steps,
            self.insight["work_steps"],
            "work",
            {key: sums[key] for key in ("calls", "total")},
        )

    def cells(self, table: Table) -> Table:
        """The entries of a table with a column ``step`` that lie in the compared steps."""
        return table.take(np.flatnonzero(np.isin(table["step"], self.steps)))

    def moments(self, row: Array, step: Array, value: Array, rows: int) -> Moments:
        """``significance.moments`` over the compared steps; ``step``: that of each value."""
        place = np.searchsorted(self.steps, step)
        found = moments(row, place, value, rows, len(self.steps))
        return found if self.unit is None else replace(found, mean=found.mean / self.count)

    def mean_of(self, row: Array, value: Array, rows: int) -> Floats:
        """Means per compared step, float64 of shape (rows,)."""
        return np.asarray(np.bincount(row, weights=value, minlength=rows) / max(self.count, 1))


def compared_side(facts: Facts, insight: Insight, selection: Selection) -> Side:
    """Those of the chosen steps that are of the commonest kind; without cut, cold and odd ones; each
    stays if nothing else was chosen.
    """
    whole = complete(facts, selection)
    kind, what = facts["steps"]["kind"][whole], facts["step_kinds"]["what"]
    warm = kind[(kind >= 0) & (np.append(what, StepKind.COLD)[kind] != StepKind.COLD)]
    own = whole[kind == np.bincount(warm).argmax()] if len(warm) else whole[:0]
    return side_of_kind(facts, insight, selection, own)


def side_of_kind(facts: Facts, insight: Insight, selection: Selection, own: Ints) -> Side:
    """The chosen steps of one kind, ``own``, without odd ones; all complete ones where that is empty."""
    flags = facts["steps"]["flags"]
    whole = complete(facts, selection)
    own = own if len(own) else whole
    odd = own[(flags[own] & StepFlag.ODD) != 0]
    if len(odd) > MOST_ODD * len(own):
        odd = odd[:0]
    left = np.setdiff1d(whole, own)
    cold = left[(flags[left] & StepFlag.COLD) != 0]
    cut = len(selection.steps) - len(whole)
    return Side(facts, insight, np.setdiff1d(own, odd), cold, cut, odd, len(left) - len(cold))


def with_repeats(side: Side, trace: Trace) -> Side:
    """A side that is compared by what it repeats, if its recording has no steps."""
    return side if has_steps(side.facts) else replace(side, repeats=repeats_of(trace))


def lengths_of(facts: Facts, steps: Ints) -> Floats:
    """Durations of some steps, ns."""
    return np.asarray(step_lengths(facts["steps"])[steps].astype(np.float64))


def path_costs(side: Side, device: bool, limit: int) -> PathCosts:
    """The paths of a side; beyond ``limit`` the cheapest are left out, with all beneath them."""
    paths, steps = side.insight["paths"], max(side.count, 1)
    n = paths.n
    mean = {key: values / steps for key, values in side.of_paths.items()}
    size = (mean["calls"] > 0) | (mean["device_total"] > 0)
    weight = subtree_totals(
        paths["parent"],
        np.where(size, mean["host_total"] + mean["device_total"] + 1e-9, 0.0),
        np.maximum,
    )
    chosen = np.flatnonzero(weight > 0)
    if len(chosen) > limit:
        chosen = np.sort(chosen[np.lexsort((chosen, -weight[chosen]))[:limit]])
    # A parent weighs no less than its children, so the chosen paths include all ancestors.
    position = places_in(n + 1, chosen)
    order = np.lexsort((paths["first"][chosen], depths(position[paths["parent"][chosen]])))
    chosen = chosen[order]
    position[chosen] = np.arange(len(chosen))
    own = mean["device_self"] if device else mean["host_self"] + mean["runtime"]
    return PathCosts(
        chosen,
        position[paths["parent"][chosen]],
        paths["kind"][chosen],
        paths["backward"][chosen] != 0,
        tuple(side.insight.strings.many(paths["name"][chosen])),
        paths["event"][chosen],
        mean["calls"][chosen],
        mean["host_total"][chosen],
        mean["device_total"][chosen],
        own[chosen],
    )


def distinct(key: Ints) -> tuple[Ints, Ints]:
    """The distinct values of ``key``, ascending, and the index of each entry's value."""
    first, group = group_rows((key,))
    return key[first], group
