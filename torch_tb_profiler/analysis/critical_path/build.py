"""The tables ``critical_path`` and ``critical_path_steps``: what the end of each step waited for, moment by moment, back to its begin.

::

    thread     [op][launch]··[ op ][ synchronize         ]   ◀─ the step ends here
    stream 7              [  kernel a  ][ kernel b ]
    path       [op][launch][  kernel a  ][ kernel b ][sync.]

The walk stands at the end of a step and asks what ended last and let this go on. On a host thread that
is what the thread did before, back to a call that device work released or to another thread that it
waited for; on the device it is the work before, the launch, or work on another stream. Each answer
charges the time between to one cause, so the causes add up to the wall time of the step by construction.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, largest_by, sum_by
from torch_tb_profiler.analysis.critical_path.device import (
    Begin,
    device_causes,
    device_work,
    ending_order,
)
from torch_tb_profiler.analysis.critical_path.host import (
    blocking_calls,
    host_segments,
    main_track,
)
from torch_tb_profiler.analysis.critical_path.jumps import find_jumps
from torch_tb_profiler.analysis.critical_path.origins import lines_of, names_of, operators_of
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.strings import StringBuilder


def build_critical_path(
    trace: Trace, facts: Facts, tables: dict[str, Table], texts: StringBuilder
) -> tuple[dict[str, Table], dict[str, object]]:
    """The tables ``critical_path`` and ``critical_path_steps``."""
    walk = _Walk(trace, facts)
    paths = [walk.path(step) for step in range(facts["steps"].n)]
    counts = [len(path[0]) for path in paths]
    none = np.zeros(0, np.int64)
    start, end, cause, event = (
        np.concatenate(column) for column in zip((none,) * 4, *paths, strict=True)
    )
    path = schema.CRITICAL_PATH.build(
        step=np.repeat(np.arange(len(paths)), counts),
        start=start,
        end=end,
        cause=cause,
        event=event,
    )
    return {"critical_path": path, "critical_path_steps": _sums(trace, facts, path)}, {}


def _sums(trace: Trace, facts: Facts, path: Table) -> Table:
    event, time = path["event"].astype(np.int64), path["end"] - path["start"]
    keys = {
        "step": path["step"],
        "cause": path["cause"],
        "name": names_of(trace, event),
        "line": lines_of(trace, facts, event),
        "operator": operators_of(trace, facts, event),
    }
    first, group = group_rows(tuple(keys.values()))
    n = len(first)
    return schema.CRITICAL_PATH_STEPS.build(
        **{key: column[first] for key, column in keys.items()},
        time=sum_by(group, n, time),
        segments=np.bincount(group, minlength=n),
        event=event[largest_by(group, n, time)],
    )


class _Walk:
    """Goes back through a trace. Of every stretch only its begin, cause and event are noted: it ends where
    the stretch that was noted before it begins.
    """

    def __init__(self, trace: Trace, facts: Facts) -> None:
        blocking = blocking_calls(trace, facts)
        self._facts, self._spans = facts, trace["spans"]
        self._host = host_segments(trace, facts, blocking)
        self._work = device_work(trace, facts)
        self._main = main_track(trace, facts, self._host)
        self._jumps = find_jumps(trace, facts, self._host, self._work, blocking, self._main)
        self._by_end = ending_order(self._work)
        self._causes = device_causes(trace, facts, self._work.row)
        work = self._work
        launched = np.isin(work.begin, (Begin.LAUNCH, Begin.EARLIER))
        stops = launched | (work.begin == Begin.UNKNOWN) & (work.launch < 0)
        # Single numbers are read from a memoryview several times as fast as from an array.
        self._before = work.before
        self._chain_columns = (work.start.data, self._before.data, stops.data)
        self._noted: list[tuple[Array, Array, Array]] = []

    def path(self, step: int) -> tuple[Ints, Ints, Array, Ints]:
        """``(start, end, cause, event)`` of the path of a step, in time order."""
        steps = self._facts["steps"]
        begin, end = int(steps["start"][step]), int(steps["end"][step])
        self._noted = []
        time, track = end, self._main
        device = self._last_device(begin, end, int(steps["host_end"][step]))
        while time > begin:
            if device >= 0:
                time, track = self._on_device(device, time, begin)
                device = -1
            elif track >= 0:
                time, device, track = self._on_host(track, time, begin)
            else:
                self._note(begin, PathCause.NOT_RECORDED)
                break
        if not self._noted:
            return (np.zeros(0, np.int64),) * 4
        start, cause, event = (
            np.concatenate(column)[::-1] for column in zip(*self._noted, strict=True)
        )
        start = np.maximum(start, begin)
        stop = np.append(start[1:], end)
        lasting = start < stop
        return start[lasting], stop[lasting], cause[lasting], event[lasting]

    def _note(self, start: int, cause: int, event: int = -1) -> None:
        self._noted.append((np.array([start]), np.array([cause], np.uint8), np.array([event])))

    def _on_device(self, device: int, time: int, floor: int) -> tuple[int, int]:
        """Goes back along device work from ``time``; returns where it comes out, ``(time, track)``."""
        work, spans = self._work, self._spans
        if work.end[device] < time:
            self._note(int(work.end[device]), PathCause.NOT_RECORDED)
        while True:
            chain = self._chain(device, floor)
            last = int(chain[-1])
            self._note_chain(chain)
            time, how = int(work.start[last]), work.begin[last]
            if time <= floor:
                return time, -1
            if how in (Begin.LAUNCH, Begin.EARLIER):
                call = int(work.launch[last])
                returned = min(time, int(spans["start"][call] + spans["dur"][call]))
                cause = PathCause.LAUNCH if how == Begin.LAUNCH else PathCause.BEFORE_RECORDING
                self._note(returned, cause, int(work.row[last]))
                return returned, int(spans["track"][call])
            if not self._waits(time):
                return time, self._main
            device = int(self._before[last])
            if device < 0:
                return time, -1
            self._note(int(work.end[device]), PathCause.NOT_RECORDED, int(work.row[last]))

    def _chain(self, device: int, floor: int) -> Ints:
        """Positions of work that followed each other, the last first, up to one that did not or began by
        ``floor``.
        """
        starts, before, stops = self._chain_columns
        chain = [device]
        while not stops[device] and starts[device] > floor and before[device] >= 0:
            device = before[device]
            chain.append(device)
        return np.array(chain)

    def _note_chain(self, chain: Ints) -> None:
        """Notes each piece of work and the gap before it, which belongs to what began late."""
        work, n = self._work, 2 * len(chain) - 1
        start, cause, event = np.empty(n, np.int64), np.empty(n, np.uint8), np.empty(n, np.int64)
        start[::2], start[1::2] = work.start[chain], work.end[chain[1:]]
        cause[::2] = self._causes[chain]
        cause[1::2] = np.where(
            work.begin[chain[:-1]] == Begin.UNKNOWN, PathCause.NOT_RECORDED, PathCause.LAUNCH
        )
        event[::2], event[1::2] = work.row[chain], work.row[chain[:-1]]
        self._noted.append((start, cause, event))

    def _on_host(self, track: int, time: int, floor: int) -> tuple[int, int, int]:
        """Goes back along a thread to the next jump; returns ``(time, device, track)``, of which one is −1."""
        jumps, host = self._jumps, self._host
        low = int(jumps.bounds[track])
        jump = (
            low - 1 + int(np.searchsorted(jumps.time[low : jumps.bounds[track + 1]], time, "right"))
        )
        # From the begin of an operator that it handed over, the main thread is reached only by going back through it.
        while jump >= low and jumps.time[jump] == time and jumps.target[jump] == -2 - self._main:
            jump -= 1
        until, target = floor, -1
        if jump >= low and jumps.time[jump] > floor:
            until, target = int(jumps.time[jump]), int(jumps.target[jump])
        own = host.of_track(track)
        last = own.start + int(np.searchsorted(host.start[own], time, "left"))
        first = own.start + int(np.searchsorted(host.end[own], until, "right"))
        if first < last:
            if host.end[last - 1] < time:
                self._note(int(host.end[last - 1]), PathCause.NOT_RECORDED)
            taken = slice(first, last)
            start = np.maximum(host.start[taken], until)
            self._noted.append((start[::-1], host.cause[taken][::-1], host.span[taken][::-1]))
        if first >= last or host.start[first] > until:
            self._note(until, PathCause.NOT_RECORDED)
        return until, max(target, -1), -2 - target if target < -1 else track

    def _last_device(self, begin: int, end: int, host_end: int) -> int:
        """The device work with which a step ends, −1 where it ends on the host."""
        work, by_end = self._work, self._by_end
        before = int(np.searchsorted(work.end[by_end], end, "right"))
        latest = int(by_end[before - 1]) if before else -1
        if latest < 0 or work.end[latest] <= begin:
            return -1
        return latest if work.end[latest] > min(host_end, self._last_host(end)) else -1

    def _last_host(self, time: int) -> int:
        """When the main thread last ended something, no later than ``time``; −1 never."""
        own = self._host.of_track(self._main) if self._main >= 0 else slice(0, 0)
        before = int(np.searchsorted(self._host.start[own], time, "left"))
        return min(int(self._host.end[own][before - 1]), time) if before else -1

    def _waits(self, time: int) -> bool:
        """Whether the main thread is in a blocking call then, so that it held nothing back, or there is none."""
        if self._main < 0:
            return True
        own = self._host.of_track(self._main)
        at = int(np.searchsorted(self._host.start[own], time, "left")) - 1
        return (
            at < 0
            or self._host.end[own][at] < time
            or self._host.cause[own][at] == PathCause.SYNCHRONIZATION
        )
