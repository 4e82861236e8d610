"""Two steps on one axis: where they do the same they stand above each other, and what one takes longer for is a
gap of the other.

::

    before   [ data loading        ][ forward ]▒▒▒[ backward ]
    after    [ d ]▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒[ forward    ][ backward ]
                   gained                      lost

Each side has one clock, for its threads and its devices alike, so nothing is drawn backward. The clocks are tied at
begins and ends of matched events, best of all where the end of both steps waited for them. Between two ties the side
that takes less time waits at the end of it: time gained where that is the later step, time lost where it is the
earlier one. So what is lost less what is gained is the difference of the steps, to the nanosecond.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import measure
from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS, groups_of_causes
from torch_tb_profiler.analysis.diff.side import Side
from torch_tb_profiler.analysis.diff.step_matching import (
    Matched,
    StepEvents,
    match_steps,
    step_events,
)
from torch_tb_profiler.analysis.facts.earlier_work import left_out, step_lengths
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace

LEAST_MATCHED = 0.6
"""Share of operations that must be matched for two steps to stand on one axis."""


@dataclass(frozen=True)
class StepPath:
    """A step and what its end waited for; times in ns since its begin, without work from before the recording.

    Attributes:
        trace, facts, step: the recording and the row of ``facts["steps"]``.
        events: what happened in it.
        start, end, group, event: the stretches of its path in time order, of shape (stretches,): their group as a
            number in ``GROUPS``, and their row of spans, −1 none.
        length: of the step.
    """

    trace: Trace
    facts: Facts
    step: int
    events: StepEvents
    start: Ints
    end: Ints
    group: Ints
    event: Ints
    length: int

    @property
    def name(self) -> str:
        """Of the step."""
        return self.facts.strings[int(self.facts["steps"]["name"][self.step])]

    def clock(self, time: Ints) -> Ints:
        """Times of the trace on the clock of the step, within it."""
        return clock(self.facts, self.step, time)

    def by_group(self, time: Ints) -> Ints:
        """How long the path was in each group until each time, int64 of shape (times, groups)."""
        found = np.zeros((len(time), len(GROUPS)), np.int64)
        at = np.maximum(np.searchsorted(self.start, time, side="right") - 1, 0)
        for group in range(len(GROUPS)) if len(self.start) else ():
            own = np.where(self.group == group, self.end - self.start, 0)
            before = np.concatenate((np.zeros(1, np.int64), np.cumsum(own)))
            inside = np.minimum(time, self.end[at]) - self.start[at]
            found[:, group] = before[at] + np.where(self.group[at] == group, inside, 0)
        return found


def clock(facts: Facts, step: int, time: Ints) -> Ints:
    """Times of a trace in ns since the begin of a step and within it, without work from before the recording."""
    begin, end = (int(facts["steps"][key][step]) for key in ("start", "end"))
    inside = np.clip(time, begin, end)
    return inside - begin - measure(left_out(facts), np.full(len(inside), begin), inside)


def step_path(trace: Trace, facts: Facts, insight: Insight, step: int, has_device: bool) -> StepPath:
    """A row of ``facts["steps"]``. ``has_device``: whether operators only launch what computes."""
    path = insight["critical_path"]
    own = slice(*np.searchsorted(path["step"], (step, step + 1)).tolist())
    start, end = (clock(facts, step, path[key][own]) for key in ("start", "end"))
    lasting = start < end
    return StepPath(
        trace,
        facts,
        step,
        step_events(trace, facts, step),
        start[lasting],
        end[lasting],
        groups_of_causes(has_device)[path["cause"][own]][lasting],
        path["event"][own][lasting].astype(np.int64),
        int(step_lengths(facts["steps"])[step]),
    )


def median_step(side: Side) -> int:
    """The compared step of median length, of an even number the shorter of the two; −1 without one."""
    if not len(side.steps):
        return -1
    order = np.argsort(side.walls, kind="stable")
    return int(side.steps[order[(len(order) - 1) // 2]])


@dataclass(frozen=True)
class Gaps:
    """Where one side waits for the other, in the order of the axis; arrays of shape (gaps,).

    Attributes:
        before, after: the moment of each clock at which it ends, ns.
        size: ns; above 0 lost (before waits), below 0 gained (after waits).
        groups: by how much the path grew since the gap before, by group; of shape (gaps, groups). A row adds up to ``size``.
    """

    before: Ints
    after: Ints
    size: Ints
    groups: Ints

    @property
    def group(self) -> Ints:
        """The group that makes most of each."""
        return np.asarray(np.where(self.size[:, None] > 0, self.groups, -self.groups).argmax(axis=1))

    def shift(self, side: int) -> tuple[Ints, Ints]:
        """``(moment, shift)`` of a side, 0 before and 1 after: from which moment of its clock it stands how much
        further right, ns; ascending.
        """
        own = np.flatnonzero(self.size > 0 if side == 0 else self.size < 0)
        return (self.before, self.after)[side][own], np.cumsum(np.abs(self.size[own]))

    def on_axis(self, side: int, time: Ints) -> Ints:
        """Moments of a clock on the axis; one at which a gap ends, behind it."""
        moment, shift = self.shift(side)
        at = np.searchsorted(moment, time, side="right")
        return time + np.append(0, shift)[at]


@dataclass(frozen=True)
class AlignedSteps:
    """Two steps on one axis.

    Attributes:
        before, after: the steps.
        matched: their pairs.
        gaps: where they differ; none where too little is matched to tell.
    """

    before: StepPath
    after: StepPath
    matched: Matched
    gaps: Gaps | None

    @property
    def length(self) -> int:
        """Of the axis, ns."""
        lost = 0 if self.gaps is None else int(self.gaps.size[self.gaps.size > 0].sum())
        return self.before.length + lost


def align(before: StepPath, after: StepPath, parts: int = 0) -> AlignedSteps:
    """Two steps on one axis. ``parts``: how many the axis is divided into where it is drawn; what is shorter than one of
    them is told together with what follows. 0: every nanosecond is told.
    """
    matched = match_steps(before.events, after.events)
    if not matched.share >= LEAST_MATCHED:
        return AlignedSteps(before, after, matched, None)
    least = max(before.length, after.length) // parts if parts else 0
    return AlignedSteps(before, after, matched, _gaps(before, after, *ties(before, after, matched), least))


def ties(before: StepPath, after: StepPath, matched: Matched) -> tuple[Ints, Ints]:
    """Moments of both clocks that stand above each other, from the begins of the steps to their ends, ascending."""
    x, y = (np.array([0, side.length]) for side in (before, after))
    for own_x, own_y in _candidates(before, after, matched):
        x, y = _joined(x, y, own_x, own_y)
    return x, y


def _candidates(before: StepPath, after: StepPath, matched: Matched) -> Iterator[tuple[Ints, Ints]]:
    """Begins and ends of pairs, the best first: those that both paths come by, work of devices and then of the host that one
    comes by, and the rest of the thread that has most of the pairs.
    """
    sides = (before, after)
    rows = [
        np.concatenate((side.events.host[host], side.events.device[device]))
        for side, host, device in zip(sides, matched.host, matched.device, strict=True)
    ]
    moments, met = [], []
    for side, row in zip(sides, rows, strict=True):
        spans = side.trace["spans"]
        begin = side.clock(spans["start"][row])
        end = side.clock(spans["start"][row] + spans["dur"][row])
        moments.append(np.concatenate((begin, end)))
        met.append(
            np.concatenate((_met(side, row, side.start, begin), _met(side, row, side.end, end)))
        )
    on_device = np.tile(np.arange(len(rows[0])) >= len(matched.host[0]), 2)
    track = before.trace["spans"]["track"][rows[0]]
    main = np.bincount(track[: len(matched.host[0])]).argmax() if len(matched.host[0]) else -1
    both, one = met[0] & met[1], met[0] | met[1]
    levels = (both, one & on_device, one & ~on_device, np.tile(track == main, 2) & ~on_device)
    for level in levels:
        yield moments[0][level], moments[1][level]


def _met(side: StepPath, row: Ints, edge: Ints, moment: Ints) -> Mask:
    """Whether a stretch of an event begins, or ends, when the event does."""
    place = np.full(side.trace["spans"].n + 1, -1, np.int64)
    place[row] = np.arange(len(row))
    at = place[side.event]
    own = np.flatnonzero(at >= 0)
    found = np.zeros(len(row), np.bool_)
    found[at[own][edge[own] == moment[at[own]]]] = True
    return found


def _joined(x: Ints, y: Ints, own_x: Ints, own_y: Ints) -> tuple[Ints, Ints]:
    """Ties and as many further ones as keep the order of both clocks."""
    last = len(x) - 2
    low = [np.clip(np.searchsorted(t, own, "left") - 1, 0, last) for t, own in ((x, own_x), (y, own_y))]
    high = [np.clip(np.searchsorted(t, own, "right") - 1, 0, last) for t, own in ((x, own_x), (y, own_y))]
    fits = np.maximum(*low) <= np.minimum(*high)
    own_x, own_y = own_x[fits], own_y[fits]
    order = np.lexsort((own_y, own_x))
    own_x, own_y = own_x[order], own_y[order]
    rising = _rising(own_y)
    x, y = np.concatenate((x, own_x[rising])), np.concatenate((y, own_y[rising]))
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    new = np.append(True, (x[1:] != x[:-1]) | (y[1:] != y[:-1]))
    return x[new], y[new]


def _rising(values: Ints) -> Ints | slice:
    """Positions of a longest subsequence that does not fall."""
    if not (values[1:] < values[:-1]).any():
        return slice(None)
    ends: list[int] = []
    at: list[int] = []
    before = np.full(len(values), -1, np.int64)
    for i, value in enumerate(values.tolist()):
        place = bisect_right(ends, value)
        if place == len(ends):
            ends.append(value)
            at.append(i)
        else:
            ends[place], at[place] = value, i
        if place:
            before[i] = at[place - 1]
    chain = [at[-1]]
    while (previous := int(before[chain[-1]])) >= 0:
        chain.append(previous)
    return np.array(chain[::-1])


def _gaps(before: StepPath, after: StepPath, x: Ints, y: Ints, least: int) -> Gaps:
    """The gaps of at least ``least`` ns, and one at the end for what is left."""
    ahead = y - x
    told, chosen = 0, []
    for i, value in enumerate(ahead.tolist()):
        if value != told and abs(value - told) >= least:
            chosen.append(i)
            told = value
    if told != ahead[-1]:
        chosen.append(len(ahead) - 1)
    at = np.array(chosen, np.int64)
    edges = np.append(0, x[at]), np.append(0, y[at])
    spent = [np.diff(side.by_group(edge), axis=0) for side, edge in zip((before, after), edges, strict=True)]
    return Gaps(x[at], y[at], np.diff(ahead[at], prepend=0), spent[1] - spent[0])
