"""Where the walk leaves a host thread: blocking calls that device work released, and operators of other
threads that the main thread waited for.

::

    main       [ backward: Python, nothing else recorded         ]
    autograd        [MmBackward0]      [AddBackward0]
                                ▲ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ▲   the main thread goes back to the end of each,
                    ▼ ─ ─ ─ ─ ─ ─ ─ ─ ▼                   and from its begin to itself
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import measure, union
from torch_tb_profiler.analysis.arrays.nesting import climb
from torch_tb_profiler.analysis.critical_path.device import DeviceWork, ending_order
from torch_tb_profiler.analysis.critical_path.host import HostSegments
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role

_WAITING = (PathCause.PYTHON, PathCause.ANNOTATION, PathCause.NOT_RECORDED)


@dataclass(frozen=True)
class Jumps:
    """Arrays of shape (jumps,), ordered by (track, time).

    time: ns. target: position of device work, or −2 − track. bounds: of shape (tracks + 1,), as of segments.
    """

    time: Ints
    target: Ints
    bounds: Ints


def find_jumps(
    trace: Trace, facts: Facts, host: HostSegments, work: DeviceWork, blocking: Mask, main: int
) -> Jumps:
    """All jumps of a trace; ``main``: the thread of the steps, −1 none."""
    parts = (_releases(trace, work, blocking), *_handovers(trace, facts, host, work, main))
    track, time, target = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.lexsort((target, time, track))
    bounds = np.searchsorted(track[order], np.arange(trace["tracks"].n + 1))
    return Jumps(time[order], target[order], bounds)


def _releases(trace: Trace, work: DeviceWork, blocking: Mask) -> tuple[Ints, Ints, Ints]:
    """``(track, time, target)`` of blocking calls: each was released by the device work that ended last
    inside it.
    """
    spans = trace["spans"]
    call = np.flatnonzero(blocking)
    begin = spans["start"][call]
    order = ending_order(work)
    last = np.searchsorted(work.end[order], begin + spans["dur"][call], side="right") - 1
    target = np.append(order, -1)[last]
    released = (target >= 0) & (np.append(work.end, -1)[target] > begin)
    call, target = call[released], target[released]
    return spans["track"][call].astype(np.int64), work.end[target], target


def _handovers(
    trace: Trace, facts: Facts, host: HostSegments, work: DeviceWork, main: int
) -> Iterator[tuple[Ints, Ints, Ints]]:
    """``(track, time, target)`` between the main thread and the outermost operators of the others, and
    transfers of host libraries.

    The main thread waits where nothing but Python, an annotation or nothing at all is recorded of it
    while operators of other threads and transfers fill at least half of that time.
    """
    spans, parent = trace["spans"], facts["span_links"]["parent"]
    operator = spans["role"] == Role.OPERATOR
    call = np.flatnonzero(operator & (spans["track"] != main) & (spans["dur"] > 0))
    call = call[climb(parent, parent[call], operator) < 0]
    moved = np.flatnonzero(~np.isin(spans["role"][work.row], DEVICE_ROLES))
    if main < 0 or not len(call) + len(moved):
        return
    begin = spans["start"][call]
    end = begin + spans["dur"][call]
    track = spans["track"][call].astype(np.int64)
    yield track, begin, np.full(len(call), -2 - main, np.int64)
    own = host.of_track(main)
    waits = np.isin(host.cause[own], _WAITING)
    start, stop = host.start[own][waits], host.end[own][waits]
    busy = union(*(np.concatenate(b) for b in ((begin, work.start[moved]), (end, work.end[moved]))))
    filled = 2 * measure(busy, start, stop) >= stop - start
    start, stop = start[filled], stop[filled]
    ends = np.concatenate((end, work.end[moved]))
    begins = np.concatenate((begin, work.start[moved]))
    wait = np.searchsorted(start, ends, side="left") - 1
    until = np.append(stop, -1)[wait]
    waited = (wait >= 0) & (ends <= until)
    # A transfer is waited for only where the wait ends with it.
    waited[len(end) :] &= (2 * ends - np.maximum(begins, np.append(start, 0)[wait]) >= until)[
        len(end) :
    ]
    target = np.concatenate((-2 - track, moved))[waited]
    yield np.full(len(target), main, np.int64), ends[waited], target
