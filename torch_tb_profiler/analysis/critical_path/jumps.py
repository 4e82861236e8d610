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

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import measure, union
from torch_tb_profiler.analysis.arrays.nesting import climb
from torch_tb_profiler.analysis.critical_path.device import DeviceWork, ending_order
from torch_tb_profiler.analysis.critical_path.host import HostSegments
from torch_tb_profiler.analysis.critical_path.locks import LockWaits
from torch_tb_profiler.store.columns import Ints, Mask, is_one_of, unique_values
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role

_WAITING = (PathCause.PYTHON, PathCause.ANNOTATION, PathCause.NOT_RECORDED)


class Jumps(msgspec.Struct, frozen=True):
    """Arrays of shape (jumps,), ordered by (track, time).

    time: ns. target: position of device work, or −2 − track. bounds: of shape (tracks + 1,), as of segments.
    """

    time: Ints
    target: Ints
    bounds: Ints


def find_jumps(
    trace: Trace,
    facts: Facts,
    host: HostSegments,
    work: DeviceWork,
    blocking: Mask,
    main: int,
    locks: LockWaits,
) -> Jumps:
    """All jumps of a trace; ``main``: the thread of the steps, −1 none."""
    spans = trace["spans"]
    released = -2 - spans["track"][locks.release].astype(np.int64)
    waited = spans["track"][locks.waiting].astype(np.int64)
    parts = (
        _releases(trace, work, blocking),
        (waited, spans["start"][locks.release], released),
        *_handovers(trace, facts, host, work, main, locks),
    )
    track, time, target = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.lexsort((target, time, track))
    bounds = np.searchsorted(track[order], np.arange(trace["tracks"].n + 1))
    return Jumps(time[order], target[order], bounds)


def _releases(trace: Trace, work: DeviceWork, blocking: Mask) -> tuple[Ints, Ints, Ints]:
    """``(track, time, target)`` of blocking calls that device work released."""
    spans = trace["spans"]
    call, target = last_work(trace, work, blocking)
    inside = np.append(work.end, -1)[target] > spans["start"][call]
    call, target = call[inside], target[inside]
    return spans["track"][call].astype(np.int64), work.end[target], target


def last_work(trace: Trace, work: DeviceWork, blocking: Mask) -> tuple[Ints, Ints]:
    """Rows of the blocking calls, and for each the device work that ended last before it returned; −1
    none.
    """
    spans = trace["spans"]
    call = np.flatnonzero(blocking)
    order = ending_order(work)
    returned = spans["start"][call] + spans["dur"][call]
    return call, np.append(order, -1)[np.searchsorted(work.end[order], returned, side="right") - 1]


def _handovers(
    trace: Trace, facts: Facts, host: HostSegments, work: DeviceWork, main: int, locks: LockWaits
) -> Iterator[tuple[Ints, Ints, Ints]]:
    """``(track, time, target)`` between the main thread and the outermost operators of the others, and
    transfers of host libraries.
    """
    spans = trace["spans"]
    call = other_operators(trace, facts, main, locks)
    moved = np.flatnonzero(~np.isin(spans["role"][work.row], DEVICE_ROLES))
    if main < 0 or not len(call) + len(moved):
        return
    track = spans["track"][call].astype(np.int64)
    yield track, spans["start"][call], np.full(len(call), -2 - main, np.int64)
    row = np.concatenate((call, work.row[moved]))
    begin = spans["start"][row]
    end = begin + spans["dur"][row]
    start, stop = waits_for(host, main, begin, end)
    wait = np.searchsorted(start, end, side="left") - 1
    until = np.append(stop, -1)[wait]
    waited = (wait >= 0) & (end <= until)
    # A transfer is waited for only where the wait ends with it.
    soon = until - end <= end - np.maximum(begin, np.append(start, 0)[wait])
    waited &= soon | (np.arange(len(row)) < len(call))
    target = np.concatenate((-2 - track, moved))
    yield np.full(int(waited.sum()), main, np.int64), end[waited], target[waited]
    lone = np.append(np.ones(len(call), np.bool_), work.launch[moved] < 0)
    time, target = _beside_nothing(host, main, begin[lone], end[lone], target[lone])
    yield np.full(len(time), main, np.int64), time, target


def _beside_nothing(
    host: HostSegments, main: int, begin: Ints, end: Ints, target: Ints
) -> tuple[Ints, Ints]:
    """``(time, target)`` where nothing is recorded of the main thread in a step: it is where others work. ``begin``, ``end``,
    ``target``: of their operators, and of transfers that nothing is known to have started.
    """
    own = host.of_track(main)
    nothing = (host.cause[own] == PathCause.NOT_RECORDED) & (host.span[own] >= 0)
    start, stop = host.start[own][nothing], host.end[own][nothing]
    if not len(start):
        return (np.zeros(0, np.int64),) * 2
    order = np.argsort(begin, kind="stable")
    begin, end, target = begin[order], end[order], target[order]
    time = unique_values(np.concatenate((begin, end, stop)))
    at = np.searchsorted(start, time, side="left") - 1
    time = time[(at >= 0) & (time <= np.append(stop, -1)[at])]
    # Of those that had begun the one that ends last.
    last = np.maximum.accumulate(end)
    latest = np.maximum.accumulate(np.where(end == last, np.arange(len(end)), 0))
    ran = np.append(latest, -1)[np.searchsorted(begin, time, side="left") - 1]
    runs = (ran >= 0) & (np.append(end, -1)[ran] >= time)
    return time[runs], target[ran[runs]]


def waiting(
    trace: Trace, facts: Facts, host: HostSegments, work: DeviceWork, main: int, locks: LockWaits
) -> Mask:
    """In which segments of the main thread it waited for other threads or transfers."""
    spans = trace["spans"]
    moved = work.row[~np.isin(spans["role"][work.row], DEVICE_ROLES)]
    row = np.concatenate((other_operators(trace, facts, main, locks), moved))
    begin = spans["start"][row]
    start, _ = waits_for(host, main, begin, begin + spans["dur"][row])
    own = host.of_track(main)
    waits = np.isin(host.start[own], start) & is_one_of(host.cause[own], _WAITING)
    return waits | np.isin(host.span[own], locks.waiting)


def other_operators(trace: Trace, facts: Facts, main: int, locks: LockWaits) -> Ints:
    """Rows of the outermost operators of all threads that work for ``main``, not those that it waits for by
    locks; none without a main thread.
    """
    spans, parent = trace["spans"], facts["span_links"]["parent"]
    operator = spans["role"] == Role.OPERATOR
    call = np.flatnonzero(operator & (spans["track"] != main) & (spans["dur"] > 0) & (main >= 0))
    call = call[~np.isin(spans["track"][call], spans["track"][locks.release])]
    return call[climb(parent, parent[call], operator) < 0]


def waits_for(host: HostSegments, main: int, begin: Ints, end: Ints) -> tuple[Ints, Ints]:
    """When the main thread waited for operators of other threads, ``(start, stop)``: nothing but Python, an
    annotation or nothing at all is recorded of it, and the operators fill at least half of that time.
    """
    if not len(begin):
        return begin, end
    own = host.of_track(main)
    idle = is_one_of(host.cause[own], _WAITING)
    start, stop = host.start[own][idle], host.end[own][idle]
    filled = 2 * measure(union(begin, end), start, stop) >= stop - start
    return start[filled], stop[filled]
