"""Who came last to the collectives of each step, and how long the others waited for it beyond the next-latest rank.

::

    rank 0   ──[ waits             | transfer ]      rank 2 comes last: the others wait for it from
    rank 1   ──────────[ waits     | transfer ]      the moment when rank 1, the next-latest, is there
    rank 2   ──────────────────────[ transfer ]
                       ◀── price ──▶

What a rank does at the end of a step keeps the others waiting in their next one: a wait is of the step in which the rank fell behind.
Waiting beside which a device computes costs nothing, and is left out. Ranks that only transfers tie are the stages of
a pipeline: these do different work, so how long they wait for each other is a bubble, and none of them is late.
"""

from __future__ import annotations

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.distributed.matching import gather
from torch_tb_profiler.analysis.distributed.pipelines import directed
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.distributed.steps import covered, step_of
from torch_tb_profiler.store.columns import Array, Ints, Mask, unique_values

ALIKE = 0.8
"""Of how much later the last rank comes than the others' median another must come to be as late."""


class Arrivals(msgspec.Struct, frozen=True):
    """begin, stop: of each common step of the job, ns on the common clock. step: common step in which the last rank of each judged match
    fell behind, −1 of others; int64 of shape (matches,). Of shape (entries,): ``entry_step``, the step that has it, −1 outside; ``idle``,
    ns that it waited with nothing computing beside it; ``also``, whether it came as late as the last.
    """

    figures: RunFigures
    begin: Ints
    stop: Ints
    step: Ints
    entry_step: Ints
    idle: Ints
    also: Mask

    @property
    def settled(self) -> Ints:
        """The common steps at whose collectives a rank comes last because of what it did in the step before."""
        own = self.entry_step[self.figures.waits.last_entry]
        return unique_values(own[(own >= 0) & (self.step != own) & self.figures.judged])

    def waited(self, own: Mask) -> tuple[Ints, Ints]:
        """``(time, entry)`` of each match: how long the next-latest of the others waited for the entries ``own``, ns, 0 where
        they are not last; and which entry that is.
        """
        matches, late = self.figures.matched.matches, self.figures.waits.late
        least = np.iinfo(np.int64).min
        last = matches.reduced(np.maximum, np.where(own, late, least))
        others = np.where(own, least, late)
        latest = matches.reduced(np.maximum, others)
        following = np.zeros(len(matches), np.int64)
        entry = np.flatnonzero((others == latest[matches.match]) & ~own)
        following[matches.match[entry[::-1]]] = entry[::-1]
        known = (self.step >= 0) & (last > latest) & (latest > least)
        time = np.where(known, np.minimum(last - latest, self.idle[following]), 0)
        return np.asarray(time), following

    def time(self, waited: tuple[Ints, Ints], group: Ints, groups: int) -> Ints:
        """What of ``waited`` each group of matches holds (−1 none), moments at which several wait once, ns."""
        time, entry = waited
        waits = self.figures.waits
        end = (waits.start + waits.wait)[entry]
        known = (group >= 0) & (time > 0)
        return covered((end - time)[known], end[known], group[known], groups)

    def held(self, ranks: Ints) -> Array:
        """How long the others waited for some ranks in each common step, ns, float64."""
        waited = self.waited(np.isin(self.figures.matched.matches.rank, ranks))
        time = self.time(waited, self.step, len(self.begin))
        return np.asarray(np.minimum(time, self.stop - self.begin), np.float64)

    def waiting(self, of_stages: bool = False) -> Array:
        """How long each rank waits for others with nothing computing beside it in each common step, ns, float64 of shape
        (ranks, steps); ``of_stages``: the bubbles alone, in transfers between the stages of a pipeline.
        """
        matches, waits = self.figures.matched.matches, self.figures.waits
        shape = (matches.ranks, len(self.figures.steps.names))
        step, mine = self.entry_step, (self.entry_step >= 0) & (self.idle > 0)
        if of_stages:
            mine &= directed(matches)[matches.match]
        end = (waits.start + waits.wait)[mine]
        group = (matches.rank * shape[1] + step)[mine]
        time = covered(end - self.idle[mine], end, group, shape[0] * shape[1])
        return time.reshape(shape).astype(np.float64)

    def meetings(self, rank: int) -> tuple[Ints, Ints]:
        """The entries of a rank at which it waits for others in common steps, where it waits longest first; and their steps."""
        own = self.figures.matched.matches.of_rank(rank)
        step = self.entry_step[own]
        kept = np.flatnonzero((step >= 0) & (self.idle[own] > 0))
        kept = kept[np.argsort(-self.idle[own[kept]], kind="stable")]
        return own[kept], step[kept]


class Latest(msgspec.Struct, frozen=True):
    """Who comes last in a step. ``rank``, ``also``: indices; ``also`` come as late. ``held``: ns that the others waited for them.
    ``match``: where they waited longest; ``since``: when both the rank and the one that waited were last together in or before
    the step, ns on the common clock.
    """

    step: int
    rank: int
    also: tuple[int, ...]
    held: int
    match: int
    since: int


def arrivals_of(figures: RunFigures) -> Arrivals:
    """The arrivals of a run at its collectives."""
    matches, waits, ranks = figures.matched.matches, figures.waits, figures.ranks
    own = [step_of(figures.steps, rank, one.step) for rank, one in enumerate(ranks)]
    entry_step = gather(matches, own)
    step = np.where(figures.judged, entry_step[waits.last_entry], -1)
    wait, exposed = np.maximum(waits.wait, 0), gather(matches, [own.exposed for own in ranks])
    # A device computes first what was launched before, and the transfer comes last.
    moved = gather(matches, [(own.end - own.start) * own.on_device for own in ranks])
    idle = np.clip(exposed - np.maximum(moved - wait, 0), 0, wait)
    begin, stop, _ = figures.job_steps()
    came = Arrivals(figures, begin, stop, step, entry_step, idle, _as_late(figures))
    return replace(came, step=_fell_behind(came))


def _fell_behind(came: Arrivals) -> Ints:
    """The common step in which the last rank of each match fell behind; −1 of those that are not judged, or where it was not recorded.

    ::

        rank 0   [ step 1 ][ step 2 ──[ waits ]              Rank 1 begins step 2 as much later as it comes later, and
        rank 1   [ step 1 ── busy ──][ step 2 ──[            they did not meet since: it fell behind in step 1.
    """
    figures, matches = came.figures, came.figures.matched.matches
    time, following = came.waited(came.also)
    begin, before = [], []
    for number, rank in enumerate(figures.ranks):
        place = figures.steps.place[number]
        begin.append(np.append(rank.step_start + figures.aligned[number].offset, 0)[rank.step])
        steps = np.array(rank.step_number, np.int64)
        follows = (steps[1:] == steps[:-1] + 1) | (steps[1:] < 0)
        before.append(np.concatenate(((-1,), np.where(follows, place[:-1], -1), (-1,)))[rank.step])
    began, earlier = gather(matches, begin), gather(matches, before)
    last = figures.waits.last_entry
    known = (time > 0) & (came.entry_step[following] == came.step)
    known &= figures.waits.arrival_rule & (2 * (began[last] - began[following]) > time)
    together, start = _Together(figures), figures.waits.start
    for match in np.flatnonzero(known).tolist():
        both = int(matches.rank[last[match]]), int(matches.rank[following[match]])
        met = together.before(match, *both, int(start[following[match]]))
        known[match] = met < began[last[match]]
    return np.asarray(np.where(known, earlier[last], came.step))


def _as_late(figures: RunFigures) -> Mask:
    """Which entries of the matches come as late as the last, that one among them."""
    matches, waits = figures.matched.matches, figures.waits
    others = np.ones(len(matches.match), np.bool_)
    others[waits.last_entry] = False
    match, late = matches.match[others], waits.late[others]
    order = np.lexsort((late, match))
    count = np.bincount(match, minlength=len(matches))
    begin = np.cumsum(count) - count
    low, high = (np.append(late[order], 0)[begin + at] for at in ((count - 1) // 2, count // 2))
    usual = (low + high) / 2
    most = waits.late[waits.last_entry]
    least = usual + ALIKE * (most - usual)
    return np.asarray((waits.late >= least[matches.match]) & (most > usual)[matches.match])


def latest_of_steps(came: Arrivals) -> list[Latest]:
    """Of each common step whom the others waited for longest; none of steps in which nobody waited."""
    figures, matches = came.figures, came.figures.matched.matches
    steps = len(figures.steps.names)
    if not len(matches) or not steps:
        return []
    last = figures.waits.last
    waited = time, following = came.waited(came.also)
    judged = np.flatnonzero((came.step >= 0) & (time > 0))
    key = np.where(came.step >= 0, last * steps + came.step, -1)
    held = came.time(waited, key, matches.ranks * steps).reshape(-1, steps)
    held = np.minimum(held, came.stop - came.begin)
    most = held.argmax(axis=0)
    own = judged[last[judged] == most[came.step[judged]]]
    own = own[np.lexsort((time[own], came.step[own]))]
    own = own[np.append(came.step[own][1:] != came.step[own][:-1], True)[: len(own)]]
    together = _Together(figures)
    found = []
    for match in own.tolist():
        step, entries = int(came.step[match]), matches.of_match(match)
        rank = int(last[match])
        also = matches.rank[entries][came.also[entries]]
        other = int(matches.rank[following[match]])
        since = together.before(match, rank, other, int(came.stop[step]))
        also = also[also != rank]
        total = int(held[rank, step])
        found.append(Latest(step, rank, tuple(also.tolist()), total, match, since))
    return found


class _Together:
    """When two ranks last met."""

    def __init__(self, figures: RunFigures) -> None:
        self._figures = figures
        self._met: dict[tuple[int, int], Ints] = {}

    def before(self, match: int, one: int, other: int, stop: int) -> int:
        """When the last of them came to the match of both before another one and before ``stop``, ns on the common clock; very early if
        never.
        """
        matches, waits = self._figures.matched.matches, self._figures.waits
        pair = (min(one, other), max(one, other))
        if pair not in self._met:
            own, others = (matches.match[matches.of_rank(rank)] for rank in pair)
            met = np.intersect1d(own, others, assume_unique=True)
            begun = waits.start[waits.last_entry[met]]
            self._met[pair] = np.maximum.accumulate(begun[np.argsort(begun)]) if len(met) else met
        met = self._met[pair]
        begin = min(int(waits.start[waits.last_entry[match]]), stop)
        at = int(np.searchsorted(met, begin, "left")) - 1
        return int(met[at]) if at >= 0 else int(np.iinfo(np.int64).min)
