"""What a recording shows of device work from before it, and starts at which it shows none.

::

    host      [launch a][launch b][ blocking copy            ]        [launch a][launch b]
    stream 7                                      [ a ][ b ][copy]                          [ a ][ b ]
                        ├─ from before ──────────┤                              ├─ silent ─┤

The first work of a stream waits long after its launch and after all other work that was recorded. Where the host is blocked
for most of that, or before it has launched anything, work that was not recorded ran there: no step counts it. Else nothing
tells why: the start is silent, and counts as all other time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.arrays.grouping import (
    group_rows,
    largest_by,
    mask_of,
)
from torch_tb_profiler.analysis.arrays.intervals import (
    Intervals,
    intersect,
    join,
    measure,
    shared,
    subtract,
    union,
    window_at,
)
from torch_tb_profiler.analysis.facts.host_names import named
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.facts.launches import GIVES_WORK, WAITS
from torch_tb_profiler.analysis.facts.steps import StepWindows
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table, unique_values
from torch_tb_profiler.store.fact_schema import EARLIER_WORK
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.facts.device_causes import DeviceCauses

LEAST_NS = 100_000
"""What an idle stream needs at most to begin what it was given: a shorter wait tells nothing."""
MOST = 0.5
"""Share of a wait in which the host is blocked from which on it shows work from before; of a step that is not recorded or
silent from which on the step is incomplete.
"""
BESIDE = 0.01
"""Share of a wait up to which what the host does beside its blocking call goes with it."""
COVERED = 0.1
"""Share of a wait that may be left once other work has ended that explains it."""
_SYNCHRONISES = regex(r"\w*(?:Device|Ctx|Context)Synchronize|aclrtSynchronizeDevice")
"""After such a call nothing from before it is left on the device."""
_TO_DEVICE = regex(r"HtoD|HostToDevice|(?:Host|Pag\w*|Pinned) -> Device")
_TO_HOST = regex(r"DtoH|DeviceToHost|Device -> (?:Host|Page|Pinned)")
_NONE = np.zeros(0, np.int64)


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
    return stretches(facts["earlier_work"], silent=False)


def stretches(table: Table, *, silent: bool | None = None) -> Intervals:
    """The rows of a table with ``start`` and ``end``, as a set; of ``EARLIER_WORK`` what no figure counts, or silent starts."""
    own = slice(None) if silent is None else table["silent"] == silent
    return union(table["start"][own], table["end"][own])


def incomplete(steps: Mapping[str, Array]) -> Mask:
    """Of which steps more than half is from before the recording, or silent."""
    whole = steps["end"] - steps["start"]
    return np.asarray(steps["earlier"] + steps["silent"] > MOST * whole, np.bool_)


def without_earlier_work(
    trace: Trace, caused: DeviceCauses, windows: StepWindows
) -> tuple[StepWindows, Table]:
    """The steps of a trace with the time that counts in none of them and that of silent starts; the first as
    ``EARLIER_WORK``.
    """
    shown, silent = _starts(trace, caused, windows)
    parts = [shared(windows.start, windows.end, each) for each in (shown, silent)]
    step, since, until = (np.concatenate(column) for column in zip(*parts, strict=True))
    is_silent = np.arange(len(step)) >= len(parts[0][0])
    table = EARLIER_WORK.build(step=step, start=since, end=until, silent=is_silent)
    earlier, silence = (measure(each, windows.start, windows.end) for each in (shown, silent))
    return replace(windows, earlier=earlier, silent=silence), table


def _starts(
    trace: Trace, caused: DeviceCauses, windows: StepWindows
) -> tuple[Intervals, Intervals]:
    """``(from before, silent)``: times in which launched work, or the host, waits and no device work was recorded."""
    spans, none = trace["spans"], union(_NONE, _NONE)
    calls = np.flatnonzero(spans["role"] == Role.RUNTIME)
    if not len(caused.row) or not len(calls) or not len(windows.start):
        return none, none
    work = spans["start"][caused.row]
    recorded = union(work, work + spans["dur"][caused.row])
    blocking = _blocking(trace, caused, calls)
    blocked = union(spans["start"][blocking], spans["start"][blocking] + spans["dur"][blocking])
    waits = _joined(
        _first_works(trace, caused, blocking, windows.device_step),
        _first_waits(trace, caused, calls, blocking, windows),
    )
    length = waits.until - waits.since
    # A wait no longer than devices have worked before it has its reason in there.
    known = (waits.step >= 0) & (waits.since - work.min() <= length)
    waits = waits.take(known & (length > LEAST_NS))
    if len(waits.since):
        waits = waits.take(waits.until - waits.since > _usual(trace, caused, waits))
    if len(waits.since):
        waits = waits.take(~_explained(trace, caused, calls, waits))
    shown, silent = none, none
    since = np.maximum(waits.since, windows.start[waits.step])
    until = np.minimum(waits.until, windows.end[waits.step])
    for place in range(len(since)):
        silence = subtract(union(since[[place]], until[[place]]), recorded)
        waited = intersect(silence, blocked)
        if silence.length <= LEAST_NS:
            continue
        silent = join(silent, silence)
        if waited.length > MOST * silence.length:
            whole = silence.length - waited.length <= BESIDE * silence.length
            shown = join(shown, silence if whole else waited)
    return shown, subtract(silent, shown)


def _blocking(trace: Trace, caused: DeviceCauses, calls: Ints) -> Ints:
    """Those of the runtime calls that wait for the device. A copy to the host waits in its call for what its stream does
    before; a call that copies to the device may as well read the host's memory.
    """
    spans = trace["spans"]
    copies = (caused.launch >= 0) & (spans["role"][caused.row] == Role.MEMCPY)
    call, row = caused.launch[copies], caused.row[copies]
    waited = spans["start"][row] < spans["start"][call] + spans["dur"][call]
    waited &= named(trace, row, _TO_HOST.search)
    reads = call[named(trace, row, _TO_DEVICE.search)]
    waits = calls[named(trace, calls, WAITS.match)]
    return unique_values(np.concatenate((waits[~mask_of(spans.n, reads)[waits]], call[waited])))


def _joined(a: _Waits, b: _Waits) -> _Waits:
    pairs = zip((a.since, a.until, a.step), (b.since, b.until, b.step), strict=True)
    return _Waits(*(np.concatenate(pair) for pair in pairs))


def _first_works(trace: Trace, caused: DeviceCauses, blocking: Ints, device_step: Array) -> _Waits:
    """From the launch of the first work of every stream to its begin. A call that returns after its work has begun tells no
    time between, unless it waited for the device.
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
    waited = mask_of(spans.n, blocking)[launch]
    since = np.where(returned <= begin, returned, np.where(waited, called, begin))
    return _Waits(since, begin, device_step[first].astype(np.int64))


def _first_waits(
    trace: Trace, caused: DeviceCauses, calls: Ints, blocking: Ints, windows: StepWindows
) -> _Waits:
    """Calls that wait for the device before anything was launched."""
    spans = trace["spans"]
    starts = calls[named(trace, calls, GIVES_WORK.match)]
    launched = np.concatenate((spans["start"][starts], caused.time[caused.time >= 0]))
    first = int(launched.min(initial=np.iinfo(np.int64).max))
    row = blocking[spans["start"][blocking] < first]
    since = spans["start"][row]
    step = window_at(windows.host_start, windows.host_end, since)
    return _Waits(since, since + spans["dur"][row], step.astype(np.int64))


def _usual(trace: Trace, caused: DeviceCauses, waits: _Waits) -> int:
    """How long other work than that of ``waits`` waits at most that is launched onto an idle device, ns: for no other
    reason than the device.
    """
    spans = trace["spans"]
    known = caused.launch >= 0
    begin = spans["start"][caused.row]
    ended = np.maximum.accumulate(begin + spans["dur"][caused.row])
    launch = caused.launch[known]
    returned = spans["start"][launch] + spans["dur"][launch]
    idle = np.append(np.iinfo(np.int64).min, ended[:-1])[known] <= returned
    idle &= ~np.isin(begin[known], waits.until)
    return int((begin[known] - returned)[idle].max(initial=0))


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
