"""When a device had nothing to do, and what it waited for.

::

    host       <launch a>      <launch b> <launch c>
    device        {a   }..........{b         }..{c      }
                        └ the host       queued ┘

A gap whose next work was launched only after it began waited for the host; work is launched when its call returns, or
begins where the work began before that. One whose next work was launched before it began waited on the device: for another
stream, for the launch queue, or for nothing that the trace shows.
"""

from __future__ import annotations

import msgspec
import numpy as np
from msgspec.structs import astuple

from torch_tb_profiler.analysis.arrays.intervals import (
    Intervals,
    intersect,
    shared,
    subtract,
    union,
)
from torch_tb_profiler.store.columns import Ints, Mask

LATENCY = 20_000
"""ns that may pass between the end of a launch and the begin of its work on an idle device; what is
beyond was not the host's doing.
"""

SHORT_GAP = 1_000_000
"""ns; a longer gap is no matter of launching."""
SHORT_PAUSE = 20_000
"""ns; a device that pauses longer between works that were launched waits for something."""


class Gaps(msgspec.Struct, frozen=True):
    """Idle time within the windows, in time order; int64 of shape (n,).

    start, end: ns. before, next: rows of the work that was done before it and of that which ended
    it; -1 where there was none.
    launch: row of the call that launched the next one; -1 unknown.
    for_host: waited for the host: nothing was launched, or what was launched last is done. queued:
        the next work was launched before the gap began.
    What is neither has an unknown launch, or a launch long before the work began.
    """

    start: Ints
    end: Ints
    before: Ints
    next: Ints
    launch: Ints
    for_host: Mask
    queued: Mask

    def take(self, chosen: Mask) -> Gaps:
        """Those of a mask."""
        row = np.flatnonzero(chosen)
        return self._parts(row, self.start[row], self.end[row])

    def free(self, taken: Intervals) -> Gaps:
        """What of them is not ``taken``, piece by piece."""
        left = subtract(union(self.start, self.end), taken)
        return self._parts(*shared(self.start, self.end, left))

    def _parts(self, row: Ints, start: Ints, end: Ints) -> Gaps:
        """Parts of the gaps ``row`` (places, not a mask)."""
        return Gaps(start, end, *(column[row] for column in astuple(self)[2:]))

    @property
    def length(self) -> int:
        """Sum in ns."""
        return int((self.end - self.start).sum())


def pauses(gaps: Gaps) -> Mask:
    """Which gaps are short and had their next work launched."""
    return np.asarray(gaps.queued & (gaps.end - gaps.start <= SHORT_PAUSE))


def find_gaps(
    row: Ints,
    start: Ints,
    end: Ints,
    launch: Ints,
    span_start: Ints,
    span_end: Ints,
    windows: Intervals,
) -> Gaps:
    """The gaps of a device whose work is ``row`` (``start``, ``end``, ``launch``), ordered by
    start.

    Args:
        span_start, span_end: of all rows of spans, ns.
        windows: where to look.
    """
    busy = union(start, end)
    n = len(busy.start)
    if not n or not len(windows.start):
        none = np.zeros(0, np.int64)
        return Gaps(none, none, none, none, none, none > 0, none > 0)
    first = min(int(windows.start[0]), int(busy.start[0]))
    last = max(int(windows.end[-1]), int(busy.end[-1]))
    begin, stop = np.concatenate(([first], busy.end)), np.concatenate((busy.start, [last]))
    opener = np.searchsorted(start, busy.start)
    following, cause = np.append(row[opener], -1), np.append(launch[opener], -1)
    earlier = np.concatenate(([-1], row[opener[1:] - 1], row[-1:]))
    launched = np.where(span_end[cause] <= stop, span_end[cause], span_start[cause])
    late = (cause >= 0) & (launched >= begin)
    until = np.where(late, np.minimum(span_end[cause] + LATENCY, stop), stop)
    for_host = late | (following < 0)
    queued = (cause >= 0) & ~late
    # What a late launch does not explain of its gap is a gap of its own, of unknown cause.
    rest = np.flatnonzero(until < stop)
    none = np.zeros(len(rest), np.bool_)
    whole = Gaps(
        np.concatenate((begin, until[rest])),
        np.concatenate((until, stop[rest])),
        np.concatenate((earlier, earlier[rest])),
        np.concatenate((following, following[rest])),
        np.concatenate((cause, cause[rest])),
        np.concatenate((for_host, none)),
        np.concatenate((queued, none)),
    )
    return _within(whole, windows)


def _within(gaps: Gaps, windows: Intervals) -> Gaps:
    order = np.argsort(gaps.start, kind="stable")
    order = order[gaps.end[order] > gaps.start[order]]
    # Gaps touch where one was cut in two, so they go one by one and not as a union.
    cut = intersect(Intervals(gaps.start[order], gaps.end[order]), windows)
    row = order[np.searchsorted(gaps.start[order], cut.start, side="right") - 1]
    return gaps._parts(row, cut.start, cut.end)
