"""How much of a collective is waiting for the last rank, and who that was.

::

    rank 0   ──[ waiting      | transfer ]
    rank 1   ───────[ waiting | transfer ]
    rank 2   ─────────────────[ transfer ]      the last to arrive: it waits for nobody

Two rules. **Arrival**: on a common clock a rank waits from its own begin to the last rank's begin.
**Duration**: where no clock ties the ranks (their traces say no time of day), the shortest duration
is taken for the transfer, as if all ranks ended at the same moment; the original plugin does so
always. The second also decides a collective of a kind that no rank can leave before all have come,
when the clocks claim that one did.

Of the kinds that a rank may leave earlier (broadcast, reduce, gather, scatter, transfers) a rank
that ended before the last one came has not waited for that: its time is not split.
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
"""A time before all others, from which times can still be taken away."""
SKEW_SHARE = 0.25
"""A wait that is the difference of two recordings' begins but for this share of it is laid at the
profiler.
"""
SKEW_TIMES = 2
"""And only when it is so many times the usual longest wait of a collective."""
MOST_SPOILED = 8
"""Collectives of a group at its begin that are looked at."""


@dataclass(frozen=True)
class Waits:
    """Arrays of shape (ranks, matches) and, for ``last``, ``lead``, ``arrival_rule`` and
    ``spoiled``, (matches,); times int64 ns.

    start: begin on the common clock, ``NEVER`` where the rank has no part. wait: -1 where the time
        is not split. late: arrival after the first rank's.
    last: which rank came last. lead: how long after the one before it, as far as that one had
        nothing to compute meanwhile: what there is to gain.
    spoiled: left out, see ``skewed``.
    """

    start: Ints
    wait: Ints
    late: Ints
    last: Ints
    lead: Ints
    arrival_rule: Mask
    spoiled: Mask


def wait_times(ranks: Sequence[Rank], matches: Matches, aligned: Sequence[ClockOffset]) -> Waits:
    """Split the matched collectives of a run. ``aligned``: the clocks of the same ranks."""
    row = matches.row
    has = row >= 0
    begin = gather(ranks, row, [rank.start for rank in ranks], 0)
    dur = gather(ranks, row, [rank.end - rank.start for rank in ranks], 0)
    offset = np.array([one.offset for one in aligned], np.int64)[:, None]
    start = np.where(has, begin + offset, NEVER)
    if not row.size:
        none = np.zeros(row.shape[1], np.int64)
        return Waits(start, start, start, none, none, none.astype(np.bool_), none.astype(np.bool_))
    clocked = np.array(
        [
            rank.begin is not None and one.method != "none"
            for rank, one in zip(ranks, aligned, strict=True)
        ],
        np.bool_,
    )
    latest = start.max(axis=0)
    gone = has & (start + dur < latest)
    together = np.array(
        [label.kind in SYNCHRONISING for label in matches.labels] + [False], np.bool_
    )[matches.label]
    arrival_rule = (~has | clocked[:, None]).all(axis=0) & ~(together & gone.any(axis=0))
    by_arrival = np.where(has, np.clip(latest - start, 0, dur), 0)
    by_duration = dur - np.where(has, dur, -NEVER).min(axis=0)
    # The later a rank comes, the larger its number of either rule.
    order = np.where(arrival_rule, start, np.where(has, -dur, NEVER))
    wait = np.where(arrival_rule, np.where(gone, -1, by_arrival), by_duration)
    first = np.where(has, start, -NEVER).min(axis=0)
    late = np.where(arrival_rule, start - first, np.where(has, dur, NEVER).max(axis=0) - dur)
    last, second = order.argmax(axis=0), np.argpartition(order, len(order) - 2, axis=0)[-2]
    exposed = gather(ranks, row, [rank.exposed for rank in ranks], 0)
    column = np.arange(row.shape[1])
    lead = np.minimum(order[last, column] - order[second, column], exposed[second, column])
    wait = np.where(has, wait, -1)
    spoiled = (
        skewed(matches, start, wait, last, offset[:, 0])
        if clocked.all()
        else np.zeros(len(last), np.bool_)
    )
    return Waits(start, wait, np.where(has, late, 0), last, lead, arrival_rule, spoiled)


def skewed(matches: Matches, start: Ints, wait: Ints, last: Ints, begin: Ints) -> Mask:
    """Which of the first collectives of each group are spoiled by the profiler's start, bool of
    shape (matches,).

    A rank whose recording begins earlier reaches the first collective earlier by as much; the
    others still start their profiler. It is recognised by the longest wait: that is the difference
    of the two recordings' begins, give or take ``SKEW_SHARE``, and far longer than is usual later
    on; or most of it lies before the last rank's recording begins, where nothing can say what that
    did.

    Args:
        start, wait, last: as in ``Waits``. begin: of each rank's recording on the common clock, ns.
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
