"""Matches profiled ranges to the launches of the kernels that they measured.

Kineto writes ranges without a reference to a launch: the first range measured the first kernel that
was launched on its device, and so on. Times do not help, because the writer cuts its window into
equal slices, one per range (``CuptiRangeProfiler.cpp``)::

    window   |  range 0  |  range 1  |  range 2  |     (equal slices, not when the kernels ran)
    host       L0 L1                      L2           (launches, in time order)
"""

from __future__ import annotations

from enum import IntEnum

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import matching_points, occurrences
from torch_tb_profiler.analysis.facts.devices import device_of
from torch_tb_profiler.analysis.facts.host_names import named
from torch_tb_profiler.analysis.facts.launches import kernel_launches
from torch_tb_profiler.store.columns import Array, Ints, Mask, unique_values
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

SLICE_NS = 1000
"""Tolerance for equal slices: older versions write whole microseconds."""


class RangeMatch(IntEnum):
    """How a range was matched to a launch."""

    BY_ORDER = 0
    """There are as many launches as ranges."""
    BY_NAME = 1
    """The kernels were recorded as well, and have the ranges' names."""
    BY_BEGIN = 2
    """The numbers of launches and ranges differ: matched from the start; any may be missing."""
    WHOLE = 3
    """The only range of its device, which covers everything that ran in it."""
    NO_LAUNCH = 4
    """No launch is left for it."""
    SEVERAL_DEVICES = 5
    """Ranges of several devices, and launches that cannot be told apart by device."""


class RangeLaunches(msgspec.Struct, frozen=True):
    """Arrays of shape (ranges,), in the order of the rows.

    row: rows of spans of the ranges.
    device: device id, −1 unknown.
    launch: rows of spans of runtime calls, −1 none.
    how: uint8 ``RangeMatch``.
    spare: kernel launches within the ranges' time that no range measured.
    slices: whether the range's times are a slice of a window rather than when the kernel ran.
    """

    row: Ints
    device: Ints
    launch: Ints
    how: Array
    spare: int
    slices: Mask

    @property
    def mismatched(self) -> int:
        """Ranges without a launch, plus launches without a range where each should have one."""
        lost = int(np.isin(self.how, (RangeMatch.NO_LAUNCH, RangeMatch.SEVERAL_DEVICES)).sum())
        return lost + self.spare if (self.how == RangeMatch.BY_BEGIN).any() else lost


def match_ranges(trace: Trace, parent: Array, launched_by: Array) -> RangeLaunches:
    """Match profiled ranges to launches, given ``parent`` and ``launch`` of ``span_links``."""
    spans = trace["spans"]
    row = np.flatnonzero(spans["role"] == Role.COUNTER_RANGE)
    n = len(row)
    device = device_of(trace, row)
    launch = np.full(n, -1, np.int64)
    how = np.full(n, RangeMatch.NO_LAUNCH, np.uint8)
    slices = np.zeros(n, np.bool_)
    if not n:
        return RangeLaunches(row, device, launch, how, 0, slices)
    calls = np.flatnonzero(spans["role"] == Role.RUNTIME)
    graph_calls = calls[named(trace, calls, lambda text: "GraphLaunch" in text)]
    launches = _outermost(kernel_launches(trace, calls), parent)
    graphs = _outermost(graph_calls, parent)
    threads = _of_devices(trace, device, launches)
    spare = 0
    for number in unique_values(device).tolist():
        own = np.flatnonzero(device == number)
        slices[own] = are_slices(spans["start"][row[own]], spans["dur"][row[own]])
        if threads is None:
            how[own] = RangeMatch.SEVERAL_DEVICES
            continue
        thread = threads[number]
        own_launches, own_graphs = (
            rows if thread < 0 else rows[spans["track"][rows] == thread]
            for rows in (launches, graphs)
        )
        launch[own], how[own] = _match(trace, row[own], own_launches, own_graphs, launched_by)
        if (how[own] != RangeMatch.WHOLE).any():
            inside = _within(trace, own_launches, row[own])
            spare += int((~np.isin(inside, launch[own])).sum())
    return RangeLaunches(row, device, launch, how, spare, slices)


def sliced_tracks(trace: Trace) -> dict[int, bool]:
    """For each track of nothing but ranges, whether their times are slices of a window."""
    spans = trace["spans"]
    is_range = spans["role"] == Role.COUNTER_RANGE
    sliced = {}
    for track in np.setdiff1d(spans["track"][is_range], spans["track"][~is_range]).tolist():
        rows = np.flatnonzero(is_range & (spans["track"] == track))
        sliced[track] = are_slices(spans["start"][rows], spans["dur"][rows])
    return sliced


def are_slices(start: Ints, dur: Ints) -> bool:
    """Whether ranges in time order are equal slices of one window, with equal gaps or none.

    A single range is the window, whose length was measured.
    """
    if len(start) < 2 or int(np.ptp(dur)) > SLICE_NS:
        return False
    gap = start[1:] - start[:-1] - dur[:-1]
    return int(np.abs(gap).max()) <= SLICE_NS or (len(gap) > 1 and int(np.ptp(gap)) <= SLICE_NS)


def _outermost(launches: Ints, parent: Array) -> Ints:
    """Without the driver calls that a runtime launch makes itself."""
    return np.asarray(launches[~np.isin(parent[launches], launches)])


def _of_devices(trace: Trace, device: Ints, launches: Ints) -> dict[int, int] | None:
    """The thread that launched on each device, −1 for all threads; None where that is unknown.

    A single device has all launches. Several devices have the threads with as many launches as they
    have ranges, if that identifies each of them once.
    """
    ids, ranges = np.unique(device, return_counts=True)
    if len(ids) == 1:
        return {int(ids[0]): -1}
    threads, counts = np.unique(trace["spans"]["track"][launches], return_counts=True)
    candidates = [threads[counts == count].tolist() for count in ranges]
    chosen = [fitting[0] for fitting in candidates if len(fitting) == 1]
    if len(chosen) < len(ids) or len(set(chosen)) < len(ids):
        return None
    return dict(zip(ids.tolist(), chosen, strict=True))


def _match(
    trace: Trace, ranges: Ints, launches: Ints, graphs: Ints, launched_by: Array
) -> tuple[Ints, Array]:
    """``(launch, how)`` of the ranges of one device."""
    n = len(ranges)
    launch = _by_name(trace, ranges, launches, launched_by)
    if launch is not None:
        how = np.where(launch >= 0, RangeMatch.BY_NAME, RangeMatch.NO_LAUNCH)
        return launch, how.astype(np.uint8)
    if n == 1 and len(launches) != 1:
        return np.full(1, -1, np.int64), np.full(1, RangeMatch.WHOLE, np.uint8)
    runtime = launches[named(trace, launches, lambda text: text.startswith("cudaLaunchKernel"))]
    for pool in (launches, runtime, np.sort(np.concatenate((launches, graphs)))):
        for candidates in (_within(trace, pool, ranges), pool):
            if len(candidates) == n:
                return candidates, np.full(n, RangeMatch.BY_ORDER, np.uint8)
    inside = _within(trace, launches, ranges)[:n]
    launch, how = np.full(n, -1, np.int64), np.full(n, RangeMatch.NO_LAUNCH, np.uint8)
    launch[: len(inside)], how[: len(inside)] = inside, RangeMatch.BY_BEGIN
    return launch, how


def _within(trace: Trace, launches: Ints, ranges: Ints) -> Ints:
    """The launches that started within the ranges' time."""
    spans = trace["spans"]
    start = spans["start"][launches]
    begin = int(spans["start"][ranges].min())
    end = int((spans["start"][ranges] + spans["dur"][ranges]).max())
    return np.asarray(launches[(start >= begin) & (start <= end)])


def _by_name(trace: Trace, ranges: Ints, launches: Ints, launched_by: Array) -> Ints | None:
    """The k-th range with the k-th kernel launch of its name; None if no kernel has its name."""
    spans = trace["spans"]
    work = np.flatnonzero(spans["role"] == Role.KERNEL)
    work = work[np.isin(launched_by[work], launches)]
    if not np.isin(spans["name"][ranges], spans["name"][work]).any():
        return None
    work = work[np.argsort(spans["start"][launched_by[work]], kind="stable")]
    names = [spans["name"][rows] for rows in (work, ranges)]
    kernel = matching_points(*((name, occurrences(name)) for name in names))
    return np.append(launched_by[work], -1)[kernel].astype(np.int64)
