"""Time in which devices worked on what was launched before the recording began.

None of that work was recorded, so it looks like idleness without a reason. It shows in two ways::

    host      [launch a]     [launch b][ blocking copy            ]        [ event sync ][launch a]
    stream 7  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░[ a ][ b ][copy]        ░░░░░░░░░░░░░        [ a ]
                        ├──── left out ────────────┤                       ├─ left out ─┤

The first work of a stream waits long after its launch and after all other work that was recorded, or the host waits
before it has launched anything. What was recorded meanwhile, on any device, stays in the step.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.arrays.grouping import (
    extreme_by,
    group_rows,
    largest_by,
    sum_by,
)
from torch_tb_profiler.analysis.arrays.intervals import (
    Intervals,
    measure,
    shared,
    subtract,
    union,
    window_at,
)
from torch_tb_profiler.analysis.facts.host_names import named
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.facts.launches import WAITS
from torch_tb_profiler.analysis.facts.steps import StepWindows
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.fact_schema import EARLIER_WORK
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.facts.device_causes import DeviceCauses

LEAST_NS = 100_000
"""What an idle stream needs at most to begin what it was given: a shorter wait tells nothing."""
FACTOR = 10
"""The longest such wait in medians of the time from a launch to its work, for devices that are slow to begin."""
RECURS = 2
"""A wait is of the begin of the recording if it is so many times as long as the longest of a typical other step."""
STEPS = 0.5
"""A wait that takes less of a typical other step is what a host that is ahead always has: not of the begin."""
COVERED = 0.1
"""Share of a wait that may be left once other work has ended that explains it."""
_SYNCHRONISES = re.compile(r"\w*(?:Device|Ctx|Context)Synchronize|aclrtSynchronizeDevice")
"""After such a call nothing from before it is left on the device."""
_TO_HOST = re.compile(r"DtoH|DeviceToHost|Device -> (?:Host|Page|Pinned)")
_STARTS = re.compile(r"\w*(?:Launch|Memcpy|Memset|Enqueue)")


class _Waits(msgspec.Struct, frozen=True):
    """Arrays of shape (waits,): from when, until when, ns, and the row of ``steps`` that it belongs to, −1 none."""

    since: Ints
    until: Ints
    step: Ints

    def take(self, chosen: Mask) -> _Waits:
        return _Waits(self.since[chosen], self.until[chosen], self.step[chosen])


def step_lengths(steps: Mapping[str, Array]) -> Ints:
    """How long each row of ``STEPS``, or of its columns, takes without work from before the recording, int64 ns."""
    return np.asarray(steps["end"] - steps["start"] - steps["earlier"], np.int64)


def left_out(facts: Facts) -> Intervals:
    """The time of the steps that no figure counts: work from before the recording."""
    return stretches(facts["earlier_work"])


def stretches(table: Table) -> Intervals:
    """The rows of ``EARLIER_WORK``, as a set."""
    return union(table["start"], table["end"])


def without_earlier_work(
    trace: Trace, caused: DeviceCauses, windows: StepWindows
) -> tuple[StepWindows, Table]:
    """The steps of a trace with the time that counts in none of them, and that as ``EARLIER_WORK``."""
    table = _earlier_work(trace, caused, windows)
    time = sum_by(table["step"].astype(np.int64), len(windows.start), table["end"] - table["start"])
    return replace(windows, earlier=time), table


def _earlier_work(trace: Trace, caused: DeviceCauses, windows: StepWindows) -> Table:
    spans = trace["spans"]
    calls = np.flatnonzero(spans["role"] == Role.RUNTIME)
    if not len(caused.row) or not len(calls) or not len(windows.start):
        return EARLIER_WORK.empty()
    begun = int(spans["start"][caused.row].min())
    waits = _first_works(trace, caused, windows.device_step)
    waits = _joined(waits, _first_waits(trace, caused, calls, windows))
    length = waits.until - waits.since
    # A wait no longer than devices have worked before it has its reason in there.
    waits = waits.take((waits.step >= 0) & (length > LEAST_NS) & (waits.since - begun <= length))
    if len(waits.since):
        usual = _usual(trace, caused, windows, waits)
        waits = waits.take(waits.until - waits.since > usual)
    if len(waits.since):
        waits = waits.take(~_explained(trace, caused, calls, waits))
    if not len(waits.since):
        return EARLIER_WORK.empty()
    work = spans["start"][caused.row]
    recorded = union(work, work + spans["dur"][caused.row])
    since = np.maximum(waits.since, windows.start[waits.step])
    until = np.minimum(waits.until, windows.end[waits.step])
    without = subtract(union(since, until), recorded)
    step, since, until = shared(windows.start, windows.end, without)
    kept = measure(without, windows.start, windows.end)[step] > LEAST_NS
    return EARLIER_WORK.build(step=step[kept], start=since[kept], end=until[kept])


def _joined(a: _Waits, b: _Waits) -> _Waits:
    pairs = zip((a.since, a.until, a.step), (b.since, b.until, b.step), strict=True)
    return _Waits(*(np.concatenate(pair) for pair in pairs))


def _first_works(trace: Trace, caused: DeviceCauses, device_step: Array) -> _Waits:
    """From the launch of the first work of every stream to its begin.

    A call that returns after its work has begun tells no time between, unless it is a copy to the host, which waits in its
    call for what its stream does before. One to the device may as well be the host that reads its memory.
    """
    spans = trace["spans"]
    device, stream = device_arguments(trace, caused.row, ("device", "stream")).values()
    stream = np.where(stream >= 0, stream, -2 - spans["track"][caused.row].astype(np.int64))
    streams, number = group_rows((device, stream))
    begin = spans["start"][caused.row]
    first = largest_by(number, len(streams), -begin, -caused.row)
    first = first[caused.launch[first] >= 0]
    launch, begin = caused.launch[first], begin[first]
    called = spans["start"][launch]
    returned = called + spans["dur"][launch]
    to_host = named(trace, caused.row[first], _TO_HOST.search)
    since = np.where(returned <= begin, returned, np.where(to_host, called, begin))
    return _Waits(since, begin, device_step[first].astype(np.int64))


def _first_waits(trace: Trace, caused: DeviceCauses, calls: Ints, windows: StepWindows) -> _Waits:
    """Calls that wait for the device before anything was launched."""
    spans = trace["spans"]
    starts = calls[named(trace, calls, _STARTS.match)]
    launched = np.concatenate((spans["start"][starts], caused.time[caused.time >= 0]))
    first = int(launched.min(initial=np.iinfo(np.int64).max))
    before = calls[spans["start"][calls] < first]
    row = before[named(trace, before, WAITS.match)]
    since = spans["start"][row]
    step = window_at(windows.host_start, windows.host_end, since)
    return _Waits(since, since + spans["dur"][row], step.astype(np.int64))


def _usual(trace: Trace, caused: DeviceCauses, windows: StepWindows, waits: _Waits) -> float:
    """Up to when work that is launched onto an idle device may wait for no other reason than the device, ns; by other
    work than that of ``waits``.
    """
    spans = trace["spans"]
    known = caused.launch >= 0
    begin = spans["start"][caused.row]
    ended = np.maximum.accumulate(begin + spans["dur"][caused.row])
    launch = caused.launch[known]
    returned = spans["start"][launch] + spans["dur"][launch]
    idle = np.append(np.iinfo(np.int64).min, ended[:-1])[known] <= returned
    wait, step = begin[known] - returned, windows.device_step[known]
    chosen = idle & (wait > 0) & ~np.isin(begin[known], waits.until)
    typical = float(np.median(wait[chosen])) if chosen.any() else 0.0
    chosen &= (step >= 0) & ~np.isin(step, waits.step)
    longest = extreme_by(np.maximum, step[chosen], len(windows.start), wait[chosen])
    longest = longest[longest > 0]
    recurring = float(np.median(longest)) if len(longest) else 0.0
    others = np.delete(windows.length, np.unique(waits.step))
    least = STEPS * float(np.median(others)) if len(others) else 0.0
    return max(FACTOR * typical, RECURS * recurring, least)


def _explained(trace: Trace, caused: DeviceCauses, calls: Ints, waits: _Waits) -> Mask:
    """Which waits end shortly after recorded work does, or begin once nothing from before them can be left."""
    spans = trace["spans"]
    ends = np.sort(spans["start"][caused.row] + spans["dur"][caused.row])
    last = np.append(np.iinfo(np.int64).min, ends)[np.searchsorted(ends, waits.until, side="right")]
    length = waits.until - waits.since
    rest = np.minimum(COVERED * length, LEAST_NS)
    followed = (last > waits.since) & (waits.until - last <= rest)
    whole = calls[named(trace, calls, _SYNCHRONISES.match)]
    done = (spans["start"][whole] + spans["dur"][whole]).min(initial=np.iinfo(np.int64).max)
    return np.asarray(followed | (done <= waits.since))
