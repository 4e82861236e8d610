"""The moments at which a host thread launches work, is released, or hands over to another thread.

::

    main       L────[ backward() waits          ]R──        B: an operator that main handed over; E: the last
    autograd         B[MmBackward0]  [AddBackward0]E           to end; R: main goes on
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of
from torch_tb_profiler.analysis.critical_path.device import DeviceWork
from torch_tb_profiler.analysis.critical_path.host import HostSegments
from torch_tb_profiler.analysis.critical_path.jumps import last_work, other_operators, waits_for
from torch_tb_profiler.analysis.critical_path.locks import LockWaits
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.store.columns import Array, Ints, Mask, unique_values
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES

_PLAIN, _BEGIN, _END, _RELEASE = range(4)


class HostPoints(msgspec.Struct, frozen=True):
    """Arrays of shape (host points,) but for ``launch``.

    track: row of tracks. time: ns. kind: order among those of one time: a thread begins what another
    handed over, and is released by an end. reach: when its thread had come there and waited; ``time``
    where it did not wait. before: the point before it on its thread, or before its wait; −1 none.
    device: position of the work that released it, other: the point of another thread that did; −1 none.
    call: row of the blocking call that it ends; −1 none. launch: the point of the launch of each piece of
    device work; −1 none. marks: begins, then ends, of the steps; of a recording without steps the
    last thing that each thread did.
    """

    track: Ints
    time: Ints
    kind: Ints
    reach: Ints
    before: Ints
    device: Ints
    other: Ints
    call: Ints
    launch: Ints
    marks: Ints


class Places(msgspec.Struct, frozen=True):
    """Moments of host threads, arrays of shape (n,): row of segments, the share of it that has passed,
    and ns outside of all segments.
    """

    segment: Ints
    share: Array
    outside: Array

    def clock(self, segment_ns: Array, passed: Array) -> Array:
        """The clock of their threads then, ns; ``passed``: at the begin of each one's segment."""
        return np.asarray(passed + self.share * segment_ns[self.segment] + self.outside)


class _Part(msgspec.Struct, frozen=True):
    """Some points; ``reach`` and what follows it as in ``HostPoints``."""

    track: Ints
    time: Ints
    kind: Ints
    reach: Ints
    device: Ints
    other: Ints
    call: Ints


def host_points(
    trace: Trace,
    facts: Facts,
    host: HostSegments,
    work: DeviceWork,
    blocking: Mask,
    main: int,
    locks: LockWaits,
) -> HostPoints:
    """The points of all threads; ``main``: the program's thread, −1 none."""
    spans, steps = trace["spans"], facts["steps"]
    launching = mask_of(spans.n + 1, work.launch)
    rows = np.flatnonzero(launching[:-1])
    launch = np.where(work.launch >= 0, np.searchsorted(rows, work.launch), -1)
    parts = [_part(spans["track"][rows], launched_at(trace, work)[rows])]
    if steps.n and int(steps["flags"][0]) & StepFlag.WHOLE:
        parts.append(_part(*_last_of_threads(host, main)))
    elif main >= 0:
        both = np.concatenate((steps["host_start"], steps["host_end"]))
        parts.append(_part(np.full(len(both), main), both))
    marks = np.arange(len(rows), sum(len(part.time) for part in parts))
    call, target = last_work(trace, work, blocking)
    call, target = call[target >= 0], target[target >= 0]
    begin = spans["start"][call]
    released = np.maximum(begin, work.end[target])
    parts.append(_part(spans["track"][call], released, _RELEASE, begin, device=target, call=call))
    given = sum(len(part.time) for part in parts) + np.arange(len(locks.release))
    time, begin = spans["start"][locks.release], spans["start"][locks.waiting]
    parts.append(_part(spans["track"][locks.release], time))
    parts.append(_part(spans["track"][locks.waiting], time, _RELEASE, begin, other=given))
    call = other_operators(trace, facts, main, locks)
    parts += _handovers(trace, host, work, main, call, sum(len(part.time) for part in parts))
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in _Part.__struct_fields__
    }
    before = _before(**{key: columns[key] for key in ("track", "time", "kind", "reach")})
    return HostPoints(**columns, before=before, launch=launch, marks=marks)


def launched_at(trace: Trace, work: DeviceWork) -> Ints:
    """When each row of spans had launched its work, ns: when the call returned, or began where work of it had begun before
    it returned.
    """
    spans = trace["spans"]
    time, known = spans["start"] + spans["dur"], work.launch >= 0
    early = work.launch[known & (work.start < time[work.launch])]
    time[early] = spans["start"][early]
    return time


def _last_of_threads(host: HostSegments, main: int) -> tuple[Ints, Ints]:
    """``(track, time)`` of the last thing that each thread did: of the program's thread whatever it was, of others
    the last that was no Python, in which threads sit and wait for things that do not come.
    """
    on = host.track
    counted = np.flatnonzero((host.span >= 0) & ((on == main) | (host.cause != PathCause.PYTHON)))
    threads = unique_values(on[counted])
    last = counted[np.searchsorted(on[counted], threads, side="right") - 1]
    return threads, host.end[last]


def _part(
    track: Array, time: Ints, kind: int = _PLAIN, reach: Ints | None = None, **released: Ints
) -> _Part:
    nothing = dict.fromkeys(("device", "other", "call"), np.full(len(time), -1, np.int64))
    waited = time if reach is None else reach
    kinds = np.full(len(time), kind)
    return _Part(track.astype(np.int64), time, kinds, waited, **(nothing | released))


def _handovers(
    trace: Trace, host: HostSegments, work: DeviceWork, main: int, call: Ints, number: int
) -> list[_Part]:
    """The points of operators that the main thread handed to others, ``call``, and of transfers of host libraries
    for which it waited; ``number``: of the first point.
    """
    spans = trace["spans"]
    moved = np.flatnonzero(~np.isin(spans["role"][work.row], DEVICE_ROLES))
    if main < 0 or not len(call) + len(moved):
        return []
    row = np.concatenate((call, work.row[moved]))
    operates = np.arange(len(row)) < len(call)
    begin = spans["start"][row]
    end = begin + spans["dur"][row]
    track = spans["track"][row].astype(np.int64)
    start, stop = waits_for(host, main, begin, end)
    wait = np.searchsorted(start, np.where(operates, begin, end - 1), side="right") - 1
    until = np.append(stop, -1)[wait]
    # A transfer is waited for only where the wait ends with it.
    soon = until - end <= end - np.maximum(begin, np.append(start, 0)[wait])
    wait = np.where((wait >= 0) & (end <= until) & (soon | operates), wait, -1)
    # Of the operators of one thread in one wait only the first was handed over; the others follow it.
    order = np.lexsort((begin, track))
    same = (track[order[1:]] == track[order[:-1]]) & (wait[order[1:]] == wait[order[:-1]])
    new = operates.copy()
    new[order[1:]] &= ~same | (wait[order[1:]] < 0)
    handed = number + np.arange(int(new.sum()))
    waited = np.flatnonzero(wait >= 0)
    last = waited[np.lexsort((end[waited], wait[waited]))]
    last = last[np.append(wait[last[1:]] != wait[last[:-1]], np.True_)[: len(last)]]
    opened = np.full(len(start), np.iinfo(np.int64).max)
    np.minimum.at(opened, wait[waited], np.where(operates, begin, 0)[waited])
    reach = np.maximum(start, opened)[wait[last]]
    by_thread = operates[last]
    ended = number + 2 * len(handed) + np.cumsum(by_thread) - 1
    device = np.concatenate((np.full(len(call), -1), moved))[last]
    return [
        _part(np.full(len(handed), main), begin[new]),
        _part(track[new], begin[new], _BEGIN, other=handed),
        _part(track[last[by_thread]], end[last[by_thread]], _END),
        _part(
            np.full(len(last), main),
            end[last],
            _RELEASE,
            reach,
            other=np.where(by_thread, ended, -1),
            device=device,
        ),
    ]


def _before(track: Ints, time: Ints, kind: Ints, reach: Ints) -> Ints:
    """The point before each on its thread, of a wait the one before the wait; −1 none, and where another
    thread handed over: idle time in between is nobody's doing.
    """
    order = np.lexsort((kind, time, track))
    track, time, kind, reach = track[order], time[order], kind[order], reach[order]
    previous = np.arange(-1, len(order) - 1)
    waits = np.flatnonzero(reach < time)
    for first, last in _runs(track):
        own = waits[slice(*np.searchsorted(waits, (first, last)))]
        reached = first + np.searchsorted(time[first:last], reach[own], side="right") - 1
        previous[own] = np.minimum(reached, own - 1)
        previous[first:last][previous[first:last] < first] = -1
    previous[kind == _BEGIN] = -1
    before = np.empty(len(order), np.int64)
    before[order] = np.where(previous >= 0, order[previous], -1)
    return before


def _runs(ordered: Ints) -> Iterator[tuple[int, int]]:
    """First and last + 1 of each run of equal values."""
    bounds = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    return pairwise([*bounds.tolist(), len(ordered)])


def places(host: HostSegments, track: Ints, time: Ints) -> Places:
    """Where some moments of threads lie."""
    if not len(host.start):
        return Places(np.zeros(len(time), np.int64), np.zeros(len(time)), time.astype(np.float64))
    segment = np.zeros(len(track), np.int64)
    order = np.argsort(track, kind="stable")
    for first, last in _runs(track[order]):
        rows = order[first:last]
        own = host.of_track(int(track[rows[0]]))
        slot = np.searchsorted(host.start[own], time[rows], side="right") - 1
        segment[rows] = own.start + np.maximum(slot, 0)
    segment = np.minimum(segment, len(host.start) - 1)
    start, end = host.start[segment], host.end[segment]
    passed = np.clip(time, start, end)
    share = (passed - start) / np.maximum(end - start, 1)
    return Places(segment, share, (time - passed).astype(np.float64))
