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

import numpy as np
from msgspec.structs import astuple, replace

from torch_tb_profiler.analysis.arrays.intervals import Intervals
from torch_tb_profiler.analysis.findings.candidate import Pieces
from torch_tb_profiler.store.columns import Ints, Mask, Table

LATENCY = 20_000
"""ns that may pass between the end of a launch and the begin of its work on an idle device; what is
beyond was not the host's doing.
"""

SHORT_GAP = 1_000_000
"""ns; a longer gap is no matter of launching."""
SHORT_PAUSE = 20_000
"""ns; a device that pauses longer between works that were launched waits for something."""


class Work(Pieces, frozen=True):
    """What the main device did, in time order; arrays of shape (n,).

    row: rows of spans, those of no length left out. start, end: ns. launch: row of the call that
        launched it, -1 unknown.
    communication, kernel: what it is, bool (communication is a kernel, too).
    """

    launch: Ints
    communication: Mask
    kernel: Mask


class Gaps(Pieces, frozen=True):
    """Idle time within the windows, in time order; arrays of shape (n,).

    row, before: the work that ended it, and that which was done before; -1 where there was none.
    launch: row of the call that launched the next one; -1 unknown.
    for_host: waited for the host: nothing was launched, or what was launched last is done. queued:
        the next work was launched before the gap began.
    What is neither has an unknown launch, or a launch long before the work began.
    """

    before: Ints
    launch: Ints
    for_host: Mask
    queued: Mask


def pauses(gaps: Gaps) -> Mask:
    """Which gaps are short and had their next work launched."""
    return np.asarray(gaps.queued & (gaps.lengths <= SHORT_PAUSE))


def find_gaps(work: Work, spans: Table, windows: Intervals) -> Gaps:
    """The gaps of a device between its ``work``, ordered by start. ``windows``: where to look."""
    busy, none = work.time, np.zeros(0, np.int64)
    if not len(busy.start) or not len(windows.start):
        return Gaps(none, none, none, none, none, none > 0, none > 0)
    first = min(int(windows.start[0]), int(busy.start[0]))
    last = max(int(windows.end[-1]), int(busy.end[-1]))
    begin, stop = np.concatenate(([first], busy.end)), np.concatenate((busy.start, [last]))
    opener = np.searchsorted(work.start, busy.start)
    following, cause = np.append(work.row[opener], -1), np.append(work.launch[opener], -1)
    earlier = np.concatenate(([-1], work.row[opener[1:] - 1], work.row[-1:]))
    called, returned = spans["start"][cause], spans["start"][cause] + spans["dur"][cause]
    late = (cause >= 0) & (np.where(returned <= stop, returned, called) >= begin)
    until = np.where(late, np.minimum(returned + LATENCY, stop), stop)
    for_host, queued = late | (following < 0), (cause >= 0) & ~late
    whole = Gaps(following, begin, until, earlier, cause, for_host, queued)
    # What a late launch does not explain of its gap is a gap of its own, of unknown cause.
    never = np.zeros(len(begin), np.bool_)
    rest = replace(whole, start=until, end=stop, for_host=never, queued=never)
    both = zip(astuple(whole), astuple(rest.take(until < stop)), strict=True)
    every = Gaps(*(np.concatenate(two) for two in both))
    order = np.argsort(every.start, kind="stable")
    return every.take(order[every.lengths[order] > 0]).during(windows)
