"""What is compared: the steps of one side, and what each path of calls costs per step there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.diff.noise import Floats, Moments, moments, places
from torch_tb_profiler.analysis.flags import StepFlag
from torch_tb_profiler.analysis.nesting import carried_up, depths
from torch_tb_profiler.analysis.operators import operators_have_device_time
from torch_tb_profiler.analysis.selection import Selection, complete
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts

MOST_ODD = 1 / 3
"""Odd steps are left out unless more than this share of the steps is odd: what returns that often belongs to the program."""

MOST_NUMBERS = 8_000_000


@dataclass(frozen=True)
class Side:
    """One recording. ``steps``: rows of its steps that are compared, int64, ascending. ``cold``, ``cut``, ``odd``: how many of the chosen were left out."""

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

    def moments(self, row: Array, step: Array, value: Array, rows: int) -> Moments:
        """``noise.moments`` over the compared steps."""
        return moments(row, step, value, rows, self.steps)

    def per_step(self, row: Array, step: Array, value: Array, rows: int) -> Floats:
        """Means per compared step of a sparse table, float64 of shape (rows,)."""
        kept = self.inside(step)
        return self.mean_of(row[kept], value[kept], rows)

    def inside(self, step: Array) -> Ints:
        """Entries of a column of steps that are compared."""
        return np.flatnonzero(places(step, self.steps) >= 0)

    def mean_of(self, row: Array, value: Array, rows: int) -> Floats:
        """Means per compared step of entries that are all of such steps, float64 of shape (rows,)."""
        return np.asarray(np.bincount(row, weights=value, minlength=rows) / max(len(self.steps), 1))


def side(facts: Facts, insight: Insight, selection: Selection) -> Side:
    """The chosen steps without those that are not like the others: cut off, cold, odd; each kind stays where nothing else was chosen."""
    flags = facts["steps"]["flags"]
    whole = complete(facts, selection)
    warm = whole[(flags[whole] & StepFlag.COLD) == 0]
    warm = warm if len(warm) else whole
    usual = warm[(flags[warm] & StepFlag.ODD) == 0]
    if len(usual) < (1 - MOST_ODD) * len(warm):
        usual = warm
    return Side(facts, insight, usual, len(whole) - len(warm), len(selection.steps) - len(whole), len(warm) - len(usual))


@dataclass(frozen=True)
class PathCosts:
    """The paths of one side that ran in the compared steps, parents before children, siblings by their first call; arrays of shape (paths,).

    ``row``: row of ``paths``. ``parent``: position here, -1 none. Means per step, float64, ns: ``host`` total, ``device`` total, ``own`` device or, where
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
    """The paths of a side; of more than ``limit`` those that take the least are left out, with all beneath them."""
    paths, steps = one.insight["paths"], one.insight["path_steps"]
    n = paths.n
    inside = one.inside(steps["step"])
    inside = inside[steps["path"][inside] >= 0]
    path = steps["path"][inside]
    mean = {key: one.mean_of(path, steps[key][inside], n) for key in ("calls", "host_total", "device_total", "device_self", "host_self", "runtime")}
    size = (mean["calls"] > 0) | (mean["device_total"] > 0)
    weight = carried_up(paths["parent"], np.where(size, mean["host_total"] + mean["device_total"] + 1e-9, 0.0), np.maximum)
    kept = np.flatnonzero(weight > 0)
    if len(kept) > limit:
        kept = np.sort(kept[np.lexsort((kept, -weight[kept]))[:limit]])
    # Parents stand before children, and a parent weighs no less than its children, so what is kept is closed upwards.
    place = np.full(n + 1, -1, np.int64)
    place[kept] = np.arange(len(kept))
    order = np.lexsort((paths["first"][kept], depths(place[paths["parent"][kept]])))
    kept = kept[order]
    place[kept] = np.arange(len(kept))
    own = mean["device_self"] if device else mean["host_self"] + mean["runtime"]
    return PathCosts(
        kept, place[paths["parent"][kept]], paths["kind"][kept], paths["backward"][kept] != 0, tuple(one.insight.strings.many(paths["name"][kept])),
        paths["event"][kept], mean["calls"][kept], mean["host_total"][kept], mean["device_total"][kept], own[kept],
    )


def distinct(key: Ints, size: int) -> tuple[Ints, Ints]:
    """(the numbers below ``size`` that occur, ascending; of every entry which of them it is): without sorting where ``size`` allows it."""
    if size > MOST_NUMBERS:
        numbers, of = np.unique(key, return_inverse=True)
        return numbers, of
    there = np.zeros(size, np.bool_)
    there[key] = True
    numbers = np.flatnonzero(there)
    place = np.zeros(size, np.int64)
    place[numbers] = np.arange(len(numbers))
    return numbers, np.asarray(place[key])
