"""The steps of all ranks side by side, and how communication divides them."""

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
"""Limit for sums of times."""


@dataclass(frozen=True)
class CommonSteps:
    """The steps of a run.

    names: their names.
    place: for every rank the index of each of its own steps among them, −1 beyond the limit.
    cut: number of steps beyond the limit.
    """

    names: tuple[str, ...]
    place: tuple[Ints, ...]
    cut: int


def common_steps(ranks: Sequence[Rank], most: int) -> CommonSteps:
    """Match steps by number; without numbers by name; if a rank repeats a name, by position.

    ``most``: number of steps that are kept, the first ones.
    """
    numbered = all(number >= 0 for rank in ranks for number in rank.step_number) and all(
        len(set(rank.step_number)) == len(rank.step_number) for rank in ranks
    )
    named = all(len(set(rank.step_name)) == len(rank.step_name) for rank in ranks)
    names: dict[object, str] = {}
    for rank in ranks:
        for step, name in enumerate(rank.step_name):
            names.setdefault(_key(rank, step, numbered, named), name)
    keys = sorted(names, key=lambda key: (isinstance(key, str), key)) if numbered else list(names)
    index_of = {key: index for index, key in enumerate(keys[:most])}
    indices = []
    for rank in ranks:
        own = [_key(rank, step, numbered, named) for step in range(len(rank.step_name))]
        indices.append(np.array([index_of.get(key, -1) for key in own], np.int64))
    kept = tuple(names[key] for key in keys[:most])
    return CommonSteps(kept, tuple(indices), max(0, len(keys) - most))


def _key(rank: Rank, step: int, numbered: bool, named: bool) -> object:
    return rank.step_number[step] if numbered else rank.step_name[step] if named else step


def step_of(steps: CommonSteps, rank: int, own: Ints) -> Ints:
    """The common step of a rank's own steps; −1 outside all."""
    return np.append(steps.place[rank], -1)[own]


def overlap_shares(ranks: Sequence[Rank], steps: CommonSteps) -> dict[str, Ints]:
    """``SHARES`` in int64 ns of shape (ranks, steps); −1 for missing steps."""
    shares = {name: np.full((len(ranks), len(steps.names)), -1, np.int64) for name in SHARES}
    for index, rank in enumerate(ranks):
        known = steps.place[index] >= 0
        for number, name in enumerate(SHARES):
            shares[name][index, steps.place[index][known]] = rank.shares[number][known]
    return shares


def own_waits(rank: int, count: int, matches: Matches, waits: Waits) -> Ints:
    """How long each of a rank's ``count`` collectives waited, ns; −1 unknown."""
    row = matches.row[rank]
    used = (row >= 0) & ~waits.spoiled
    wait = np.full(count, -1, np.int64)
    wait[row[used]] = waits.wait[rank, used]
    return wait


@dataclass(frozen=True)
class CollectiveTime:
    """Time with a collective in flight, int64 ns of shape (groups,); its parts add up."""

    waiting: Ints
    transfer: Ints
    unsplit: Ints

    @property
    def total(self) -> Ints:
        return self.waiting + self.transfer + self.unsplit


def split(start: Ints, end: Ints, wait: Ints, group: Array, groups: int) -> CollectiveTime:
    """Divide the time of a rank's collectives: moments with a transfer first, then with waiting,
    then the rest.

    start, end: ns.
    wait: ns from start, −1 unknown.
    group: that each belongs to, −1 none.
    """
    inside = group >= 0
    start, end, wait = start[inside], end[inside], wait[inside]
    group = group[inside].astype(np.int64)
    first = int(start.min()) if len(start) else 0
    start, end = start - first, end - first
    # The groups are laid out one after the other on one time axis, so one union serves all.
    width = (int(end.max()) if len(end) else 0) + 1
    if groups > 1 and width * groups >= FARTHEST:
        own = [np.flatnonzero(group == number) for number in range(groups)]
        parts = [split(start[i], end[i], wait[i], np.zeros(len(i), np.int64), 1) for i in own]
        columns = (vars(part).values() for part in parts)
        return CollectiveTime(*(np.concatenate(column) for column in zip(*columns, strict=True)))
    shift = group * width
    edges = np.arange(groups, dtype=np.int64) * width
    is_split = wait >= 0

    def covered(chosen: Mask, begin: Ints) -> Ints:
        points: Intervals = union((begin + shift)[chosen], (end + shift)[chosen])
        return measure(points, edges, edges + width)

    transfer = covered(is_split, start + np.maximum(wait, 0))
    known = covered(is_split, start)
    everything = covered(np.ones(len(start), np.bool_), start)
    return CollectiveTime(known - transfer, transfer, everything - known)


def waiting_shares(
    ranks: Sequence[Rank], steps: CommonSteps, matches: Matches, waits: Waits
) -> dict[str, Ints]:
    """Waiting, transfer, unsplit and late, int64 ns (ranks, steps); −1 for missing steps."""
    shape = (len(ranks), len(steps.names))
    shares_by_name = {
        name: np.full(shape, -1, np.int64) for name in ("waiting", "transfer", "unsplit", "late")
    }
    for index, rank in enumerate(ranks):
        step = step_of(steps, index, rank.step)
        shares = split(
            rank.start, rank.end, own_waits(index, len(rank), matches, waits), step, shape[1]
        )
        late = np.zeros(shape[1], np.int64)
        used = (matches.row[index] >= 0) & ~waits.spoiled
        late_step = step[matches.row[index, used]] if used.any() else np.zeros(0, np.int64)
        np.add.at(late, late_step[late_step >= 0], waits.late[index, used][late_step >= 0])
        has_step = np.zeros(shape[1], np.bool_)
        has_step[steps.place[index][steps.place[index] >= 0]] = True
        for name, values in {**vars(shares), "late": late}.items():
            shares_by_name[name][index, has_step] = values[has_step]
    return shares_by_name
