"""Launches with the device work that they began: delays, durations, short kernels.

::

    main    <launch >                 launch 9 µs
    gpu              {kernel}         delay  17 µs: from the launch's begin to the kernel's
"""

from __future__ import annotations

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.arrays.grouping import (
    extreme_by,
    group_rows,
    largest_by,
    mask_of,
    medians,
    picked,
    positions_of,
    sum_by,
)
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.display import DisplayTable, display_spec
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

SHORT_NS = 10_000
"""A kernel below it is short where nobody chooses another limit, ns."""
EDGES_NS = np.array([0, *(step * 10**power for power in range(3, 9) for step in (1, 2, 5))])
"""Edges of the histograms, ns: 0, 1, 2, 5, 10 … µs; the last bucket has no end."""

_DELAY = (
    "from the begin of the launch to that of the kernel; of a graph only the first kernel counts"
)
LAUNCHES = display_spec("""
launches: One row per kernel name: how long its launches take and its calls wait to start, and how many calls are short.
    name             code       Kernel         term=launch_kernel pool=other width=320  Name of the kernel.
    calls            count      Calls          term=launch_calls pool=sum unit=calls    How often it ran.
    total_ns         time       Total          term=launch_total pool=sum               Sum of its durations.
    short            count      Short          term=launch_short pool=sum unit=calls    Calls shorter than the limit, by default 10 µs.
    short_ns         time       In short ones  term=launch_short_time pool=sum bar      Time of these calls.
    below_launch     count      Below launch   term=launch_below optional unit=calls    Calls shorter than the launch that began them alone.
    launch_ns        mean time  Mean launch    term=launch_duration optional            Mean duration of these launches.
    median_delay_ns  mean time  Median delay   term=launch_median_delay optional        Median time <delay>.
    max_delay_ns     time       Max delay      term=launch_max_delay optional           Longest time <delay>.
    event            row        -              -                                        The call that waited longest, else the longest.
""", delay=_DELAY)  # fmt: skip


class Launches(msgspec.Struct, frozen=True):
    """Device work of a trace and its launches; arrays of shape (work,), in the order of the spans.

    work: row of spans. launch: row of the call behind it, −1 unknown. called: when that began, the
    work's own begin at the latest. call_dur: how long it took, −1 unknown. first: it began before any
    other work of its launch. alone: its launch began nothing else. thread: the track with the most
    launches, −1 none. selected: lies in the selected steps.
    """

    work: Ints
    launch: Ints
    start: Ints
    dur: Ints
    called: Ints
    call_dur: Ints
    name: Array
    kernel: Mask
    first: Mask
    alone: Mask
    selected: Mask
    thread: int

    @property
    def delay(self) -> Ints:
        """From the launch's begin to the work's, ns; 0 where clocks differ so that it is negative."""
        return np.asarray(self.start - self.called)

    def first_work(self, call: Ints) -> Ints:
        """The row of the first work of each of some calls; −1 where it launched none."""
        first = np.flatnonzero(self.first & np.isin(self.launch, call))
        first = first[np.argsort(self.launch[first])]
        return picked(self.work[first], positions_of(self.launch[first], call))

    def loads(self, work: Ints) -> Mask:
        """Whether each of some device rows (−1 none) is the kernel that was launched first of its name."""
        place = positions_of(self.work, work)
        alike = np.isin(self.name, self.name[place[place >= 0]])
        known = np.flatnonzero(alike & self.kernel & (self.launch >= 0))
        _, group = group_rows([self.name[known]])
        earliest = largest_by(group, int(group.max(initial=-1)) + 1, -self.called[known])
        begins = mask_of(len(self.work) + 1, known[earliest])
        return np.asarray(begins[place])


def within(launches: Launches, facts: Facts, selection: Selection) -> Launches:
    """Launches with the work of other steps selected."""
    step = facts["span_links"]["step"][launches.work]
    return replace(launches, selected=mask(selection, step))


def launches_of(trace: Trace, facts: Facts, selection: Selection) -> Launches:
    """All launches of a trace, with the work of the selected steps marked."""
    spans, links = trace["spans"], facts["span_links"]
    work = device_rows(trace)
    launch = links["launch"][work].astype(np.int64)
    start = spans["start"][work]
    launched = launch >= 0
    known = np.flatnonzero(launched)
    call = launch[known]
    # Work is in the order of its begin, here that of each launch together.
    order = np.argsort(call, kind="stable")
    together, ordered = known[order], call[order]
    another = ordered[1:] != ordered[:-1]
    first, last = (np.zeros(len(work), np.bool_) for _ in range(2))
    first[together[:1]], last[together[-1:]] = True, True
    first[together[1:]], last[together[:-1]] = another, another
    called = np.minimum(np.where(launched, spans["start"][launch], start), start)
    call_dur = np.where(launched, spans["dur"][launch], -1)
    tracks = np.bincount(spans["track"][call])
    return Launches(
        work,
        launch,
        start,
        spans["dur"][work],
        called,
        call_dur,
        spans["name"][work],
        spans["role"][work] == Role.KERNEL,
        first,
        first & last,
        mask(selection, links["step"][work]),
        int(tracks.argmax()) if len(known) else -1,
    )


def launch_table(trace: Trace, launches: Launches, short_ns: int = SHORT_NS) -> DisplayTable:
    """One row per kernel name; those with the most time in short calls first."""
    it = launches
    rows = np.flatnonzero(it.kernel & it.selected)
    names, group = group_rows([it.name[rows]])
    n = len(names)
    dur, call_dur = it.dur[rows], it.call_dur[rows]
    short, alone = dur < short_ns, it.alone[rows]
    lone = sum_by(group, n, alone)
    delay = np.where(it.first[rows], it.delay[rows], -1)
    begins = np.flatnonzero(delay >= 0)
    below = sum_by(group, n, alone & (dur < call_dur))
    short_time = sum_by(group, n, np.where(short, dur, 0))
    total = sum_by(group, n, dur)
    table = LAUNCHES.build(
        trace.strings,
        name=it.name[rows[names]],
        calls=np.bincount(group, minlength=n),
        total_ns=total,
        short=sum_by(group, n, short),
        short_ns=short_time,
        below_launch=np.where(lone > 0, below, -1),
        launch_ns=_means(sum_by(group, n, np.where(alone, call_dur, 0)), lone),
        median_delay_ns=medians(group[begins], n, delay[begins]),
        max_delay_ns=extreme_by(np.maximum, group, n, delay),
        event=picked(it.work[rows], largest_by(group, n, delay, dur)),
    )
    return table.take(np.lexsort((-total, -short_time)))


def _means(total: Ints, count: Ints) -> Array:
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def delay_counts(launches: Launches) -> tuple[Ints, Ints]:
    """How many launches of kernels have a delay, and a duration, between two of ``EDGES_NS``; int64 of the shape of the edges."""
    rows = np.flatnonzero(launches.kernel & launches.selected & launches.first)
    return _counted(launches.delay[rows]), _counted(launches.call_dur[rows])


def _counted(values: Ints) -> Ints:
    # So few edges take a fourth of the time of a search for each value (measured).
    small = np.minimum(values, EDGES_NS[-1]).astype(np.int32)
    reached = [np.count_nonzero(small >= edge) for edge in EDGES_NS.tolist()]
    return -np.diff(reached, append=0)
