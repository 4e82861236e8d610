"""Two whole recordings on one axis, and the part of it that is looked at in as many pieces as there are pixels.

::

    axis     0 ────────────────────────────────────▶
    before   [ lead-in ][ step 1 ]▒▒▒▒[ step 2  ][ rest ]
    after    [ lead ]▒▒▒[ step 1     ][ step 2 ]▒[ rest ]
                     gained      lost          gained

Their steps are matched in order by name, and within each pair of steps the clocks are tied at matched events
(``clock_ties.py``). The axis is the same however closely it is looked at: between two ties the side that takes less time waits at
the end. What is too short to be seen is told together with what follows, and what both sides wait for in turns stretches a piece.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.critical_path.cause_groups import groups_of_causes
from torch_tb_profiler.analysis.diff.clock_ties import LEAST_MATCHED, Drawn, further_ties
from torch_tb_profiler.analysis.diff.step_path import GroupTimes, Stretches
from torch_tb_profiler.analysis.match.events import match_steps, step_events
from torch_tb_profiler.analysis.match.names import same_texts
from torch_tb_profiler.analysis.match.order import common_subsequence
from torch_tb_profiler.store.columns import Ints, unique_values
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace

OUTSIDE = 200
"""Pieces of the axis on each side of the part that is looked at."""


class RecordedSide(NamedTuple):
    """A recording and rows of its steps, which ascend."""

    trace: Trace
    facts: Facts
    insight: Insight
    steps: Ints


class Pieces(msgspec.Struct, frozen=True):
    """A line through (axis, before, after), ns. Where both sides go on as the axis does they do the same; where one stands still it
    waits for the other.

    Attributes:
        axis, before, after: int64 of shape (points,), none falls.
        group: of the gap that ends at each point, as a number in ``GROUPS``, −1 none; int64 of shape (points,).
    """

    axis: Ints
    before: Ints
    after: Ints
    group: Ints


class AlignedRecordings(msgspec.Struct, frozen=True):
    """Two recordings on one axis.

    Attributes:
        before, after: moments of both clocks that stand above each other, ns after the first event, int64 of shape (ties,), none falls.
        axis: where they stand.
        spent: when the ends of steps waited for each group of causes, of both sides.
        operations: how many operations of the steps are matched, and of how many.
        begin, names: of the first pair of steps on both sides, of the recordings where there is none.
        steps: how many pairs of steps there are.
    """

    before: Ints
    after: Ints
    axis: Ints
    spent: tuple[GroupTimes, GroupTimes]
    operations: tuple[int, int]
    begin: tuple[int, int]
    names: tuple[str, str]
    steps: int

    @property
    def length(self) -> int:
        """Of the axis, ns."""
        return int(self.axis[-1])

    @property
    def together(self) -> bool:
        """Whether enough is matched to stand on one axis; else only the steps begin and end above each other."""
        found, total = self.operations
        return found >= LEAST_MATCHED * total > 0

    def pieces(self, begin: int, end: int, parts: int) -> Pieces:
        """The axis, from ``begin`` to ``end`` in about so many ``parts``, coarser before and behind."""
        begin, end = (min(max(0, time), self.length) for time in (begin, end))
        edges = np.concatenate(
            [
                np.linspace(low, high, count + 1).astype(np.int64)
                for low, high, count in (
                    (0, begin, OUTSIDE),
                    (begin, end, parts),
                    (end, self.length, OUTSIDE),
                )
            ]
        )
        last = len(self.axis) - 1
        # The tie before each edge and that behind it: what is wider than a part stands for itself.
        at = np.clip(np.searchsorted(self.axis, edges, side="right") - 1, 0, last)
        at = unique_values(np.concatenate((at, np.minimum(at + 1, last), np.array([0, last]))))
        axis = self.axis[at]
        fine = max(1, (end - begin) // parts)
        coarse = max(fine, begin // OUTSIDE, (self.length - end) // OUTSIDE)
        least = np.where((axis >= begin) & (axis <= end), fine, coarse)
        points, gaps = _told(axis, self.before[at], self.after[at], least)
        line = np.array(points, np.int64).reshape(-1, 3)
        group = np.full(len(line), -1, np.int64)
        if gaps:
            place, from_x, from_y = np.array(gaps, np.int64).T
            grown = self.spent[1].between(from_y, line[place, 2]) - self.spent[0].between(
                from_x, line[place, 1]
            )
            lost = line[place, 1] - line[place - 1, 1] == 0
            group[place] = np.where(lost[:, None], grown, -grown).argmax(axis=1)
        return Pieces(line[:, 0], line[:, 1], line[:, 2], group)


def _told(
    axis: Ints, before: Ints, after: Ints, least: Ints
) -> tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]:
    """The points of the line, and of each gap the place of its end among them and from which moments of both clocks it is told."""
    points = [(int(axis[0]), int(before[0]), int(after[0]))]
    gaps = []
    from_a, from_x, from_y = points[0]
    last = len(axis) - 2
    columns = (column[1:].tolist() for column in (axis, before, after, least))
    for i, (a, x, y, most) in enumerate(zip(*columns, strict=True)):
        net = (y - from_y) - (x - from_x)
        noise = (a - from_a) - max(x - from_x, y - from_y)
        if abs(net) < most and noise < most and i < last:
            continue
        if net:
            if a - abs(net) > from_a:
                points.append((a - abs(net), x + min(net, 0), y - max(net, 0)))
            gaps.append((len(points), from_x, from_y))
        points.append((a, x, y))
        from_a, from_x, from_y = a, x, y
    return points, gaps


def align_recordings(before: RecordedSide, after: RecordedSide) -> AlignedRecordings:
    """Two recordings on one axis."""
    before, after = _paired(before, after)
    drawn = [
        Drawn(side.trace, _path(side), step_events(side.trace, side.facts, side.steps))
        for side in (before, after)
    ]
    matched = match_steps(drawn[0].events, drawn[1].events)
    x, y = _step_ties(before), _step_ties(after)
    found = AlignedRecordings(
        x,
        y,
        np.zeros(len(x), np.int64),
        (GroupTimes.of(drawn[0].path), GroupTimes.of(drawn[1].path)),
        matched.operations,
        (int(x[1]), int(y[1])),
        (_first_name(before), _first_name(after)),
        len(before.steps),
    )
    if found.together:
        x, y = further_ties(drawn[0], drawn[1], matched, x, y)
    # Where no side has gained on the other nothing is told.
    kept = np.append(True, np.diff(y - x) != 0)
    kept[-1] = True
    x, y = x[kept], y[kept]
    axis = np.cumsum(np.maximum(np.diff(x, prepend=0), np.diff(y, prepend=0)))
    return replace(found, before=x, after=y, axis=axis)


def _paired(a: RecordedSide, b: RecordedSide) -> tuple[RecordedSide, RecordedSide]:
    """Both sides with the steps that stand for each other: in their order by name, numbers aside; of one each whatever its name."""
    if len(a.steps) == len(b.steps) == 1:
        return a, b
    names = [side.facts["steps"]["name"][side.steps] for side in (a, b)]
    i, j = common_subsequence(
        *same_texts((a.facts.strings, names[0], True), (b.facts.strings, names[1], True))
    )
    return a._replace(steps=a.steps[i]), b._replace(steps=b.steps[j])


def _first_name(side: RecordedSide) -> str:
    names = side.facts.strings.many(side.facts["steps"]["name"][side.steps[:1]])
    return names[0] if names else ""


def _step_ties(side: RecordedSide) -> Ints:
    """The begin of the recording, begins and ends of its steps, and its end, ns."""
    table, spans = side.facts["steps"], side.trace["spans"]
    edges = np.stack((table["start"][side.steps], table["end"][side.steps]), axis=1).ravel()
    end = int((spans["start"] + spans["dur"]).max(initial=0))
    return np.concatenate(([0], edges, [max(end, int(edges.max(initial=0)))])).astype(np.int64)


def _path(side: RecordedSide) -> Stretches:
    """What the ends of the steps waited for, on the clock of the recording."""
    path = side.insight["critical_path"]
    lasting = path["start"] < path["end"]
    return Stretches(
        path["start"][lasting],
        path["end"][lasting],
        groups_of_causes(side.facts.summary.has_device)[path["cause"][lasting]],
        path["event"][lasting].astype(np.int64),
    )
