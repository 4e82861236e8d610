"""The walk back through a trace, from a moment to what let it come.

Another rank can hold up a collective or a transfer: it cannot end before its last rank has begun. There the walk
over all ranks (``ranks.py``) leaves one trace and goes on in another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import positions_of
from torch_tb_profiler.analysis.arrays.nesting import BLOCK
from torch_tb_profiler.analysis.critical_path.device import (
    Begin,
    WorkPosition,
    device_causes,
    ending_order,
)
from torch_tb_profiler.analysis.critical_path.evidence import Evidence
from torch_tb_profiler.analysis.critical_path.jumps import find_jumps, waiting
from torch_tb_profiler.store.columns import Array, Ints, SpanRow, StepRow, TrackRow, is_one_of
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts, Trace

Piece = tuple[Array, Array, Array]
"""``(start, cause, event)`` of stretches, the latest first."""
_BUSY = (PathCause.OPERATOR, PathCause.RUNTIME)
_MAIN = (PathCause.PYTHON, PathCause.DATALOADER, PathCause.ANNOTATION)
"""Work of any thread, and what counts as work of the main thread only."""
NEVER = np.iinfo(np.int64).max
NO_CAUSE = np.uint8(255)
NO_SPAN: Final = SpanRow(-1)
_NO_WORK: Final = WorkPosition(-1)
_NO_TRACK: Final = TrackRow(-1)


class WalkPosition(NamedTuple):
    """Where a walk stands, at ``time``, ns."""

    time: int
    device: WorkPosition = _NO_WORK
    track: TrackRow = _NO_TRACK


class Walk:
    """Goes back through a trace. Of every stretch only its begin, cause and event are noted: it ends where
    the stretch that was noted before it begins.
    """

    def __init__(self, trace: Trace, facts: Facts, evidence: Evidence) -> None:
        # Copies of what is mapped, so that a walk keeps no file.
        spans, steps = trace["spans"], facts["steps"]
        self._start, self._dur, self._track = (
            np.require(spans[key], requirements="O") for key in ("start", "dur", "track")
        )
        self._steps = {key: steps[key].copy() for key in ("start", "end", "host_end")}
        self._host, self._work, self.main = evidence.host, evidence.work, TrackRow(evidence.main)
        self._locks = evidence.locks
        self._jumps = find_jumps(
            trace, facts, self._host, self._work, evidence.blocking, self.main, evidence.locks
        )
        self._by_end = ending_order(self._work)
        self._ends = self._work.end[self._by_end]
        self._causes = device_causes(trace, facts, self._work.row)
        work = self._work
        launched = np.isin(work.begin, (Begin.LAUNCH, Begin.EARLIER))
        stops = launched | (work.begin == Begin.UNKNOWN) & (work.launch < 0)
        self._before = work.before
        # Single numbers are read from a memoryview several times as fast as from an array.
        self._chain_columns = (work.start.data, self._before.data, stops.data)
        self._release = np.full(len(work.row), NEVER)
        self._noted: list[Piece] = []

    def meet(self, event: Ints, release: Ints) -> None:
        """Of some rows of spans, communication for which another rank was late: when that one began, ns."""
        work = self._work
        at = positions_of(work.row, event)
        at, release = at[at >= 0], release[at >= 0]
        own = (release > work.start[at]) & (release < work.end[at])
        self._release[at[own]] = release[own]

    def path(self, step: StepRow) -> tuple[Ints, Ints, Array, Ints]:
        """``(start, end, cause, event)`` of the path of a step, in time order."""
        steps = self._steps
        begin, end = int(steps["start"][step]), int(steps["end"][step])
        pieces, _ = self.leg(self.end_of(step, end), begin)
        return in_order(pieces, begin, end)

    def work(self, trace: Trace, facts: Facts) -> tuple[Array, Ints]:
        """``(cause, time)`` of each row of spans: of everything that the device and the threads did, without
        communication, waiting and what nothing was recorded of; ``NO_CAUSE`` for all else.
        """
        work, host = self._work, self._host
        own = self._causes != PathCause.COMMUNICATION
        busy = is_one_of(host.cause, _BUSY)
        if self.main >= 0:
            on_main = host.of_track(self.main)
            busy[on_main] |= is_one_of(host.cause[on_main], _MAIN)
            busy[on_main] &= ~waiting(trace, facts, host, work, self.main, self._locks)
        n = trace["spans"].n
        time, cause = np.zeros(n, np.int64), np.full(n, NO_CAUSE)
        for begin in range(0, len(busy), BLOCK):
            some = begin + np.flatnonzero(busy[begin : begin + BLOCK])
            span = host.span[some]
            np.add.at(time, span, host.end[some] - host.start[some])
            cause[span] = host.cause[some]
        time[work.row[own]] = (work.end - work.start)[own]
        cause[work.row[own]] = self._causes[own]
        return cause, time

    def end_of(self, step: StepRow, time: int) -> WalkPosition:
        """Where a step ends that lasts until ``time``; the host may go on beyond its own end."""
        begin, end, host_end = (int(self._steps[key][step]) for key in ("start", "end", "host_end"))
        reached = host_end if time <= end else time
        return WalkPosition(time, self._last_device(begin, time, reached), self.main)

    def begin_of(self, event: SpanRow, time: int) -> WalkPosition:
        """Where an event begins, or the moment of it at ``time``."""
        device = WorkPosition(int(positions_of(self._work.row, np.array([event]))[0]))
        return WalkPosition(time, device, TrackRow(int(self._track[event])))

    def leg(self, place: WalkPosition, floor: int) -> tuple[list[Piece], SpanRow]:
        """Goes back from a place to ``floor``, or to where another rank was late; returns what was noted and the
        row of spans of that communication, −1 at the floor.
        """
        self._noted = []
        time, device, track = place
        while time > floor:
            if device >= 0:
                time, track, held = self._on_device(device, time, floor)
                device = _NO_WORK
                if held >= 0:
                    return self._noted, SpanRow(int(self._work.row[held]))
            elif track >= 0:
                time, device, track = self._on_host(track, time, floor)
            else:
                self._note(floor, PathCause.NOT_RECORDED)
                break
        return self._noted, NO_SPAN

    def _note(self, start: int, cause: int, event: int = -1) -> None:
        self._noted.append((np.array([start]), np.array([cause], np.uint8), np.array([event])))

    def _on_device(
        self, device: WorkPosition, time: int, floor: int
    ) -> tuple[int, TrackRow, WorkPosition]:
        """Goes back along device work from ``time``; returns where it comes out, ``(time, track, −1)``, or the
        communication at which another rank was late, ``(time, −1, its position)``.
        """
        work = self._work
        if work.end[device] < time:
            self._note(int(work.end[device]), PathCause.NOT_RECORDED)
        while True:
            chain = self._chain(device, floor, time)
            last = WorkPosition(int(chain[-1]))
            self._note_chain(chain)
            if max(int(work.start[last]), floor) < (late := int(self._release[last])) < time:
                self._noted[-1][0][-1] = late
                return late, _NO_TRACK, last
            time, how = int(work.start[last]), work.begin[last]
            if time <= floor:
                return time, _NO_TRACK, _NO_WORK
            if how in (Begin.LAUNCH, Begin.EARLIER):
                call = int(work.launch[last])
                returned = min(time, int(self._start[call] + self._dur[call]))
                cause = PathCause.LAUNCH if how == Begin.LAUNCH else PathCause.BEFORE_RECORDING
                self._note(returned, cause, int(work.row[last]))
                return returned, TrackRow(int(self._track[call])), _NO_WORK
            if not self._waits(time):
                return time, self.main, _NO_WORK
            device = WorkPosition(int(self._before[last]))
            if device < 0:
                return time, _NO_TRACK, _NO_WORK
            time = min(time, int(work.end[device]))
            self._note(time, PathCause.NOT_RECORDED, int(work.row[last]))

    def _chain(self, device: WorkPosition, floor: int, time: int) -> Ints:
        """Positions of work that followed each other, the last first, up to one that did not, for which another
        rank was late, or that began by ``floor``.
        """
        starts, before, stops = self._chain_columns
        late = self._release.data
        at: int = device
        chain = [at]
        while not stops[at] and starts[at] > floor and before[at] >= 0:
            if late[at] < time:
                break
            at = before[at]
            time = NEVER - 1
            chain.append(at)
        return np.array(chain)

    def _note_chain(self, chain: Ints) -> None:
        """Notes each piece of work and the gap before it, which belongs to what began late."""
        work, n = self._work, 2 * len(chain) - 1
        start, cause, event = np.empty(n, np.int64), np.empty(n, np.uint8), np.empty(n, np.int64)
        start[::2] = work.start[chain]
        start[1::2] = np.minimum(work.end[chain[1:]], start[:-1:2])
        cause[::2] = self._causes[chain]
        cause[1::2] = np.where(
            work.begin[chain[:-1]] == Begin.UNKNOWN, PathCause.NOT_RECORDED, PathCause.LAUNCH
        )
        event[::2], event[1::2] = work.row[chain], work.row[chain[:-1]]
        self._noted.append((start, cause, event))

    def _on_host(
        self, track: TrackRow, time: int, floor: int
    ) -> tuple[int, WorkPosition, TrackRow]:
        """Goes back along a thread to the next jump; returns ``(time, device, track)``, of which one is −1."""
        jumps, host = self._jumps, self._host
        low = int(jumps.bounds[track])
        jump = (
            low - 1 + int(np.searchsorted(jumps.time[low : jumps.bounds[track + 1]], time, "right"))
        )
        # From the begin of an operator that it handed over, the main thread is reached only by going back through it.
        while jump >= low and jumps.time[jump] == time and jumps.target[jump] == -2 - self.main:
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
        reached = TrackRow(-2 - target) if target < -1 else track
        return until, WorkPosition(max(target, -1)), reached

    def _last_device(self, begin: int, end: int, host_end: int) -> WorkPosition:
        """The device work with which a step ends, −1 where it ends on the host."""
        work, by_end = self._work, self._by_end
        before = int(np.searchsorted(self._ends, end, "right"))
        latest = int(by_end[before - 1]) if before else -1
        if latest < 0 or work.end[latest] <= begin:
            return _NO_WORK
        ended_it = work.end[latest] > min(host_end, self._last_host(end))
        return WorkPosition(latest) if ended_it else _NO_WORK

    def _last_host(self, time: int) -> int:
        """When the main thread last ended something, no later than ``time``; −1 never."""
        own = self._host.of_track(self.main) if self.main >= 0 else slice(0, 0)
        before = int(np.searchsorted(self._host.start[own], time, "left"))
        return min(int(self._host.end[own][before - 1]), time) if before else -1

    def _waits(self, time: int) -> bool:
        """Whether the main thread is in a blocking call then, so that it held nothing back, or there is none."""
        if self.main < 0:
            return True
        own = self._host.of_track(self.main)
        at = int(np.searchsorted(self._host.start[own], time, "left")) - 1
        return (
            at < 0
            or self._host.end[own][at] < time
            or self._host.cause[own][at] == PathCause.SYNCHRONIZATION
        )


def in_order(pieces: Sequence[Piece], begin: int, end: int) -> tuple[Ints, Ints, Array, Ints]:
    """Noted stretches as ``(start, end, cause, event)`` in time order, from ``begin`` to ``end``."""
    if not pieces:
        return (np.zeros(0, np.int64),) * 4
    start, cause, event = (np.concatenate(column)[::-1] for column in zip(*pieces, strict=True))
    start = np.maximum(start, begin)
    stop = np.append(start[1:], end)
    lasting = start < stop
    return start[lasting], stop[lasting], cause[lasting], event[lasting]
