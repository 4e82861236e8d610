"""What let each piece of device work begin: the work before it on its stream, its launch, or work
on another stream.

::

    host      [launch a][launch b]                  [launch c]
    stream 7         [    a    ][  b  ]                    [ c ]     a, c: launch; b: stream order
    stream 20                          [ d ]                         d: its stream waited for an event behind
                                                                     b, or it began when b had ended, long
                                                                     after its launch
"""

from __future__ import annotations

from enum import IntEnum
from typing import NewType

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    group_rows,
    places_in,
    positions_of,
    same_keys,
)
from torch_tb_profiler.analysis.facts.communication import communication_rows
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.facts.host_names import spans_named
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role

NEAR_FACTOR, NEAR_LEAST_NS = 4, 2_000
"""Work that begins within so many usual gaps after other work has ended is taken to follow it."""
CLOCK_NS = 50_000
"""Work that by the device's clock begins so much before what it is known to have waited for ends did wait."""
COVERED = 0.1
"""Share of a wait that may be left once what was waited for has ended."""
LONG_FACTOR, LONG_LEAST_NS = 50, 100_000
"""A gap of so many usual ones is no longer how long it takes to start the next work of a stream."""


_LETS_WAIT = regex(r"\w+(?:StreamWait(?:Event|Value)|EnqueueEventsWait)")
"""Runtime calls that let a stream wait."""


_NONE = np.zeros(0, np.int64)
WorkPosition = NewType("WorkPosition", int)
"""A position in ``DeviceWork``, −1 none."""


class Begin(IntEnum):
    """Why device work began when it did."""

    UNKNOWN = 0
    STREAM = 1
    """The work before it on its stream had ended."""
    LAUNCH = 2
    """It was launched onto an idle stream."""
    OTHER_STREAM = 3
    """Its stream waited for an event behind work of another; or inferred: such work had just ended, or covered most of its wait."""
    EARLIER = 4
    """Inferred: it is the first work of its stream that was recorded and began long after its launch."""


class DeviceWork(msgspec.Struct, frozen=True):
    """Arrays of shape (device events,).

    row: rows of spans, ascending. start, end: ns; where the stamps of two that follow each other overlap, the second
    starts at the end of the first. launch: row of spans; −1 unknown. begin: ``Begin``.
    previous: position of the work that ended last before it began, on its stream; elsewhere: on its
    device; −1 none. awaits: the work of another stream for which the host let it wait; −1 none known.
    gap: usual time between two pieces of work of a full stream, ns.
    """

    row: Ints
    start: Ints
    end: Ints
    launch: Ints
    begin: Array
    previous: Ints
    elsewhere: Ints
    awaits: Ints
    gap: float

    @property
    def before(self) -> Ints:
        """Position of the work that each followed, on its stream or another; −1 none."""
        return np.where(self.begin == Begin.OTHER_STREAM, self.elsewhere, self.previous)


def device_work(
    trace: Trace, facts: Facts, blocking: Mask, transfers: tuple[Ints, Ints] = (_NONE, _NONE)
) -> DeviceWork:
    """All kernels, copies and memsets of a trace, with what let each begin. ``blocking``: which rows of spans are
    calls that wait for device work. ``transfers``: rows of spans that move data on a thread of their own, which
    counts as a stream, and the calls that started them.

    The usual gap is the median time between the ends and begins of work that was launched before the
    work before it had ended; it only tells gaps that need a reason from those that need none.
    """
    spans = trace["spans"]
    row, launch = _rows(trace, facts, transfers)
    start = spans["start"][row]
    end = start + spans["dur"][row]
    device, stream = _streams(trace, row)
    called, returned = _call_times(spans, launch)
    waits = np.append(blocking, False)[launch]
    end = _before_return(waits & (spans["role"][row] == Role.MEMCPY), start, end, returned)
    before, start, end = _stream_order(stream, launch, start, end)
    # A call that waits launches its own work when what it waits for has ended, others before they return.
    issued = np.where(waits, called, returned)
    recorded = _recorded_waits(trace, row, launch, start, end)
    inferred = _awaited(trace, stream, launch, called, start, end)
    awaits = np.where(recorded >= 0, recorded, inferred)
    start = np.where(awaits >= 0, np.clip(end[awaits], start, end), start)
    elsewhere, running = _latest_ended(device, start, end), _begun_before(device, start, end)
    ended = np.where(before >= 0, end[before], -1)
    gap = start - ended
    told = np.where(recorded >= 0, end[recorded], -1) > np.maximum(ended, issued)
    queued = (before >= 0) & (launch >= 0) & (ended >= returned) & ~told
    usual = float(np.median(gap[queued])) if queued.any() else 0.0
    nearest, long = max(NEAR_LEAST_NS, NEAR_FACTOR * usual), long_gap(usual)
    held = np.where(awaits >= 0, end[awaits], -1) > np.maximum(ended, issued)
    held = told | (held & (start - end[awaits] <= long))
    near = (before >= 0) & (gap <= np.where(waits, long, nearest))
    # While its launch call runs, work may be launched already or not: a near end decides.
    launched = (ended >= returned) | ((ended > called) & near)
    follows = (before >= 0) & np.where(launch >= 0, launched, near)
    begin = np.where(launch >= 0, np.uint8(Begin.LAUNCH), np.uint8(Begin.UNKNOWN))
    begin[follows] = np.where(gap <= long, np.uint8(Begin.STREAM), np.uint8(Begin.UNKNOWN))[follows]
    early = (begin == Begin.LAUNCH) & (before < 0) & (start - returned > long)
    begin[early & ~np.isin(row, transfers[0])] = Begin.EARLIER
    other_end = np.where(elsewhere >= 0, end[elsewhere], -1)
    late = other_end > np.maximum(ended, issued)
    # On a device that does nothing else a call that waits had its own work wait for what ended last.
    ran = np.where(running >= 0, end[running], -1)
    alone = waits & (ran <= start)
    other = late & (start - other_end <= np.where(alone, long, nearest)) & ~near
    # Most of a wait without a reason passed while other work ran, and it was over shortly after.
    unknown, most = begin == Begin.UNKNOWN, np.minimum(long, COVERED * gap)
    other |= unknown & late & (start - other_end <= most)
    # Or shortly before, by its stamp.
    soon = unknown & ~held & ~other & (ran > start) & (ran - start <= np.minimum(CLOCK_NS, most))
    # A thread that transfers waits for no other, as a stream may: what started it is unknown.
    lone = np.isin(row, transfers[0][transfers[1] < 0])
    begin[other | held | soon] = Begin.OTHER_STREAM
    begin[lone], soon = Begin.UNKNOWN, soon & ~lone
    elsewhere = np.where(held, awaits, np.where(soon, running, elsewhere))
    start = np.where(soon, np.minimum(ran, end), start)
    return DeviceWork(row, start, end, launch, begin, before, elsewhere, awaits, usual)


def _call_times(spans: Table, launch: Ints) -> tuple[Ints, Ints]:
    """When the calls that launched work began and returned, ns; −1 unknown."""
    called = np.where(launch >= 0, spans["start"][launch], -1)
    return called, np.where(launch >= 0, called + spans["dur"][launch], -1)


def _before_return(copies: Mask, start: Ints, end: Ints, returned: Ints) -> Ints:
    """When work ended: a call that copies returns when its last part is under way."""
    return np.where(copies & in_call(start, end, returned), np.minimum(end, returned), end)


def _rows(trace: Trace, facts: Facts, transfers: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """``(row, launch)`` of all device work and transfers, as of ``DeviceWork``."""
    row = np.concatenate((device_rows(trace), transfers[0]))
    launch = facts["span_links"]["launch"][row].astype(np.int64)
    launch[len(row) - len(transfers[0]) :] = transfers[1]
    order = np.argsort(row, kind="stable")
    return row[order], launch[order]


def _awaited(
    trace: Trace, stream: Ints, launch: Ints, called: Ints, start: Ints, end: Ints
) -> Ints:
    """The work for which the host let each piece wait.

    Traces do not say of which streams a call like ``cudaStreamWaitEvent`` speaks. Where a thread launched work
    onto one stream before the call and onto another one after it, the second waits for the first::

        host      [launch a][cudaStreamWaitEvent][launch b]
        stream 7        [   a   ]
        stream 20                        [ b ]                 b waits for a
    """
    spans = trace["spans"]
    runtime = spans["role"] == Role.RUNTIME
    call = np.flatnonzero(spans_named(trace, runtime, _LETS_WAIT.match))
    awaits = np.full(len(start), -1, np.int64)
    known = np.flatnonzero(launch >= 0)
    if not len(call) or not len(known):
        return awaits
    time = np.concatenate((called[known], spans["start"][call]))
    track = np.concatenate((spans["track"][launch[known]], spans["track"][call]))
    order = np.lexsort((time, track))
    is_call = order >= len(known)
    slot = np.arange(len(order))
    earlier = np.maximum.accumulate(np.where(is_call, -1, slot))
    later = np.minimum.accumulate(np.where(is_call, len(order), slot)[::-1])[::-1]
    between = slot[is_call]
    between = between[(earlier[between] >= 0) & (later[between] < len(order))]
    first, second = order[earlier[between]], order[later[between]]
    alike = track[first] == track[second]
    a, b = known[first[alike]], known[second[alike]]
    late = _stamps_may_overlap(end[a] - start[a], end[b] - start[b])
    other = (stream[a] != stream[b]) & (end[a] - start[b] <= late)
    awaits[b[other]] = a[other]
    return awaits


def in_call(start: Ints, end: Ints, returned: Ints) -> Mask:
    """Which copies ran for the greater part before their call returned: it waited for them."""
    return np.asarray(2 * (returned - start) > end - start)


def long_gap(usual: float) -> float:
    """From when on a gap, ns, is no longer how long the next work of a stream takes to start; ``usual``: the gap of a
    full stream.
    """
    return max(LONG_LEAST_NS, LONG_FACTOR * usual)


def ending_order(work: DeviceWork) -> Ints:
    """Positions of the work that lasts, ordered by its end."""
    lasting = np.flatnonzero(work.end > work.start)
    return np.asarray(lasting[np.argsort(work.end[lasting], kind="stable")])


def _streams(trace: Trace, row: Ints) -> tuple[Ints, Ints]:
    """A number per device, and one per stream of a device; unknown streams are told apart by track."""
    device, stream = device_arguments(trace, row, ("device", "stream")).values()
    stream = np.where(stream >= 0, stream, -2 - trace["spans"]["track"][row].astype(np.int64))
    return group_rows((device,))[1], group_rows((device, stream))[1]


def _stream_order(stream: Ints, launch: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """The work that each follows on its stream, −1 none, and when it began and ended, ns. A stream does in order what
    is launched onto it; stamps of two clocks, or of a coarse one, may say otherwise by a little::

        stream 7   [     a     ]
                             [  b  ]           b followed a, and began when a had ended
        graph      [     a     ]
                     [  b    ]                 branches of a graph on one stream: b followed what a did
    """
    before = _begun_before(stream, start, end)
    overlap = np.where(before >= 0, end[before] - start, 0)
    branches = (launch < 0) | (launch[before] == launch)
    most = np.where(branches, _stamps_may_overlap(end - start, (end - start)[before]), CLOCK_NS)
    follows = overlap <= most
    late = np.where(follows & (before >= 0), end[before], start)
    before = np.where(follows, before, _latest_ended(stream, start, end))
    return before, np.maximum(start, late), np.maximum(end, late)


def _stamps_may_overlap(one: Ints, other: Ints) -> Ints:
    """By how much stamps of work that lasted so long may overlap, ns, though one followed the other."""
    return np.asarray(np.minimum(CLOCK_NS, np.minimum(one, other) // 2))


def _begun_before(group: Ints, start: Ints, end: Ints) -> Ints:
    """For each piece of work the one that ended last of those of its group that began before it; −1 none."""
    n = len(start)
    order = np.lexsort((np.arange(n), end, start, group))
    low = int(end.min(initial=0))
    key = group[order] * (int(end.max(initial=0)) - low + 1) + (end[order] - low)
    longest = np.append(True, key[1:] > np.maximum.accumulate(key)[:-1])[:n]
    last = np.append(-1, np.maximum.accumulate(np.where(longest, np.arange(n), -1)))[:n]
    before = np.full(n, -1, np.int64)
    before[order] = np.append(order, -1)[last]
    # Keys of absurd times may overflow.
    return np.where((before >= 0) & (group[before] == group), before, -1)


def _latest_ended(group: Ints, start: Ints, end: Ints) -> Ints:
    """For each piece of work the one of its group that ended last, no later than it began; −1 none.

    Pieces without length at one time follow each other by row, so that going back ends.
    """
    n = len(start)
    empty = start == end
    order = np.lexsort((np.arange(n), empty, end, group))
    low = int(start.min(initial=0))
    width = int(end.max(initial=0)) - low + 2
    key = group[order] * width + (end[order] - low)
    slot = np.searchsorted(key, group * width + (start - low), side="right") - 1
    rank = places_in(n, order)
    slot[empty] = rank[empty] - 1
    latest = np.append(order, -1)[slot]
    # Keys of absurd times may overflow; going back must go back all the same.
    return np.where((latest >= 0) & (group[latest] == group) & (end[latest] <= start), latest, -1)


def device_causes(trace: Trace, facts: Facts, row: Ints) -> Array:
    """``PathCause`` of device work, uint8."""
    role = trace["spans"]["role"][row]
    cause = np.full(len(row), PathCause.KERNEL, np.uint8)
    cause[role == Role.MEMCPY] = PathCause.MEMCPY
    cause[role == Role.MEMSET] = PathCause.MEMSET
    moved = np.isin(row, communication_rows(trace, facts)) | ~np.isin(role, DEVICE_ROLES)
    cause[moved] = PathCause.COMMUNICATION
    return cause


def _recorded_waits(trace: Trace, row: Ints, launch: Ints, start: Ints, end: Ints) -> Ints:
    """For each piece of work the one on another stream that ended last of those for which its stream was told to
    wait before its launch, as far as the trace has records of such waits; −1 none.

    ::

        host       [launch b][record]          [wait][launch d]
        stream 7            [    b    ]                              the last work launched before the record
        stream 20                      [ d ]                         the first work launched after the wait
    """
    spans, arguments = trace["spans"], trace["sync_args"]
    awaited = np.full(len(row), -1, np.int64)
    known = np.flatnonzero((arguments["wait_stream"] >= 0) & (arguments["wait_record"] >= 0))
    if not len(known) or not len(row):
        return awaited
    correlation = spans["correlation"]
    call = np.flatnonzero((spans["role"] == Role.RUNTIME) & (correlation >= 0))
    call = call[np.argsort(correlation[call], kind="stable")]
    waits = positions_of(correlation[call], correlation[arguments["span"][known]])
    recorded = positions_of(correlation[call], arguments["wait_record"][known])
    good = (waits >= 0) & (recorded >= 0)
    known, waited = known[good], spans["start"][call[waits[good]]]
    recorded = spans["start"][call[recorded[good]]]
    launched = np.flatnonzero(launch >= 0)
    streams = tuple(device_arguments(trace, row[launched], ("device", "stream")).values())
    called = spans["start"][launch[launched]]
    device, waiting, other = (arguments[key][known] for key in ("device", "stream", "wait_stream"))
    follower = _nearest(streams, called, (device, waiting), waited, later=True)
    source = _nearest(streams, called, (device, other), recorded, later=False)
    good = (follower >= 0) & (source >= 0)
    follower, source = launched[follower[good]], launched[source[good]]
    good = (start[source] < start[follower]) & (end[source] <= start[follower] + CLOCK_NS)
    follower, source = follower[good], source[good]
    order = np.argsort(end[source], kind="stable")
    awaited[follower[order]] = source[order]
    return awaited


def _nearest(
    streams: tuple[Array, ...], called: Ints, wanted: tuple[Array, ...], time: Ints, later: bool
) -> Ints:
    """For each time the position of what was called last before it, or first after it, on the wanted stream; −1
    none.
    """
    n = len(called)
    own, asked = same_keys(streams, wanted)
    key, when = np.concatenate((own, asked)), np.concatenate((called, time))
    is_time = np.arange(len(key)) >= n
    order = np.lexsort((is_time ^ later, when, key))
    order = order[::-1] if later else order
    last = np.maximum.accumulate(np.where(is_time[order], -1, np.arange(len(order))))
    nearest = np.append(order, -1)[last]
    nearest = np.where((nearest >= 0) & (key[nearest] == key[order]), nearest, -1)
    found = np.full(len(time), -1, np.int64)
    found[order[is_time[order]] - n] = nearest[is_time[order]]
    return found
