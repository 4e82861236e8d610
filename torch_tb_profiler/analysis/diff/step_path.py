"""One step and what its end waited for, on a clock of its own, by group of causes."""

from __future__ import annotations

from collections import defaultdict

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by
from torch_tb_profiler.analysis.arrays.intervals import (
    Intervals,
    length_before,
    measure,
    totals,
    union,
)
from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS, groups_of_causes
from torch_tb_profiler.analysis.diff.side import Side, lengths_of
from torch_tb_profiler.analysis.facts.earlier_work import left_out, step_lengths
from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.analysis.figures.median_step import middle
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts

_HOST = [list(GROUPS).index(group) for group in ("host_code", "data_loading")]
_ADDRESS = regex(r"(?: object)? at 0x[0-9a-fA-F]+")
"""Where an object lies says nothing of what it is, and differs between processes."""
NO_OPERATOR = "outside operators"
LEAST_NAMED = 0.2
"""Share of the change of a group from which on what makes most of it is named."""
UNNAMED = ("data_loading", "not_recorded")
"""Groups that say of themselves what they are."""


class Stretches(msgspec.Struct, frozen=True):
    """What ends waited for, arrays of shape (stretches,) in time order.

    Attributes:
        start, end: ns, of a clock.
        group: as a number in ``GROUPS``.
        event: row of spans, −1 none.
    """

    start: Ints
    end: Ints
    group: Ints
    event: Ints


class GroupTimes(msgspec.Struct, frozen=True):
    """When the ends of steps waited for each group of causes, and how long before each stretch."""

    groups: tuple[tuple[Intervals, Ints], ...]

    @classmethod
    def of(cls, path: Stretches) -> GroupTimes:
        """Those of a path."""
        own = [path.group == group for group in range(len(GROUPS))]
        found = [union(path.start[at], path.end[at]) for at in own]
        return cls(tuple((points, totals(points)) for points in found))

    def between(self, begin: Ints, end: Ints) -> Ints:
        """How long in each group between two moments, int64 of shape (moments, groups)."""
        both = [
            length_before(points, total, end) - length_before(points, total, begin)
            for points, total in self.groups
        ]
        return np.stack(both, axis=1)


class StepPath(Stretches, frozen=True):
    """The path of a step. Times in ns since the begin of the step, without work from before the recording.

    Attributes:
        facts, step: the recording and the row of ``facts["steps"]``.
        sums: of each stretch the row of ``critical_path_steps``.
        insight: of the recording.
        on_device: whether operators only launch what computes.
    """

    facts: Facts
    insight: Insight
    step: int
    on_device: bool
    sums: Ints

    @property
    def length(self) -> int:
        """Of the step, ns."""
        return int(step_lengths(self.facts["steps"])[self.step])

    @property
    def name(self) -> str:
        """Of the step."""
        return self.facts.strings[int(self.facts["steps"]["name"][self.step])]

    @property
    def times(self) -> Ints:
        """Time of each group, ns, int64 of shape (groups,); they add up to the length."""
        return sum_by(self.group, len(GROUPS), self.end - self.start)

    def names(self, stretch: Ints) -> list[str]:
        """What stretches are of: of the host the operator, else the event itself; "" where nothing but the step is
        recorded.
        """
        rows = self.insight["critical_path_steps"]
        row, host = self.sums[stretch], np.isin(self.group[stretch], _HOST) | (not self.on_device)
        named = np.where(
            host & (rows["operator"][row] >= 0), rows["operator"][row], rows["name"][row]
        )
        named = np.where(named == self.facts["steps"]["name"][self.step], -1, named)
        texts = self.facts.strings.many(named)
        return [
            _ADDRESS.sub("", text) if own else short_name(text)
            for text, own in zip(texts, host.tolist(), strict=True)
        ]

    def by_name(self, group: int) -> dict[str, int]:
        """Time of a group by what its stretches are of, ns."""
        own = np.flatnonzero(self.group == group)
        first, place = group_rows((self.sums[own],))
        time = sum_by(place, len(first), (self.end - self.start)[own])
        found: dict[str, int] = defaultdict(int)
        for text, ns in zip(self.names(own[first]), time.tolist(), strict=True):
            found[text] += ns
        return found


def _clock(facts: Facts, step: int, time: Ints) -> Ints:
    """Times of a trace in ns since the begin of a step and within it, without work from before the recording."""
    begin, end = (int(facts["steps"][key][step]) for key in ("start", "end"))
    inside = np.clip(time, begin, end)
    return inside - begin - measure(left_out(facts), np.full(len(inside), begin), inside)


def step_path(facts: Facts, insight: Insight, step: int, on_device: bool) -> StepPath:
    """A row of ``facts["steps"]``. ``on_device``: whether operators only launch what computes."""
    path = insight["critical_path"]
    own = slice(*np.searchsorted(path["step"], (step, step + 1)).tolist())
    start, end = (_clock(facts, step, path[key][own]) for key in ("start", "end"))
    lasting = start < end
    group = groups_of_causes(on_device)[path["cause"][own]]
    return StepPath(
        start[lasting],
        end[lasting],
        group[lasting],
        path["event"][own][lasting].astype(np.int64),
        facts,
        insight,
        step,
        on_device,
        path["group"][own][lasting].astype(np.int64),
    )


def median_step(side: Side) -> int:
    """The compared step of median length, of an even number the shorter of the two; −1 without one."""
    place = middle(lengths_of(side.facts, side.steps))
    return int(side.steps[place]) if place >= 0 else -1


class GroupChange(msgspec.Struct, frozen=True):
    """What a group takes in two steps, ns. ``name``: what makes most of the change, and how much of it; "" nothing."""

    group: str
    before: int
    after: int
    name: str
    name_change: int

    @property
    def change(self) -> int:
        """After less before."""
        return self.after - self.before


def group_changes(before: StepPath, after: StepPath) -> list[GroupChange]:
    """The groups that either step has, the largest change first; the changes add up to the difference of the steps."""
    found = []
    for number, (key, x, y) in enumerate(
        zip(GROUPS, before.times.tolist(), after.times.tolist(), strict=True)
    ):
        if x or y:
            name, most = ("", 0) if key in UNNAMED else _most(before, after, number, y - x)
            found.append(GroupChange(key, x, y, name, most))
    return sorted(found, key=lambda one: -abs(one.change))


def _most(before: StepPath, after: StepPath, group: int, change: int) -> tuple[str, int]:
    """What changed most in the direction of a group, and by how much; "" nothing makes ``LEAST_NAMED`` of it."""
    x, y = before.by_name(group), after.by_name(group)
    deltas = {name: y.get(name, 0) - x.get(name, 0) for name in {**x, **y}}
    sign = -1 if change < 0 else 1
    name = max(deltas, key=lambda one: (sign * deltas[one], one), default="")
    most = deltas.get(name, 0)
    if sign * most < LEAST_NAMED * abs(change) or not (name or group in _HOST):
        return "", 0
    return name or NO_OPERATOR, most
