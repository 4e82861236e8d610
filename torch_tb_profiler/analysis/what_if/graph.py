"""What each moment of a trace depended on: points in time, each of which comes when two others have come.

::

    host      ─L1───────L2──────────────R─────      L: a launch; R: a blocking call was released
                ╲         ╲            ╱
    stream 7     ╲─[ a ]E1─╲─[  b   ]E2             E: the end of device work

``time[i] = max(time[first[i]] + first_ns[i], time[second[i]] + second_ns[i])``, with:

=====  ========================================  ==================================================
point  first                                     second
=====  ========================================  ==================================================
host   the point before it on its thread, and    what released it: the end of device work, or
       what the thread did between               another thread
end    the end of the work before it on its      its launch (``launched_at``) and the latency after it;
       stream, and the gap between them          or its joint
joint  the end of work on another stream         the launch
=====  ========================================  ==================================================

The delay after what let something begin is kept as it was measured; after what did not, the usual one
of the trace stands in for it, if that is shorter: two medians, the gap of a full stream and the latency of
a launch onto an idle one. So a graph without a change comes out as it was measured. Points are ordered by
the time at which they came, so what a point waits for stands before it.
"""

from __future__ import annotations

from functools import cached_property

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.critical_path.device import Begin, DeviceWork
from torch_tb_profiler.analysis.critical_path.evidence import Evidence
from torch_tb_profiler.analysis.critical_path.host import HostSegments
from torch_tb_profiler.analysis.what_if.host_points import (
    HostPoints,
    Places,
    host_points,
    launched_at,
    places,
)
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Facts, Trace

NONE, ROOT = 0, 1
"""The first two points: one that never holds anything back, and the begin of the trace."""


class Graph(msgspec.Struct, frozen=True, dict=True):
    """The points of a trace.

    main: the program's thread, row of tracks; −1 none.
    time: when each came as measured, ns, int64 of shape (points,). first, second: points, of the same
    shape.
    hosts: the points of ``points``, of shape (host points,); since, until: what of the clock of its
    thread lies between each and its ``first``, or the begin of its thread, ``opened``.
    ends: the point at which each piece of device work ends, of shape (device events,); lead, latency: ns
    from its ``first`` and from its launch to its begin, float64; step: row of steps that launched it.
    joints: the points of work that waited for another stream; joined: its positions; after: ns from the end of what it
    waited for, float64.
    """

    main: int
    host: HostSegments
    work: DeviceWork
    time: Ints
    first: Ints
    second: Ints
    points: HostPoints
    hosts: Ints
    since: Places
    until: Places
    opened: Ints
    ends: Ints
    lead: Array
    latency: Array
    step: Ints
    joints: Ints
    joined: Ints
    after: Array

    @cached_property
    def _bounds(self) -> tuple[Ints, Ints, Ints]:
        """The segments in which moments of ``since`` or ``until`` lie, ascending, and the position of each one's."""
        segments = np.concatenate((self.since.segment, self.until.segment))
        row, place = group_rows((segments,))
        since, until = np.split(place, 2)
        return segments[row], since, until

    def between(self, segment_ns: Array) -> Array:
        """Time from ``since`` to ``until`` of each host point, ns, float64, if the segments last so long."""
        if not len(segment_ns):
            return np.asarray(self.until.outside - self.since.outside)
        bounds, since, until = self._bounds
        passed = np.zeros(len(bounds))
        np.cumsum(np.add.reduceat(segment_ns, bounds)[:-1], out=passed[1:])
        after = self.until.clock(segment_ns, passed[until])
        return np.asarray(after - self.since.clock(segment_ns, passed[since]))


def build_graph(trace: Trace, facts: Facts, evidence: Evidence) -> Graph:
    """The graph of a trace; any trace has one."""
    host, work = evidence.host, evidence.work
    points = host_points(trace, facts, host, work, evidence.blocking, evidence.main, evidence.locks)
    other = np.where(work.begin == Begin.OTHER_STREAM, work.elsewhere, work.awaits)
    joined = np.flatnonzero((other >= 0) & (work.end > work.start))
    time, hosts, ends, joints = _ordered(points, work, joined, other[joined])
    first, second = np.full((2, len(time)), NONE, np.int64)
    of_host, of_work = np.append(hosts, NONE), np.append(ends, NONE)
    first[hosts] = of_host[points.before]
    second[hosts] = np.where(points.device >= 0, of_work[points.device], of_host[points.other])
    # A thread whose first point ends a call that waited had begun before.
    began = (second[hosts] == NONE) | (points.call >= 0)
    alone = (first[hosts] == NONE) & began
    first[hosts[alone]] = ROOT
    launch = of_host[points.launch]
    first[ends], lead = _device_first(work, of_work)
    second[ends] = launch
    second[ends[joined]] = joints
    first[joints], second[joints] = of_work[other[joined]], launch[joined]
    for side in (first, second):
        # Clocks that disagree may put a launch after its work: what comes later holds nothing back.
        side[side >= np.arange(len(side))] = NONE
    lost = ((first == NONE) & (second == NONE))[ends]
    first[ends[lost]], lead[lost] = ROOT, work.start[lost]
    opened = np.minimum(host.first_of(points.track), points.reach)
    since = np.where(points.before >= 0, points.time[points.before], points.reach)
    since[alone] = opened[alone]
    return Graph(
        main=evidence.main,
        host=host,
        work=work,
        time=time,
        first=first,
        second=second,
        points=points,
        hosts=hosts,
        since=places(host, points.track, since),
        until=places(host, points.track, points.reach),
        opened=opened,
        ends=ends,
        lead=lead,
        latency=_latency(trace, work),
        step=facts["span_links"]["step"][work.row].astype(np.int64),
        joints=joints,
        joined=joined,
        after=_after(work, joined, other[joined]),
    )


def _ordered(
    points: HostPoints, work: DeviceWork, joined: Ints, other: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """``(time, hosts, ends, joints)``: all points in the order of time; at one time ends come first, then
    the host, then joints.
    """
    n_host, n_work = len(points.time), len(work.row)
    # By the device's clock work may begin shortly before what it waited for ends.
    time = np.concatenate((points.time, work.end, np.maximum(work.start[joined], work.end[other])))
    kind = np.repeat([1, 0, 2], (n_host, n_work, len(joined)))
    detail = np.concatenate((points.kind, np.zeros(n_work + len(joined), np.int64)))
    order = np.lexsort((detail, kind, time))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(2, len(order) + 2)
    measured = np.concatenate(([0, 0], time[order]))
    hosts, ends, joints = np.split(number, (n_host, n_host + n_work))
    return measured, hosts, ends, joints


def _device_first(work: DeviceWork, of_work: Ints) -> tuple[Ints, Array]:
    """What each piece of work follows, and how long after it begins, ns."""
    alone = (work.launch < 0) & (work.begin == Begin.UNKNOWN)
    before = np.where(alone, work.elsewhere, work.previous)
    gap = work.start - np.where(before >= 0, work.end[before], 0)
    other = np.isin(work.begin, (Begin.LAUNCH, Begin.OTHER_STREAM))
    first = np.where(before >= 0, of_work[before], np.where(other, NONE, ROOT))
    return first, np.where(other, np.minimum(gap, work.gap), gap).astype(np.float64)


def _after(work: DeviceWork, joined: Ints, other: Ints) -> Array:
    """The gap after what let the work begin; after what did not, the usual one if that is shorter."""
    gap = work.start[joined] - work.end[other]
    let = work.begin[joined] == Begin.OTHER_STREAM
    return np.where(let, gap, np.minimum(gap, work.gap)).astype(np.float64)


def _latency(trace: Trace, work: DeviceWork) -> Array:
    """Time from when work was launched (``launched_at``) to its begin, ns; of work that waited for something else the
    usual time from the return of a call to its work on an idle stream, if it is shorter.
    """
    spans, idle = trace["spans"], work.begin == Begin.LAUNCH
    delay = np.where(work.launch >= 0, work.start - launched_at(trace, work)[work.launch], 0)
    returned = (spans["start"] + spans["dur"])[work.launch[idle]]
    usual = float(np.median(np.maximum(work.start[idle] - returned, 0))) if idle.any() else 0.0
    return np.where(idle, delay, np.minimum(usual, np.maximum(delay, 0))).astype(np.float64)
