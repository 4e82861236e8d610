"""Steps of all ranks side by side, and how communication shares them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import Intervals, measure, union
from torch_tb_profiler.analysis.distributed.collectives import Matches
from torch_tb_profiler.analysis.distributed.rank import SHARES, Rank
from torch_tb_profiler.analysis.distributed.waiting import Waits
from torch_tb_profiler.store.columns import Array, Ints, Mask

FARTHEST = 1 << 62
"""Times from here on are not added to."""


@dataclass(frozen=True)
class CommonSteps:
    """``names``: of the steps of the run. ``place``: for every rank the place of each of its own
    steps among them, -1 beyond the limit.
    """

    names: tuple[str, ...]
    place: tuple[Ints, ...]
    cut: int


def common_steps(ranks: Sequence[Rank], most: int) -> CommonSteps:
    """Steps with the same number are one step; without numbers those of the same name; where a rank
    has one twice, those at the same place.

    ``most``: steps that are kept, the first ones.
    """
    numbered = all(number >= 0 for rank in ranks for number in rank.step_number) and all(
        len(set(rank.step_number)) == len(rank.step_number) for rank in ranks
    )
    named = all(len(set(rank.step_name)) == len(rank.step_name) for rank in ranks)
    names: dict[object, str] = {}
    for rank in ranks:
        for place, name in enumerate(rank.step_name):
            names.setdefault(_key(rank, place, numbered, named), name)
    keys = sorted(names, key=lambda key: (isinstance(key, str), key)) if numbered else list(names)
    place_of = {key: place for place, key in enumerate(keys[:most])}
    places = tuple(
        np.array(
            [
                place_of.get(_key(rank, place, numbered, named), -1)
                for place in range(len(rank.step_name))
            ],
            np.int64,
        )
        for rank in ranks
    )
    return CommonSteps(tuple(names[key] for key in keys[:most]), places, max(0, len(keys) - most))


def _key(rank: Rank, place: int, numbered: bool, named: bool) -> object:
    return rank.step_number[place] if numbered else rank.step_name[place] if named else place


def step_of(steps: CommonSteps, rank: int, own: Ints) -> Ints:
    """The common step of a rank's own steps; -1 outside all."""
    return np.concatenate((steps.place[rank], [-1]))[own] if len(own) else own


def overlap_shares(ranks: Sequence[Rank], steps: CommonSteps) -> dict[str, Ints]:
    """Computation, overlap, communication and other in ns, int64 of shape (ranks, steps); -1 where
    a rank has no such step.
    """
    found = {name: np.full((len(ranks), len(steps.names)), -1, np.int64) for name in SHARES}
    for place, rank in enumerate(ranks):
        known = steps.place[place] >= 0
        for number, name in enumerate(SHARES):
            found[name][place, steps.place[place][known]] = rank.shares[number][known]
    return found


def own_waits(rank: int, count: int, matches: Matches, waits: Waits) -> Ints:
    """For each of a rank's ``count`` collectives how long it waited, ns; -1 where that is not told:
    not matched, not split, or left out.
    """
    row = matches.row[rank]
    used = (row >= 0) & ~waits.spoiled
    found = np.full(count, -1, np.int64)
    found[row[used]] = waits.wait[rank, used]
    return found


@dataclass(frozen=True)
class CollectiveTime:
    """Time with at least one collective under way, in ns per group; its three parts add up to it.
    int64 of shape (groups,).
    """

    waiting: Ints
    transfer: Ints
    unsplit: Ints

    @property
    def total(self) -> Ints:
        return self.waiting + self.transfer + self.unsplit


def split(start: Ints, end: Ints, wait: Ints, group: Array, groups: int) -> CollectiveTime:
    """Share the time of a rank's collectives: moments with a transfer first, then those with
    waiting, then the rest.

    Args:
        start, end: ns. wait: ns from start, -1 not told. group: to which each belongs, -1 to none.
    """
    inside = group >= 0
    start, end, wait, group = start[inside], end[inside], wait[inside], group[inside]
    first = int(start.min()) if len(start) else 0
    start, end = start - first, end - first
    # Groups side by side on one line: one union serves all.
    width = (int(end.max()) if len(end) else 0) + 1
    if groups > 1 and width * groups >= FARTHEST:
        each = [
            split(
                start[group == number],
                end[group == number],
                wait[group == number],
                np.zeros(int((group == number).sum()), np.int64),
                1,
            )
            for number in range(groups)
        ]
        return CollectiveTime(
            *(
                np.concatenate([getattr(one, name) for one in each])
                for name in ("waiting", "transfer", "unsplit")
            )
        )
    shift = group * width
    edges = np.arange(groups, dtype=np.int64) * width
    told = wait >= 0

    def covered(chosen: Mask, begin: Ints) -> Ints:
        points: Intervals = union((begin + shift)[chosen], (end + shift)[chosen])
        return measure(points, edges, edges + width)

    transfer = covered(told, start + np.maximum(wait, 0))
    known = covered(told, start)
    everything = covered(np.ones(len(start), np.bool_), start)
    return CollectiveTime(known - transfer, transfer, everything - known)


def waiting_shares(
    ranks: Sequence[Rank], steps: CommonSteps, matches: Matches, waits: Waits
) -> dict[str, Ints]:
    """``waiting``, ``transfer``, ``unsplit`` and ``late`` in ns, int64 of shape (ranks, steps); -1
    where a rank has no such step.
    """
    shape = (len(ranks), len(steps.names))
    found = {
        name: np.full(shape, -1, np.int64) for name in ("waiting", "transfer", "unsplit", "late")
    }
    for place, rank in enumerate(ranks):
        step = step_of(steps, place, rank.step)
        shares = split(
            rank.start, rank.end, own_waits(place, len(rank), matches, waits), step, shape[1]
        )
        late = np.zeros(shape[1], np.int64)
        used = (matches.row[place] >= 0) & ~waits.spoiled
        at = step[matches.row[place, used]] if used.any() else np.zeros(0, np.int64)
        np.add.at(late, at[at >= 0], waits.late[place, used][at >= 0])
        has = np.zeros(shape[1], np.bool_)
        has[steps.place[place][steps.place[place] >= 0]] = True
        for name, values in (
            ("waiting", shares.waiting),
            ("transfer", shares.transfer),
            ("unsplit", shares.unsplit),
            ("late", late),
        ):
            found[name][place, has] = values[has]
    return found
