"""The steps of all ranks side by side, and how communication divides them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from msgspec.structs import asdict

from torch_tb_profiler.analysis.arrays.grouping import mask_of, scatter, sum_by
from torch_tb_profiler.analysis.distributed.alignment import ClockOffset
from torch_tb_profiler.analysis.distributed.collectives import Matches
from torch_tb_profiler.analysis.distributed.rank import SHARES, Rank
from torch_tb_profiler.analysis.distributed.waiting import Waits
from torch_tb_profiler.store.columns import Array, Ints, Mask


class CommonSteps(msgspec.Struct, frozen=True):
    """The steps of a run.

    names: their names.
    place: for every rank the index of each of its own steps among them, −1 beyond the limit.
    cut: number of steps beyond the limit.
    """

    names: tuple[str, ...]
    place: tuple[Ints, ...]
    cut: int


def common_steps(
    ranks: Sequence[Rank], most: int, clocks: Sequence[ClockOffset] = ()
) -> CommonSteps:
    """Match steps by number; without numbers by name; if a rank repeats a name, by position, counted from the step of the
    rank with most steps that was taken at the same time.

    ``most``: number of steps that are kept, the first ones. ``clocks``: of each rank, where they are known.
    """
    numbered = all(number >= 0 for rank in ranks for number in rank.step_number) and all(
        len(set(rank.step_number)) == len(rank.step_number) for rank in ranks
    )
    named = all(len(set(rank.step_name)) == len(rank.step_name) for rank in ranks)
    first = [0] * len(ranks) if numbered or named else _first_steps(ranks, clocks)
    names: dict[object, str] = {}
    for rank, begin in zip(ranks, first, strict=True):
        for step, name in enumerate(rank.step_name):
            names.setdefault(_key(rank, step, numbered, named, begin), name)
    in_order = numbered or not named
    keys = sorted(names, key=lambda key: (isinstance(key, str), key)) if in_order else list(names)
    index_of = {key: index for index, key in enumerate(keys[:most])}
    indices = []
    for rank, begin in zip(ranks, first, strict=True):
        steps = range(len(rank.step_name))
        own = [_key(rank, step, numbered, named, begin) for step in steps]
        indices.append(np.array([index_of.get(key, -1) for key in own], np.int64))
    kept = tuple(names[key] for key in keys[:most])
    return CommonSteps(kept, tuple(indices), max(0, len(keys) - most))


def _key(rank: Rank, step: int, numbered: bool, named: bool, first: int) -> object:
    return rank.step_number[step] if numbered else rank.step_name[step] if named else first + step


def _first_steps(ranks: Sequence[Rank], clocks: Sequence[ClockOffset]) -> list[int]:
    """Of each rank which step of the rank with most steps is its first, by the clocks; 0 where they do not tell."""
    most = max(range(len(ranks)), key=lambda i: len(ranks[i].step_start), default=0)
    if len(clocks) != len(ranks) or not clocks or clocks[most].method == "none":
        return [0] * len(ranks)
    first = []
    for rank, clock in zip(ranks, clocks, strict=True):
        longest, ahead = ranks[most], clock.offset - clocks[most].offset
        other = longest.step_start
        if clock.method == "none" or not len(rank.step_start) or not len(other):
            first.append(0)
            continue
        middle = (rank.step_start + rank.step_end) // 2 + ahead
        place = np.maximum(np.searchsorted(other, middle, "right") - 1, 0)
        same = np.flatnonzero((other[place] <= middle) & (middle <= longest.step_end[place]))
        # The median bears steps that one of them did not record.
        first.append(round(float(np.median(place[same] - same))) if len(same) else 0)
    return first


def job_steps(
    ranks: Sequence[Rank], steps: CommonSteps, own: Sequence[tuple[int, Array, Array]]
) -> tuple[Array, Array, Ints]:
    """``(begin, end, rank that ends it)`` of the common steps of a job, ns; −1 and both 0 where not all ranks recorded it.

    A step begins when the last of the ranks begins it and lasts until the last of them begins the next, so that steps neither
    overlap nor leave time out; the last one, and one before steps that were not recorded, until the last rank ends it.

    own: the ranks that step together, with begin and end of each of their own steps on the common clock.
    """
    shape = (len(own), len(steps.names))
    start, end = (np.full(shape, -np.inf, np.float64) for _ in range(2))
    number = np.full(shape[1], -1, np.int64)
    for row, (rank, begins, ends) in enumerate(own):
        place = steps.place[rank]
        known = place >= 0
        number[place[known]] = np.array(ranks[rank].step_number, np.int64)[known]
        start[row, place[known]], end[row, place[known]] = begins[known], ends[known]
    shared = np.flatnonzero(np.isfinite(start).all(axis=0) & bool(own))
    shared = shared[np.argsort(start[:, shared].max(axis=0, initial=0), kind="stable")]
    if len(own) > 1:
        here, there = shared[:-1], shared[1:]
        known = (there == here + 1) & ((number[here] < 0) | (number[there] == number[here] + 1))
        end[:, here[known]] = start[:, there[known]]
    begin, until, last = np.zeros(shape[1]), np.zeros(shape[1]), np.full(shape[1], -1)
    begin[shared], until[shared] = (each[:, shared].max(axis=0, initial=0) for each in (start, end))
    if len(shared):
        last[shared] = np.array([rank for rank, _, _ in own])[::-1][
            end[::-1, shared].argmax(axis=0)
        ]
    return begin, until, last


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
    entry = matches.of_rank(rank)
    # Of those that the profilers' start spoiled nothing is known.
    entry = entry[~waits.spoiled[matches.match[entry]]]
    wait = scatter(count, matches.row[entry], waits.wait[entry])
    return wait


class CollectiveTime(msgspec.Struct, frozen=True):
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
    begin = start + np.maximum(wait, 0)
    known, chosen = (group >= 0) & (wait >= 0), group >= 0
    transfer = covered(begin[known], end[known], group[known], groups)
    split_time = covered(start[known], end[known], group[known], groups)
    everything = covered(start[chosen], end[chosen], group[chosen], groups)
    return CollectiveTime(split_time - transfer, transfer, everything - split_time)


def covered(start: Ints, end: Ints, group: Array, groups: int) -> Ints:
    """Time that any interval of each group covers.

    There is a gap before the i-th start of a group if i of its intervals have ended before it, no matter which ones.
    """
    filled = end > start
    start, end, group = start[filled], end[filled], group[filled]
    if not len(group):
        return np.zeros(groups, np.int64)
    order = np.lexsort((start, group))
    start, end, group = start[order], end[np.lexsort((end, group))], group[order]
    opens = np.flatnonzero((group[1:] != group[:-1]) | (start[1:] > end[:-1])) + 1
    first, last = np.append(0, opens), np.append(opens, len(group)) - 1
    return sum_by(group[first], groups, end[last] - start[first])


def waiting_shares(
    ranks: Sequence[Rank], steps: CommonSteps, matches: Matches, waits: Waits, judged: Mask
) -> dict[str, Ints]:
    """Waiting, transfer, unsplit and late, int64 ns (ranks, steps); −1 for missing steps. ``judged``: the matches that tell who
    is late: so long at least one of a step has begun on another rank and not on this one.
    """
    shape = (len(ranks), len(steps.names))
    shares_by_name = {
        name: np.full(shape, -1, np.int64) for name in ("waiting", "transfer", "unsplit", "late")
    }
    for index, rank in enumerate(ranks):
        step = step_of(steps, index, rank.step)
        shares = split(
            rank.start, rank.end, own_waits(index, len(rank), matches, waits), step, shape[1]
        )
        entry = matches.of_rank(index)
        entry = entry[judged[matches.match[entry]] & (step[matches.row[entry]] >= 0)]
        begin = waits.start[entry]
        # Collectives that wait at the same time are late once.
        late = covered(begin - waits.late[entry], begin, step[matches.row[entry]], shape[1])
        has_step = mask_of(shape[1], steps.place[index][steps.place[index] >= 0])
        for name, values in {**asdict(shares), "late": late}.items():
            shares_by_name[name][index, has_step] = values[has_step]
    return shares_by_name
