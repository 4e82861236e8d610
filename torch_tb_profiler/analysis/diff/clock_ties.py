"""Moments of two recordings that stand above each other on one axis: begins and ends of matched events.

::

    before   [ data loading        ][ forward ]    [ backward ]
    after    [ d ]                  [ forward    ] [ backward ]
             |                      |              |          |

Each side has one clock, for its threads and its devices alike, so nothing is drawn backward. The clocks are tied best of
all where the end of both steps waited for an event. Between two ties one side takes longer than the other.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of, places_in
from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS
from torch_tb_profiler.analysis.diff.step_path import Stretches
from torch_tb_profiler.analysis.match.events import Matched, StepEvents
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.model import Trace

LEAST_MATCHED = 0.6
"""Share of operations that must be matched for two recordings to stand on one axis."""


class Drawn(msgspec.Struct, frozen=True):
    """Steps of a recording with their events. ``trace``: the recording, ``path``: what the ends of the steps waited for."""

    trace: Trace
    path: Stretches
    events: StepEvents

    def times(self, row: Ints) -> tuple[Ints, Ints]:
        """Begin and end of rows of spans on the clock of the path, ns."""
        spans = self.trace["spans"]
        start = spans["start"][row]
        return start, start + spans["dur"][row]


def further_ties(
    before: Drawn, after: Drawn, matched: Matched, x: Ints, y: Ints
) -> tuple[Ints, Ints]:
    """Ties and those that follow from matched events, ascending; what contradicts an earlier one is left out."""
    for own_x, own_y in _candidates(before, after, matched):
        x, y = _joined(x, y, own_x, own_y)
    for group in range(len(GROUPS)):
        x, y = _joined(x, y, *_runs(before.path, after.path, group, x, y))
    return x, y


def _candidates(before: Drawn, after: Drawn, matched: Matched) -> Iterator[tuple[Ints, Ints]]:
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
        edges = side.times(row)
        path = (side.path.start, side.path.end)
        moments.append(np.concatenate(edges))
        met.append(
            np.concatenate([_met(side, row, *both) for both in zip(path, edges, strict=True)])
        )
    on_device = np.tile(np.arange(len(rows[0])) >= len(matched.host[0]), 2)
    track = before.trace["spans"]["track"][rows[0]]
    main = np.bincount(track[: len(matched.host[0])]).argmax() if len(matched.host[0]) else -1
    both, one = met[0] & met[1], met[0] | met[1]
    levels = (both, one & on_device, one & ~on_device, np.tile(track == main, 2) & ~on_device)
    for level in levels:
        yield moments[0][level], moments[1][level]


def _runs(before: Stretches, after: Stretches, group: int, x: Ints, y: Ints) -> tuple[Ints, Ints]:
    """Begins and ends of what both paths spend in a group at one go between two ties."""
    edges, places = [], []
    for path, tie in ((before, x), (after, y)):
        own = np.flatnonzero(path.group == group)
        # A run goes on over stretches and ends at a tie.
        place = np.searchsorted(tie, path.start[own], side="right") - 1
        new = np.append(True, (np.diff(own) > 1) | (np.diff(place) > 0))[: len(own)]
        first = np.flatnonzero(new)
        last = np.append(first[1:], len(own))[: len(first)] - 1
        start, end = path.start[own[first]], path.end[own[last]]
        once = np.bincount(place[first], minlength=len(x))[place[first]] == 1
        inside = once & (end <= tie[np.minimum(place[first] + 1, len(tie) - 1)])
        edges.append((start[inside], end[inside]))
        places.append(place[first][inside])
    _, i, j = np.intersect1d(places[0], places[1], assume_unique=True, return_indices=True)
    (start_x, end_x), (start_y, end_y) = edges
    return np.concatenate((start_x[i], end_x[i])), np.concatenate((start_y[j], end_y[j]))


def _met(side: Drawn, row: Ints, edge: Ints, moment: Ints) -> Mask:
    """Whether a stretch of an event begins, or ends, when the event does."""
    place = places_in(side.trace["spans"].n + 1, row)
    at = place[side.path.event]
    own = np.flatnonzero(at >= 0)
    found = mask_of(len(row), at[own][edge[own] == moment[at[own]]])
    return found


def _joined(x: Ints, y: Ints, own_x: Ints, own_y: Ints) -> tuple[Ints, Ints]:
    """Ties and as many further ones as keep the order of both clocks."""
    if not len(own_x):
        return x, y
    order = np.lexsort((own_y, own_x))
    own_x, own_y = own_x[order], own_y[order]
    last = len(x) - 2
    low = [
        np.clip(np.searchsorted(t, own, "left") - 1, 0, last) for t, own in ((x, own_x), (y, own_y))
    ]
    high = [
        np.clip(np.searchsorted(t, own, "right") - 1, 0, last)
        for t, own in ((x, own_x), (y, own_y))
    ]
    fits = np.maximum(*low) <= np.minimum(*high)
    own_x, own_y = own_x[fits], own_y[fits]
    rising = _rising(own_y)
    x, y = np.concatenate((x, own_x[rising])), np.concatenate((y, own_y[rising]))
    # Of what keeps the order of both clocks the sum does, and two sorted halves are merged in no time.
    order = np.argsort(x + y, kind="stable")
    x, y = x[order], y[order]
    new = np.append(True, (x[1:] != x[:-1]) | (y[1:] != y[:-1]))
    return x[new], y[new]


def _rising(values: Ints) -> Ints:
    """Positions of a longest subsequence that does not fall.

    A value that no earlier one exceeds and no later one falls below is in it; between two of them it is searched for.
    """
    n = len(values)
    if not n:
        return np.zeros(0, np.int64)
    least = np.minimum.accumulate(values[::-1])[::-1]
    sure = (np.maximum.accumulate(values) <= values) & (values <= least)
    begin = np.flatnonzero(~sure & np.append(True, sure[:-1]))
    end = np.flatnonzero(~sure & np.append(sure[1:], True)) + 1
    found = [np.flatnonzero(sure)]
    for first, last in zip(begin.tolist(), end.tolist(), strict=True):
        found.append(first + _longest(values[first:last].tolist()))
    return np.sort(np.concatenate(found), kind="stable")


def _longest(values: list[int]) -> Ints:
    """Positions of a longest subsequence that does not fall, of a few values."""
    ends: list[int] = []
    at: list[int] = []
    before = [-1] * len(values)
    for i, value in enumerate(values):
        place = bisect_right(ends, value)
        if place == len(ends):
            ends.append(value)
            at.append(i)
        else:
            ends[place], at[place] = value, i
        if place:
            before[i] = at[place - 1]
    chain = [at[-1]]
    while (previous := before[chain[-1]]) >= 0:
        chain.append(previous)
    return np.array(chain[::-1])
