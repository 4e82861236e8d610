"""Threads that waited for another one's lock, by the address of the lock in their Python frames.

::

    main       [ queue.get … [ acquire of lock at 0x7f10            ]]
    thread     [ read_batch                    ][ release of lock at 0x7f10 ]
                                                ▲ this let main go on

Queues, events, conditions, futures and joined threads all wait in this way.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.facts.host_names import distinct
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

_LOCK = regex(
    r"<built-in method (acquire|__enter__|release|__exit__) of _thread\.R?[Ll]ock object at"
    r" (0x[0-9a-f]{1,15})>"
)


class LockWaits(msgspec.Struct, frozen=True):
    """Rows of spans, of shape (waits,): the call that waited, and the one on another thread that let it go on when
    it began.
    """

    waiting: Ints
    release: Ints


def lock_waits(trace: Trace) -> LockWaits:
    """All waits for locks of which both sides are recorded."""
    spans = trace["spans"]
    address = np.zeros(len(trace.strings) + 1, np.int64)
    gives = np.zeros(len(trace.strings) + 1, np.bool_)
    python = spans["role"] == Role.PYTHON
    for number in distinct(spans["name"][python], trace.strings):
        if match := _LOCK.fullmatch(trace.strings[number]):
            address[number] = int(match[2], 16)
            gives[number] = match[1] in ("release", "__exit__")
    row = np.flatnonzero(python & (address[spans["name"]] > 0))
    name, start = spans["name"][row], spans["start"][row]
    release = gives[name]
    lock = group_rows((address[name],))[1]
    time = np.where(release, start, start + spans["dur"][row])
    order = np.lexsort((~release, time, lock))
    row, start, time, lock = row[order], start[order], time[order], lock[order]
    release = release[order]
    last = np.maximum.accumulate(np.where(release, np.arange(len(row)), -1))
    track = spans["track"][row]
    # What was released before the call began did not make it wait.
    waited = ~release & (last >= 0) & (lock[last] == lock) & (time[last] > start)
    waited &= track[last] != track
    return LockWaits(row[waited], row[last[waited]])
