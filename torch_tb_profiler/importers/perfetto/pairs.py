"""Begins and ends of slices → which end belongs to which begin, a whole trace at once.

Slices of a track nest::

    begin a   begin b   end   end         a └─────────┘
                                          b    └───┘

PyTorch writes a thread's, or a stream's, begins one after the other and then all ends in the same
order; where slices touch, their order in time does not tell which is whose, but that in the file does::

    file   a 0   b 10   │   end 10   end 20        a 0 to 10, b 10 to 20
           begins       │   ends, as many
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.store.columns import Array, Ints, Mask

NONE = -1


def match(time: Ints, track: Ints, sequence: Ints, is_begin: Mask) -> Ints:
    """Position of the end of each begin; ``NONE`` for one without an end, and for ends.

    Args:
        time, track, sequence: of each begin or end in the order of the file, int64 of shape (n,).
        sequence: of packets, each written by one thread of the profiler.
    """
    partner = _lists(time, track, sequence, is_begin)
    rest = np.flatnonzero(partner == NONE)
    taken = np.zeros(len(time), np.bool_)
    taken[partner[partner >= 0]] = True
    rest = rest[~taken[rest]]
    order = rest[np.lexsort((rest, time[rest], track[rest]))]
    begins, ends = _nested(track[order], is_begin[order])
    partner[order[begins]] = order[ends]
    return partner


def _lists(time: Ints, track: Ints, sequence: Ints, is_begin: Mask) -> Ints:
    """Partners in lists of begins that are followed by as many ends, if times show that they are lists."""
    n = len(time)
    partner = np.full(n, NONE, np.int64)
    if n < 4:
        return partner
    order = np.argsort(sequence, kind="stable")
    kind, when, of = is_begin[order], time[order], sequence[order]
    new = np.ones(n, np.bool_)
    new[1:] = (kind[1:] != kind[:-1]) | (of[1:] != of[:-1])
    first = np.append(np.flatnonzero(new), n)
    length = np.diff(first)
    back = np.zeros(n + 1, np.int64)
    back[2:] = np.cumsum((when[1:] < when[:-1]) & (of[1:] == of[:-1]))
    is_list = np.zeros(len(length), np.bool_)
    is_list[:-1] = kind[first[:-2]] & ~kind[first[1:-1]] & (of[first[:-2]] == of[first[1:-1]])
    is_list[:-1] &= (length[:-1] == length[1:]) & (length[:-1] > 1)
    # In the order of time these are slices that nest.
    is_list[:-1] &= back[first[2:]] > back[first[:-2] + 1]
    for run in np.flatnonzero(is_list).tolist():
        begins = order[first[run] : first[run + 1]]
        ends = order[first[run + 1] : first[run + 2]]
        if (track[begins] == track[ends]).all() and (time[begins] <= time[ends]).all():
            partner[begins] = ends
    return partner


def _nested(track: Ints, is_begin: Mask) -> tuple[Ints, Ints]:
    """Positions of begins and of their ends; begins and ends are ordered by track and time."""
    kept = np.arange(len(track))
    depth, ends_nothing = _depths(track, is_begin)
    if ends_nothing.any():
        kept = kept[~ends_nothing]
        depth, _ = _depths(track[kept], is_begin[kept])
    # A begin and its end have the same depth, and nothing of that depth is between them.
    order = kept[np.lexsort((kept, depth, track[kept]))]
    kind, of = is_begin[order], track[order]
    level = np.empty(len(track), np.int64)
    level[kept] = depth
    pairs = np.flatnonzero(
        kind[:-1] & ~kind[1:] & (of[:-1] == of[1:]) & (level[order[:-1]] == level[order[1:]])
    )
    return order[pairs], order[pairs + 1]


def _depths(track: Ints, is_begin: Mask) -> tuple[Ints, Mask]:
    """Depth of each slice's begin and end; ends at which no slice is open."""
    step = np.where(is_begin, 1, -1)
    total = np.cumsum(step)
    first = np.ones(len(track), np.bool_)
    first[1:] = track[1:] != track[:-1]
    group = np.cumsum(first) - 1
    before = np.append(0, total)[np.flatnonzero(first)][group] if len(track) else total
    depth = total - before
    lowest = np.minimum(_running_minimum(depth, group), 0)
    previous = np.append(0, lowest[:-1])
    previous[first] = 0
    return depth + ~is_begin, (lowest < previous) & ~is_begin


def _running_minimum(values: Ints, group: Array) -> Ints:
    """Minimum so far within each group; the groups are numbered in ascending order."""
    # Later groups are moved below all earlier ones, so that the minimum begins anew.
    span = int(values.max(initial=0)) - int(values.min(initial=0)) + 1
    return np.asarray(np.minimum.accumulate(values - group * span) + group * span)
