"""The critical path of whole steps in seven groups of causes, and how one step differs from another.

::

    median step   [ compute            | copies ]
    step 7        [ data loading         | compute        | copies ]
    difference    + data loading − compute                             the sum is the difference of the steps, exactly
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import costliest, group_rows, sum_by
from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS, groups_of_causes
from torch_tb_profiler.analysis.critical_path.ranks import RanksPath, RankTrace
from torch_tb_profiler.analysis.critical_path.ranks_figures import RanksSegments, ranks_segments
from torch_tb_profiler.analysis.critical_path.table import counted_time
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.facts.step_kinds import odd_rows
from torch_tb_profiler.analysis.figures.median_step import middle
from torch_tb_profiler.analysis.figures.step_kinds import agreed, plain_names
from torch_tb_profiler.store.columns import Ints, Mask, unique_values
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.strings import StringTable

MOST = 0.5
"""Share of a difference from which on one thing is said to make it."""
SMALL = 0.01
"""Groups that differ by less of the difference of the steps are told together."""
LISTED = 8
"""Operators and lines that are listed."""


class StepGroups(msgspec.Struct, frozen=True):
    """The path of every step by group.

    Attributes:
        names: of the steps.
        time: ns, int64 of shape (steps, groups); −1 in the rows of steps whose path is not known.
        cold, odd, cut: bool of shape (steps,).
        kind: of the step, int64 of shape (steps,); −1 unknown. kinds: what each is called.
        own: row of ``facts["steps"]`` of the asked trace, −1 where it has no such step.
        has_device: whether an accelerator was recorded; vendor: whose, empty unknown.
    """

    names: Sequence[str]
    time: Ints
    cold: Mask
    odd: Mask
    cut: Mask
    kind: Ints
    own: Ints
    has_device: bool
    vendor: str = ""
    kinds: Sequence[str] = ()

    @property
    def wall(self) -> Ints:
        """Length of each step, the sum of its groups, ns; −1 unknown."""
        return np.where(self.known, self.time.sum(axis=1), -1)

    @property
    def known(self) -> Mask:
        """Steps whose path is known."""
        return np.asarray(self.time[:, 0] >= 0)

    @property
    def usual(self) -> Mask:
        """Steps that are neither cold, odd nor cut off."""
        return np.asarray(~self.cold & ~self.odd & ~self.cut & (self.wall > 0))

    @property
    def median(self) -> int:
        """The step of median length, of an even number the shorter of the two: of the usual ones where there are any, and of
        the kind that takes most time; −1 without one.
        """
        kept = self.usual if self.usual.any() else self.known
        rows = np.flatnonzero(kept)
        if not len(rows):
            return -1
        # Counted from −1, which is unknown.
        leading = np.argmax(np.bincount(self.kind[rows] + 1, self.wall[rows])) - 1
        return self._middle(rows[self.kind[rows] == leading])

    def median_for(self, step: int) -> int:
        """What a step is compared with: the median step of its kind; a cold one, or one that was cut off, with that of all others; −1
        without one.
        """
        among = self.usual
        if not self.cold[step] and not self.cut[step]:
            alike = self.known & (self.kind == self.kind[step])
            among = among & alike if (among & alike).any() else alike
            return self._middle(np.flatnonzero(among)) if alike.sum() > 1 else -1
        among = among & (self.kind == self.kind[self.median]) if self.median >= 0 else among
        others = (among if among.any() else self.known) & (np.arange(len(self.names)) != step)
        return self._middle(np.flatnonzero(others))

    @property
    def slowest_odd(self) -> int:
        """The odd step that takes longest, −1 without one."""
        odd = np.flatnonzero(self.odd & self.known & ~self.cold)
        return int(odd[self.wall[odd].argmax()]) if len(odd) else -1

    def _middle(self, rows: Ints) -> int:
        place = middle(self.wall[rows])
        return int(rows[place]) if place >= 0 else -1


def own_groups(facts: Facts, insight: Insight) -> StepGroups:
    """The steps of a trace. Work from before the recording counts in no step."""
    steps, sums, width = facts["steps"], insight["critical_path_steps"], len(GROUPS)
    has_device = facts.summary.has_device
    key = sums["step"].astype(np.int64) * width + groups_of_causes(has_device)[sums["cause"]]
    flags = steps["flags"]
    return StepGroups(
        facts.strings.many(steps["name"]),
        sum_by(key, steps.n * width, counted_time(facts, insight)).reshape(-1, width),
        (flags & StepFlag.COLD) != 0,
        (flags & StepFlag.ODD) != 0,
        (flags & StepFlag.PART) != 0,
        steps["kind"].astype(np.int64),
        np.arange(steps.n),
        has_device,
        facts.summary.vendor,
        plain_names(facts),
    )


def run_groups(
    figures: RunFigures,
    path: RanksPath,
    open_rank: Callable[[int], RankTrace | None],
    asked: int,
) -> StepGroups:
    """The common steps of a run, by the path through all ranks. Odd is what takes far longer than the others of its kind on that path; cold
    and cut off is what most of the ranks on it call so. ``asked``: index of the rank whose own steps are told, −1 none.
    """
    count, width = len(figures.steps.names), len(GROUPS)
    opened = {rank: open_rank(rank) for rank in unique_values(path.rank).tolist()}
    facts = {rank: trace.facts for rank, trace in opened.items() if trace is not None}
    has_device = any(own.summary.has_device for own in facts.values())
    key = path.step * width + groups_of_causes(has_device)[path.cause]
    time = sum_by(key, count * width, path.end - path.start).reshape(-1, width)
    time[path.stop <= path.begin] = -1
    marked = {}
    for flag in (StepFlag.COLD, StepFlag.PART):
        mask = np.zeros(count, np.bool_)
        for rank, own in zip(facts, agreed(list(facts.values()), flag), strict=True):
            place = figures.steps.place[rank]
            mask[place[(place >= 0) & own[: len(place)]]] = True
        marked[flag] = mask
    kind, own_row = np.full((2, count), -1, np.int64)
    # Each rank numbers kinds by itself: that of the first one counts where it is known.
    for rank in reversed(facts):
        place = figures.steps.place[rank]
        said = facts[rank]["steps"]["kind"][: len(place)]
        there = (place >= 0) & (said >= 0)
        kind[place[there]] = said[there]
    odd, length = np.zeros(count, np.bool_), path.stop - path.begin
    apart = marked[StepFlag.COLD] | marked[StepFlag.PART] | (length <= 0)
    odd[odd_rows(length, np.maximum(kind, 0), apart)] = True
    if asked >= 0:
        place = figures.steps.place[asked]
        own_row[place[place >= 0]] = np.flatnonzero(place >= 0)
    return StepGroups(
        figures.steps.names,
        time,
        marked[StepFlag.COLD],
        odd,
        marked[StepFlag.PART],
        kind,
        own_row,
        has_device,
        next((own.summary.vendor for own in facts.values() if own.summary.has_device), ""),
        next((plain_names(own) for own in facts.values()), ()),
    )


class PathRows(msgspec.Struct, frozen=True):
    """What two steps have on their paths; arrays of shape (rows,).

    step: their number. rank: index of the rank, −1 of a trace alone. group: number in ``GROUPS``. name: the operator, else the
    event; line: the user's line; numbers of ``strings``, −1 none. time: ns.
    """

    strings: StringTable
    step: Ints
    rank: Ints
    group: Ints
    name: Ints
    line: Ints
    time: Ints


def own_rows(facts: Facts, insight: Insight, groups: StepGroups, steps: Sequence[int]) -> PathRows:
    """What some steps of a trace have on their paths."""
    sums = insight["critical_path_steps"]
    row = np.flatnonzero(np.isin(sums["step"], steps))
    name, operator, line, cause, step = (
        sums[key][row].astype(np.int64) for key in ("name", "operator", "line", "cause", "step")
    )
    return PathRows(
        facts.strings,
        step,
        np.full(len(row), -1, np.int64),
        groups_of_causes(groups.has_device)[cause],
        _named(facts.strings, groups, operator, name),
        line,
        counted_time(facts, insight)[row],
    )


def run_rows(
    path: RanksPath,
    open_rank: Callable[[int], RankTrace | None],
    groups: StepGroups,
    steps: Sequence[int],
) -> PathRows:
    """What some common steps have on the path through all ranks."""
    chosen = np.isin(np.arange(len(path.begin)), steps)
    found: RanksSegments = ranks_segments(path, open_rank, chosen)
    return PathRows(
        found.strings,
        found.step,
        found.rank,
        groups_of_causes(groups.has_device)[found.cause],
        _named(found.strings, groups, found.operator, found.name),
        found.line,
        found.end - found.start,
    )


def _named(strings: StringTable, groups: StepGroups, operator: Ints, name: Ints) -> Ints:
    """The operator, else the event; −1 where that is the mark of a step, which says nothing."""
    marks = [strings.number(name) for name in groups.names]
    found = np.where(operator >= 0, operator, name)
    return np.where(np.isin(found, marks), -1, found)


class Part(msgspec.Struct, frozen=True):
    """A part of the difference of two steps.

    group: number in ``GROUPS``. difference: ns. rank, name, line: what makes at least ``MOST`` of it, −1 nothing alone does.
    left: whether the path has lost at least ``MOST`` of its time on that rank.
    """

    group: int
    difference: int
    rank: int = -1
    name: int = -1
    line: int = -1
    left: bool = False


def group_parts(rows: PathRows, groups: StepGroups, step: int, median: int) -> list[Part]:
    """What each group differs by, the largest first, and which rank, operator and line make it; without groups that do
    not differ. Their sum is the difference of the steps.
    """
    difference = groups.time[step] - groups.time[median]
    order = np.argsort(-np.abs(difference), kind="stable")
    return [
        _part(rows, step, int(group), int(difference[group]))
        for group in order.tolist()
        if difference[group]
    ]


def _part(rows: PathRows, step: int, group: int, difference: int) -> Part:
    here = np.flatnonzero(rows.group == group)
    signed = np.where(rows.step[here] == step, rows.time[here], -rows.time[here])
    if difference < 0:
        signed = -signed
    chosen = {}
    left_of, size = signed, abs(difference)
    for key in ("line", "name", "rank"):
        column = getattr(rows, key)[here]
        best, most = _largest(column, left_of)
        chosen[key] = best if best >= 0 and most >= MOST * size else -1
        if chosen[key] >= 0:
            inside = column == best
            here, left_of, size = here[inside], left_of[inside], most
    rank = chosen["rank"]
    on_rank = (rows.rank == rank) & (rows.group == group)
    now, before = (
        int(rows.time[on_rank & chosen_steps].sum())
        for chosen_steps in (rows.step == step, rows.step != step)
    )
    left = rank >= 0 and difference < 0 and now <= MOST * before
    return Part(group, difference, rank, chosen["name"], chosen["line"], left)


def _largest(keys: Ints, values: Ints) -> tuple[int, int]:
    """``(key, sum)`` of the largest sum; −1 and 0 of no rows."""
    if not len(keys):
        return -1, 0
    own, total = costliest(keys, values)
    return int(keys[own][0]), total


def with_small_ones(parts: Sequence[Part]) -> tuple[list[Part], list[Part]]:
    """``(large, small)`` parts: those of less than ``SMALL`` of the difference of the steps are small."""
    least = SMALL * abs(sum(part.difference for part in parts))
    large = [part for part in parts if abs(part.difference) >= least]
    return large, [part for part in parts if abs(part.difference) < least]


def place_parts(rows: PathRows, step: int) -> list[Part]:
    """The operators at their lines that differ most between the two steps, at most ``LISTED``."""
    signed = np.where(rows.step == step, rows.time, -rows.time)
    first, number = group_rows((rows.group, rows.name, rows.line))
    difference = sum_by(number, len(first), signed)
    order = np.argsort(-np.abs(difference), kind="stable")[:LISTED]
    return [
        Part(
            int(rows.group[first[place]]),
            int(difference[place]),
            name=int(rows.name[first[place]]),
            line=int(rows.line[first[place]]),
        )
        for place in order.tolist()
        if difference[place]
    ]
