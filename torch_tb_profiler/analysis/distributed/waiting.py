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
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.distributed.alignment import ClockOffset
from torch_tb_profiler.analysis.distributed.collectives import SYNCHRONISING, Matches
from torch_tb_profiler.analysis.distributed.matching import gather
from torch_tb_profiler.analysis.distributed.rank import Rank
from torch_tb_profiler.store.columns import Ints, Mask

NEVER = np.iinfo(np.int64).min // 4
"""Earlier than all times, with room for subtraction."""
SKEW_SHARE = 0.25
"""A wait that differs by at most this share from the skew of two recordings' starts …"""
SKEW_TIMES = 2
"""… and is this many times the usual longest wait is blamed on the profiler."""
MOST_SPOILED = 8
"""Leading collectives of a group that may be spoiled."""


@dataclass(frozen=True)
class Waits:
    """Arrays of shape (ranks, matches), from ``last`` on of shape (matches,); times int64 ns.

    start: on the common clock, ``NEVER`` where the rank takes no part.
    wait: −1 where the time is not split.
    late: arrival after the first rank's.
    last: which rank came last.
    arrival_rule: whether it decided.
    spoiled: left out, see ``skewed``.
    """

    start: Ints
    wait: Ints
    late: Ints
    last: Ints
    arrival_rule: Mask
    spoiled: Mask


def wait_times(ranks: Sequence[Rank], matches: Matches, aligned: Sequence[ClockOffset]) -> Waits:
    """Split the matched collectives of a run; ``aligned``: the clocks of its ranks."""
    row = matches.row
    takes_part = row >= 0
    begin = gather(row, [rank.start for rank in ranks], 0)
    dur = gather(row, [rank.end - rank.start for rank in ranks], 0)
    offset = np.array([clock.offset for clock in aligned], np.int64)[:, None]
    start = np.where(takes_part, begin + offset, NEVER)
    if not row.size:
        none = np.zeros(row.shape[1], np.int64)
        return Waits(start, start, start, none, none.astype(np.bool_), none.astype(np.bool_))
    clocked = np.array([clock.method != "none" for clock in aligned], np.bool_)
    clocked &= [rank.begin is not None for rank in ranks]
    latest = start.max(axis=0)
    gone = takes_part & (start + dur < latest)
    synchronising = np.array(
        [label.kind in SYNCHRONISING for label in matches.labels] + [False], np.bool_
    )[matches.label]
    arrival_rule = (~takes_part | clocked[:, None]).all(axis=0) & ~(
        synchronising & gone.any(axis=0)
    )
    by_arrival = np.where(takes_part, np.clip(latest - start, 0, dur), 0)
    by_duration = dur - np.where(takes_part, dur, -NEVER).min(axis=0)
    # By either rule a larger value means a later rank.
    order = np.where(arrival_rule, start, np.where(takes_part, -dur, NEVER))
    wait = np.where(arrival_rule, np.where(gone, -1, by_arrival), by_duration)
    first = np.where(takes_part, start, -NEVER).min(axis=0)
    late = np.where(arrival_rule, start - first, np.where(takes_part, dur, NEVER).max(axis=0) - dur)
    last = order.argmax(axis=0)
    wait = np.where(takes_part, wait, -1)
    spoiled = (
        skewed(matches, start, wait, last, offset[:, 0])
        if clocked.all()
        else np.zeros(len(last), np.bool_)
    )
    return Waits(start, wait, np.where(takes_part, late, 0), last, arrival_rule, spoiled)


def skewed(matches: Matches, start: Ints, wait: Ints, last: Ints, begin: Ints) -> Mask:
    """Which leading collectives of each group are spoiled by the profilers' start, bool of shape
    (matches,).

    A rank whose recording starts earlier reaches the first collective earlier by as much, while the
    others still start their profiler. This shows in the longest wait: it equals the difference of
    the two recordings' starts within ``SKEW_SHARE`` and is far longer than usual, or most of it
    lies before the last rank's recording starts.

    start, wait, last: as in ``Waits``.
    begin: start of each rank's recording on the common clock, ns.
    """
    longest, waiter = wait.max(axis=0), wait.argmax(axis=0)
    spoiled = np.zeros(len(last), np.bool_)
    numbers: dict[tuple[str, tuple[int, ...]], int] = {}
    groups = np.array(
        [numbers.setdefault((label.group, label.ranks), len(numbers)) for label in matches.labels]
        + [-1]
    )[matches.label]
    early = begin[last] - begin[waiter]
    usual = float(np.median(longest)) if len(longest) > 2 else 0.0
    unseen = begin[last] - start[waiter, np.arange(len(last))]
    alike = (longest > 0) & (
        ((np.abs(longest - early) <= SKEW_SHARE * longest) & (longest > SKEW_TIMES * usual))
        | (2 * unseen > longest)
    )
    for group in np.unique(groups):
        for match in np.flatnonzero(groups == group)[:MOST_SPOILED].tolist():
            if not alike[match]:
                break
            spoiled[match] = True
    return spoiled
