"""The rank that launched each piece of device work where ids of several ranks clash.

A device is taken as a whole where one rank's launches fit it and no other's do as well. Where ranks
share a device, or several fit, each piece of work is looked at by itself, and it belongs to a rank
only if no other assignment of the launches of its id to the work of its id is possible::

    id 5   launch of 100      launch of 101
                     work              work      each ended its wait before the next launch: clear
    id 6   launch of 100  launch of 101
                                    work  work   either may be of either: unclear
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    extreme_by,
    group_rows,
    positions_of,
    same_keys,
)
from torch_tb_profiler.analysis.facts.host_names import GRAPH_LAUNCH, name_mask
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, Mask, unique_values
from torch_tb_profiler.store.model import Trace

CLOCK_NS = 10_000
"""Clocks of host and device differ: work may seem to begin so long before its launch."""
MOST_WAIT_NS = 10_000_000_000
"""Work that begins longer after a launch was not launched by it."""
_LEAST = 4
"""Ids of a device that must have launches, and by which one rank must fit better than another: fewer prove nothing."""
_AGAINST = 0.1
"""Share of a rank's launches of a device's ids that may be later than the work."""
_MISSING = 0.8
"""Share of a device's ids that one rank launched and another did not: it is not the other's."""
_SAME = 0.5
"""Share of a device's ids from which on it repeats those of another device."""
_TELLING = 8
"""Launches and works whose places in the file, or equal numbers, tell something: fewer may be so by chance."""
_NO_WORK = regex(
    r"\w*?(?:Synchron|Malloc|Free|Event|Query|Attribute|Occupancy|GetDevice|SetDevice|StreamWait|Capturing|GetLastError|PeekAtLast)"
)
"""Calls that have a correlation id as all calls do, and launch nothing."""


class Launches:
    """Runtime calls that launch work, and the rank of each."""

    def __init__(
        self, trace: Trace, calls: Ints, rank: Ints, ranks: int, windows: tuple[Ints, Ints]
    ) -> None:
        """calls: rows of spans with a correlation id; rank: of each, in [0, ranks); windows: when the host
        events of each rank begin and end.
        """
        spans = trace["spans"]
        name = spans["name"][calls]
        launches = ~name_mask(trace.strings, name, _NO_WORK.match)[name]
        calls, rank, name = calls[launches], rank[launches], name[launches]
        self.trace, self.calls, self.rank, self.ranks = trace, calls, rank, ranks
        self.windows = windows
        self.id, self.start = spans["correlation"][calls], spans["start"][calls]
        self.clash, self.distinct = self._ids_told()
        self.of_graph = name_mask(trace.strings, name, GRAPH_LAUNCH.match)[name]

    def _ids_told(self) -> tuple[bool, bool]:
        """Whether an id is of several ranks, and whether no id can be: a few launches, with ids in one
        range, do not show that.
        """
        first = group_rows((self.id, self.rank))[0]
        low = np.sort(extreme_by(np.minimum, self.rank, self.ranks, self.id))
        high = np.sort(extreme_by(np.maximum, self.rank, self.ranks, self.id))
        clash = len(unique_values(self.id[first])) < len(first)
        few = bool((np.bincount(self.rank, minlength=self.ranks) < _TELLING).any())
        return clash, not clash and not (few and (low[1:] <= high[:-1]).any())

    def first(self, rank: int) -> tuple[Ints, Ints, Ints]:
        """Of one rank its distinct ids ascending, the first start of each, and how many works its launches may have."""
        rows = np.flatnonzero(self.rank == rank)
        ids, group = np.unique(self.id[rows], return_inverse=True)
        start = extreme_by(np.minimum, group, len(ids), self.start[rows])
        most = np.bincount(
            group, weights=np.where(self.of_graph[rows], 1 << 40, 1), minlength=len(ids)
        )
        return ids, start, most.astype(np.int64)

    def alone(self, start: Ints) -> Ints:
        """The only rank that was recorded when work began, or so long before as it may wait; −1 several or none."""
        low, high = self.windows[0] - CLOCK_NS, self.windows[1] + MOST_WAIT_NS
        began, order = np.searchsorted(np.sort(low), start, side="right"), np.argsort(low)
        ended = np.searchsorted(np.sort(high), start, side="left")
        # Of those that began, all but one ended: it is the one that ends last.
        last = np.maximum.accumulate(high[order])
        holder = order[np.searchsorted(last, last)] if len(order) else order
        return np.where(began - ended == 1, np.append(holder, -1)[began - 1], -1)

    def blocks(self) -> tuple[Ints, Ints] | None:
        """First and last place in the file of each rank's launches; None where ranks are interleaved, or have few."""
        many = np.bincount(self.rank, minlength=self.ranks)
        if (many[many > 0] < _TELLING).any():
            return None
        place = self.trace["spans"]["ordinal"][self.calls].astype(np.int64)
        low = extreme_by(np.minimum, self.rank, self.ranks, place)
        high = extreme_by(np.maximum, self.rank, self.ranks, place)
        order = np.argsort(low)
        return None if (low[order][1:] <= high[order][:-1]).any() else (low, high)


def owners_of_work(
    launches: Launches, work: Ints, device: Ints, number: Ints, uses: dict[int, Mask]
) -> Ints:
    """The rank of each piece of device work, int64 of its shape; −1 unclear.

    Args:
        launches: the launches of all ranks.
        work: rows of spans that are device work.
        device: the device of each, numbered without gaps.
        number: its number as recorded, −1 unknown.
        uses: by such a number the ranks whose allocator used it.
    """
    spans = launches.trace["spans"]
    ids, start = spans["correlation"][work], spans["start"][work]
    fit = _Fit(launches, device, ids, start)
    fit.keep_blocks(launches, device, spans["ordinal"][work].astype(np.int64))
    fit.keep_users(device, number, uses)
    owner = fit.owners()
    rank = owner[device]
    rank[fit.crowded(ids)] = -1
    rank = np.where(launches.alone(start) >= 0, launches.alone(start), rank)
    apart = np.flatnonzero((rank < 0) & (ids > 0))
    if len(apart):
        free = ~_consumed(launches, ids, rank)
        rank[apart] = _one_by_one(launches, free, work[apart], device[apart])
    return rank


class _Fit:
    """How well the launches of each rank fit the work of each device."""

    def __init__(self, launches: Launches, device: Ints, ids: Ints, start: Ints) -> None:
        devices, ranks = int(device.max(initial=-1)) + 1, launches.ranks
        firsts = [launches.first(rank) for rank in range(ranks)]
        self.ids: list[Ints] = []
        self.launched = np.zeros((devices, ranks), np.int64)
        against = np.zeros((devices, ranks), np.int64)
        known = np.zeros(devices, np.int64)
        too_many = []
        for each in range(devices):
            rows = np.flatnonzero((device == each) & (ids > 0))
            own, group, works = np.unique(ids[rows], return_inverse=True, return_counts=True)
            begin = extreme_by(np.minimum, group, len(own), start[rows])
            several, most = np.zeros(len(own), np.int64), np.zeros(len(own), np.int64)
            for rank, (launched, first, room) in enumerate(firsts):
                at = positions_of(launched, own)
                there = at >= 0
                self.launched[each, rank] = int(there.sum())
                against[each, rank] = int((~_follows(first[at[there]], begin[there])).sum())
                several += there
                most[there] = np.maximum(most[there], room[at[there]])
            self.ids.append(own)
            known[each] = int((several > 0).sum())
            too_many.append(own[(works > most) & (several > 1)])
        self._crowded = (
            unique_values(np.concatenate(too_many)) if too_many else np.zeros(0, np.int64)
        )
        self.fits = (self.launched > 0) & (against <= _AGAINST * self.launched)
        best = np.where(self.fits, self.launched, 0).max(axis=1, initial=0)
        lead = np.maximum(_LEAST, _MISSING * known)
        self.fits &= self.launched > (best - lead)[:, None]
        # With fewer devices than ranks some are shared; so is one with more work than one rank launched.
        shared = np.array(
            [len(many) > len(own) / 20 for many, own in zip(too_many, self.ids, strict=True)]
        )
        launching = sum(len(launched) > 0 for launched, _, _ in firsts)
        shared |= int((known > 0).sum()) < launching
        self.fits[shared | (known < _LEAST)] = False

    def crowded(self, ids: Ints) -> Mask:
        """Which ids have more work on one device than any one rank launched."""
        return positions_of(self._crowded, ids) >= 0

    def keep_blocks(self, launches: Launches, device: Ints, place: Ints) -> None:
        """Where the file holds one rank after the other, work written between launches is of that rank."""
        if (blocks := launches.blocks()) is None:
            return
        low = extreme_by(np.minimum, device, len(self.fits), place)
        high = extreme_by(np.maximum, device, len(self.fits), place)
        within = (low[:, None] <= blocks[1]) & (high[:, None] >= blocks[0])
        told = within.sum(axis=1) == 1
        told &= np.bincount(device, minlength=len(self.fits)) >= _TELLING
        self.fits[told] &= within[told]

    def keep_users(self, device: Ints, number: Ints, uses: dict[int, Mask]) -> None:
        """A device belongs to ranks whose allocator used its number, where any did."""
        _, first = np.unique(device, return_index=True)
        for each, recorded in enumerate(number[first].tolist()):
            if recorded in uses:
                self.fits[each] &= uses[recorded]

    def owners(self) -> Ints:
        """The rank of each device, −1 unclear."""
        owner = np.full(len(self.fits), -1, np.int64)
        while True:
            claims = [
                (each, int(np.flatnonzero(self.fits[each])[0]))
                for each in np.flatnonzero((owner < 0) & (self.fits.sum(axis=1) == 1)).tolist()
            ]
            if not claims:
                return owner
            for each, rank in claims:
                owner[each] = rank
            for each, rank in claims:
                if any(owner[o] == rank and self._repeats(each, o) for o, _ in claims if o != each):
                    self.fits[each] = False
            for each, _ in claims:
                if not self.fits[each].any():
                    owner[each] = -1
            self._exclude(owner)

    def _exclude(self, owner: Ints) -> None:
        """A launch has its work on one device: who has that of one does not fit another with its ids."""
        for each in np.flatnonzero(owner < 0).tolist():
            for rank in np.flatnonzero(self.fits[each]).tolist():
                taken = np.flatnonzero(owner == rank).tolist()
                if any(self._repeats(each, other) for other in taken):
                    self.fits[each, rank] = False

    def _repeats(self, each: int, other: int) -> bool:
        common = int((positions_of(self.ids[other], self.ids[each]) >= 0).sum())
        return common >= _SAME * len(self.ids[each])


def _consumed(launches: Launches, ids: Ints, rank: Ints) -> Mask:
    """Which launches have their work on a device of their rank."""
    known = rank >= 0
    launched, worked = same_keys((launches.rank, launches.id), (rank[known], ids[known]))
    return np.isin(launched, worked)


def _one_by_one(launches: Launches, free: Mask, work: Ints, device: Ints) -> Ints:
    """The rank of each piece of work, −1 unclear, from the launches of its id (and of its ``External
    id`` where all have one), as many as there are pieces of work with it. A replay of a graph has
    several, on one device.
    """
    calls = np.flatnonzero(free)
    spans, rank, begin = launches.trace["spans"], launches.rank[calls], launches.start[calls]
    start = spans["start"][work]
    key, wanted = _keys(launches.trace, launches.calls[calls], work)
    n = int(max(key.max(initial=-1), wanted.max(initial=-1))) + 1
    launched, works = np.bincount(key, minlength=n), np.bincount(wanted, minlength=n)
    low = extreme_by(np.minimum, key, n, rank)
    high = extreme_by(np.maximum, key, n, rank)
    graph = np.bincount(key[launches.of_graph[calls]], minlength=n) > 0
    graph &= extreme_by(np.minimum, wanted, n, device) == extreme_by(np.maximum, wanted, n, device)
    even = launched == works
    alone = (even | (graph & (works > 0))) & (launched > 0) & (low == high)
    paired = even & (low < high) & ~graph
    if not launches.distinct:
        # Of a launch that was not recorded the id may be that of another rank.
        complete = bool(even.all()) and (len(key) >= _TELLING or not launches.clash)
        alone &= complete
        paired &= complete
    first = extreme_by(np.minimum, key, n, begin)
    found = np.where(alone[wanted] & _follows(first[wanted], start), high[wanted], -1)
    at_call = np.lexsort((begin, key))
    at_work = np.lexsort((start, wanted))
    at_call, at_work = at_call[paired[key[at_call]]], at_work[paired[wanted[at_work]]]
    clear = _clear(key[at_call], begin[at_call], start[at_work])
    found[at_work[clear]] = rank[at_call[clear]]
    return found


def _keys(trace: Trace, calls: Ints, work: Ints) -> tuple[Ints, Ints]:
    """Numbers for launches and work, equal where their ids are, and their ``External id`` too where
    all of an id have one; some writers repeat the id there.
    """
    spans = trace["spans"]
    id_a, id_b = same_keys((spans["correlation"][calls],), (spans["correlation"][work],))
    missing = np.zeros(int(max(id_a.max(initial=-1), id_b.max(initial=-1))) + 1, np.bool_)
    for key, rows in ((id_a, calls), (id_b, work)):
        external = spans["external"][rows]
        missing[key[(external <= 0) | (external == spans["correlation"][rows])]] = True
    external_a, external_b = (
        np.where(missing[key], 0, spans["external"][rows])
        for key, rows in ((id_a, calls), (id_b, work))
    )
    return same_keys((id_a, external_a), (id_b, external_b))


def _follows(launch: Ints, work: Ints) -> Mask:
    """Whether work may have waited since its launch."""
    return np.asarray((work + CLOCK_NS >= launch) & (work - launch <= MOST_WAIT_NS))


def _clear(key: Ints, begin: Ints, start: Ints) -> Mask:
    """Which launches and works of equal key, both in time order, can only belong together: each work
    begins after its launch and surely before the next one.
    """
    same = np.zeros(len(key) + 1, np.bool_)
    same[1:-1] = key[1:] == key[:-1]
    before_next = np.ones(len(key) + 1, np.bool_)
    before_next[1:-1] = start[:-1] + CLOCK_NS < begin[1:]
    settled = before_next | ~same
    return np.asarray(settled[:-1] & settled[1:] & _follows(begin, start))
