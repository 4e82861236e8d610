"""Ranks between which transfers are slow, and ranks that begin late.

A collective ends everywhere at once, so one group alone does not tell which of its links is slow. But transfers of one
kind and size between other ranks, or in other groups, are alike::

    send 64 MiB   0→1  5.1 ms    1→2  5.0 ms    2→3  19.8 ms    3→0  5.2 ms     slow: 2→3, 3.9 times
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, medians
from torch_tb_profiler.analysis.distributed.matching import gather, message_sizes
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.store.columns import Array

TIMES = 2.0
"""How many times as long a transfer takes on a slow link."""
LEAST_SEEN = 3
"""So few transfers tell nothing."""
LATE, DEVIATIONS = 1.0, 5.0
"""A rank begins late by so many steps, and so many times the others' median distance from each other."""


class SlowLink(msgspec.Struct, frozen=True):
    """Ranks (indices) between which transfers of a kind take ``times`` as long as between others; lost: ns per step."""

    ranks: tuple[int, ...]
    kind: str
    times: float
    lost: float


def slow_links(figures: RunFigures) -> tuple[SlowLink, ...]:
    """Those that cost most first."""
    matches, waits = figures.matched.matches, figures.waits
    if not len(matches):
        return ()
    moved = _transfers(figures)
    known = np.flatnonzero((moved >= 0) & ~waits.spoiled)
    members = [tuple(matches.rank[matches.of_match(i)].tolist()) for i in known.tolist()]
    kinds = [matches.labels[label].kind for label in matches.label[known].tolist()]
    sizes = matches.reduced(np.maximum, message_sizes(figures.ranks, matches))[known]
    numbers: dict[object, int] = {}
    like = np.array(
        [
            numbers.setdefault((kind, size, len(own)), len(numbers))
            for kind, size, own in zip(kinds, sizes.tolist(), members, strict=True)
        ],
        np.int64,
    )
    link = np.array([numbers.setdefault(own, len(numbers)) for own in members], np.int64)
    steps = max(len(figures.steps.names), 1)
    found: dict[tuple[int, ...], SlowLink] = {}
    first, group = group_rows((like, link))
    times = medians(group, len(first), moved[known])
    seen = np.bincount(group, minlength=len(first))
    for i in range(len(first)):
        others = np.flatnonzero((like[first] == like[first[i]]) & (np.arange(len(first)) != i))
        others = others[seen[others] >= LEAST_SEEN]
        if seen[i] < LEAST_SEEN or len(others) < 2:
            continue
        usual = float(np.median(times[others]))
        if usual > 0 and times[i] >= TIMES * usual:
            own, lost = members[first[i]], float((times[i] - usual) * seen[i]) / steps
            before = found[own].lost if own in found else 0.0
            found[own] = SlowLink(own, kinds[first[i]], float(times[i]) / usual, before + lost)
    return tuple(sorted(found.values(), key=lambda one: -one.lost))


def _transfers(figures: RunFigures) -> Array:
    """Of each match the shortest time that an entry takes without waiting, ns; −1 unknown."""
    matches, wait = figures.matched.matches, figures.waits.wait
    most = np.iinfo(np.int64).max
    time = gather(matches, [own.end - own.start for own in figures.ranks]) - wait
    moved = matches.reduced(np.minimum, np.where(wait >= 0, time, most))
    return np.asarray(np.where(moved == most, -1, np.maximum(moved, 0)))


def late_start(figures: RunFigures, mean: float) -> tuple[int, float] | None:
    """The rank that begins the first common step far later than the others, and by how much, ns; None nobody, or the
    clocks do not tell. ``mean``: length of a step.
    """
    begins = {}
    for number in np.flatnonzero(figures.tied).tolist():
        own, clock = figures.ranks[number], figures.aligned[number]
        row = np.flatnonzero(figures.steps.place[number] == 0)
        if clock.method == "none" or not len(row):
            return None
        begins[number] = float(own.step_start[row[0]] + clock.offset)
    if len(begins) < 2:
        return None
    last = max(begins, key=lambda number: begins[number])
    rest = np.array([begin for number, begin in begins.items() if number != last])
    late = begins[last] - float(rest.max())
    spread = float(np.median(np.abs(rest - np.median(rest))))
    return (last, late) if late > max(LATE * mean, DEVIATIONS * spread) else None
