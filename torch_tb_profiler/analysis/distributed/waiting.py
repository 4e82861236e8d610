"""How much of a collective is waiting for the last rank, and which rank that was.

::

    rank 0   ──[ waiting      | transfer ]
    rank 1   ───────[ waiting | transfer ]
    rank 2   ─────────────────[ transfer ]      last to arrive: it does not wait

**Arrival rule**: on a common clock a rank waits from its own start to the last rank's start.
**Duration rule**: without a common clock the shortest duration is the transfer, as if all ranks
ended at once (the original plugin always does so). It also applies if the clocks claim that a rank
left a synchronising collective before the last one came.

In other kinds (broadcast, reduce, gather, scatter, transfers) a rank that ended before the last one
came did not wait for it: its time is not split.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import occurrences
from torch_tb_profiler.analysis.distributed.alignment import ClockOffset
from torch_tb_profiler.analysis.distributed.collectives import SYNCHRONISING, Matches
from torch_tb_profiler.analysis.distributed.matching import gather
from torch_tb_profiler.analysis.distributed.rank import Rank
from torch_tb_profiler.store.columns import Ints, Mask

SKEW_SHARE = 0.25
"""A wait that differs by at most this share from the skew of two recordings' starts …"""
SKEW_TIMES = 2
"""… and is this many times the usual longest wait is blamed on the profiler."""
MOST_SPOILED = 8
"""Leading collectives of a group that may be spoiled."""


class Waits(msgspec.Struct, frozen=True):
    """Arrays of shape (entries,) of the matches, from ``last_entry`` on of shape (matches,); times int64 ns.

    start: on the common clock.
    wait: −1 where the time is not split.
    late: arrival after the first rank's.
    last_entry: of the rank that came last; last: which rank that is.
    arrival_rule: whether it decided.
    spoiled: left out, see ``skewed``.
    """

    start: Ints
    wait: Ints
    late: Ints
    last_entry: Ints
    last: Ints
    arrival_rule: Mask
    spoiled: Mask


def wait_times(ranks: Sequence[Rank], matches: Matches, aligned: Sequence[ClockOffset]) -> Waits:
    """Split the matched collectives of a run; ``aligned``: the clocks of its ranks."""
    match, rank = matches.match, matches.rank
    offset = np.array([clock.offset for clock in aligned], np.int64)
    if not len(matches):
        none = np.zeros(0, np.int64)
        return Waits(none, none, none, none, none, none.astype(np.bool_), none.astype(np.bool_))
    start = gather(matches, [own.start for own in ranks]) + offset[rank]
    dur = gather(matches, [own.end - own.start for own in ranks])
    clocked = np.array([clock.method != "none" for clock in aligned], np.bool_)
    clocked &= [own.begin is not None for own in ranks]
    latest = matches.reduced(np.maximum, start)[match]
    gone = start + dur < latest
    synchronising = np.array(
        [label.kind in SYNCHRONISING for label in matches.labels] + [False], np.bool_
    )[matches.label]
    arrival_rule = matches.reduced(np.logical_and, clocked[rank]) & ~(
        synchronising & matches.reduced(np.logical_or, gone)
    )
    by_arrival = arrival_rule[match]
    # By either rule a larger value means a later rank.
    last_entry = _greatest(matches, np.where(by_arrival, start, -dur))
    wait = np.where(
        by_arrival,
        np.where(gone, -1, np.clip(latest - start, 0, dur)),
        dur - matches.reduced(np.minimum, dur)[match],
    )
    late = np.where(
        by_arrival,
        start - matches.reduced(np.minimum, start)[match],
        matches.reduced(np.maximum, dur)[match] - dur,
    )
    spoiled = (
        skewed(matches, start, wait, last_entry, offset)
        if clocked.all()
        else np.zeros(len(matches), np.bool_)
    )
    return Waits(start, wait, late, last_entry, rank[last_entry], arrival_rule, spoiled)


def _greatest(matches: Matches, values: Ints) -> Ints:
    """Of each match the first entry of those with the greatest value."""
    entry = np.flatnonzero(values == matches.reduced(np.maximum, values)[matches.match])
    match = matches.match[entry]
    return np.asarray(entry[np.append(True, match[1:] != match[:-1])])


def skewed(matches: Matches, start: Ints, wait: Ints, last: Ints, begin: Ints) -> Mask:
    """Which leading collectives of each group are spoiled by the profilers' start, bool of shape
    (matches,).

    A rank whose recording starts earlier reaches the first collective earlier by as much, while the
    others still start their profiler. This shows in the longest wait: it equals the difference of
    the two recordings' starts within ``SKEW_SHARE`` and is far longer than usual, or most of it
    lies before the last rank's recording starts.

    start, wait: as in ``Waits``. last: its ``last_entry``.
    begin: start of each rank's recording on the common clock, ns.
    """
    waiter = _greatest(matches, wait)
    longest, begun = wait[waiter], begin[matches.rank[last]]
    numbers: dict[tuple[str, tuple[int, ...]], int] = {}
    groups = np.array(
        [numbers.setdefault((label.group, label.ranks), len(numbers)) for label in matches.labels]
        + [-1]
    )[matches.label]
    early = begun - begin[matches.rank[waiter]]
    usual = float(np.median(longest)) if len(longest) > 2 else 0.0
    unseen = begun - start[waiter]
    alike = (longest > 0) & (
        ((np.abs(longest - early) <= SKEW_SHARE * longest) & (longest > SKEW_TIMES * usual))
        | (2 * unseen > longest)
    )
    # Of each group those before the first one that is not alike.
    order = np.argsort(groups, kind="stable")
    other = np.cumsum(~alike[order])
    leads = np.append(True, groups[order[1:]] != groups[order[:-1]])
    before: Ints = (other - ~alike[order])[leads][np.cumsum(leads) - 1]
    spoiled = np.zeros(len(matches), np.bool_)
    spoiled[order] = (other == before) & (occurrences(groups)[order] < MOST_SPOILED)
    return spoiled
