"""Profiled ranges and the launches of the kernels that they measured.

Kineto writes a range's name and place, and nothing that ties it to a launch: the first range is of
the first kernel that was launched on its device, and so on. Times do not help: the writer cuts its
window into equal slices, one per range (``CuptiRangeProfiler.cpp``)::

    window   |  range 0  |  range 1  |  range 2  |     (equal slices, not when the kernels ran)
    host       L0 L1                      L2           (launches, in time order)
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.facts.devices import device_of
from torch_tb_profiler.analysis.facts.launches import kernel_launches
from torch_tb_profiler.analysis.facts.names import distinct
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

SLICE_NS = 1000
"""Times of slices are equal within this: older versions write whole microseconds."""


class RangeMatch(IntEnum):
    """How a range was tied to a launch."""

    BY_ORDER = 0
    """There are as many launches as ranges."""
    BY_NAME = 1
    """The kernels were recorded as well, and have the ranges' names."""
    BY_BEGIN = 2
    """There are not as many launches as ranges: the first of each belong together as long as both
    last. What is missing may be anywhere.
    """
    WHOLE = 3
    """The range is the only one of its device and stands for everything that ran in it."""
    NO_LAUNCH = 4
    """No launch is left for it."""
    SEVERAL_DEVICES = 5
    """Ranges of several devices, and nothing says which launch was for which."""


@dataclass(frozen=True)
class RangeLaunches:
    """Attributes, arrays of shape (ranges,), in the order of the rows.

    row: rows of spans of the ranges. device: device id, −1 unknown. launch: rows of spans of
        runtime calls, −1 none. how: uint8 ``Tie``.
    spare: launches of kernels within the ranges' time that no range is for.
    slices: bool, whether the range's times are a slice of a window, not when the kernel ran.
    """

    row: Ints
    device: Ints
    launch: Ints
    how: Array
    spare: int
    slices: Mask

    @property
    def mismatched(self) -> int:
        """Ranges without a launch, and launches without a range where they should have one."""
        lost = int(np.isin(self.how, (RangeMatch.NO_LAUNCH, RangeMatch.SEVERAL_DEVICES)).sum())
        return lost + self.spare if (self.how == RangeMatch.BY_BEGIN).any() else lost


def match_ranges(trace: Trace, parent: Array, launched_by: Array) -> RangeLaunches:
    """Tie every profiled range to a launch; ``parent`` and ``launched_by`` are the columns
    ``parent`` and ``launch`` of ``span_links``.
    """
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
    launches, graphs = (
        _outermost(found, parent)
        for found in (kernel_launches(trace, calls), _graph_launches(trace, calls))
    )
    threads = _of_devices(trace, device, launches)
    spare = 0
    for number in np.unique(device).tolist():
        mine = np.flatnonzero(device == number)
        slices[mine] = are_slices(spans["start"][row[mine]], spans["dur"][row[mine]])
        if threads is None:
            how[mine] = RangeMatch.SEVERAL_DEVICES
            continue
        thread = threads[number]
        taken = [
            found if thread < 0 else found[spans["track"][found] == thread]
            for found in (launches, graphs)
        ]
        launch[mine], how[mine] = _tie(trace, row[mine], taken[0], taken[1], launched_by)
        inside = _within(trace, taken[0], row[mine])
        spare += (
            int((~np.isin(inside, launch[mine])).sum())
            if (how[mine] != RangeMatch.WHOLE).any()
            else 0
        )
    return RangeLaunches(row, device, launch, how, spare, slices)


def sliced_tracks(trace: Trace) -> dict[int, bool]:
    """Tracks of nothing but ranges, and whether their times are slices of a window."""
    spans = trace["spans"]
    is_range = spans["role"] == Role.COUNTER_RANGE
    found = {}
    for track in np.setdiff1d(spans["track"][is_range], spans["track"][~is_range]).tolist():
        rows = np.flatnonzero(is_range & (spans["track"] == track))
        found[track] = are_slices(spans["start"][rows], spans["dur"][rows])
    return found


def are_slices(start: Ints, dur: Ints) -> bool:
    """Whether ranges in time order are equal slices of one window, with equal gaps or none; a
    single one is the window, whose length was measured.
    """
    if len(start) < 2 or int(np.ptp(dur)) > SLICE_NS:
        return False
    gap = start[1:] - start[:-1] - dur[:-1]
    return int(np.abs(gap).max()) <= SLICE_NS or (len(gap) > 1 and int(np.ptp(gap)) <= SLICE_NS)


def _outermost(launches: Ints, parent: Array) -> Ints:
    """Without driver calls that a launch of the runtime makes itself."""
    return np.asarray(launches[~np.isin(parent[launches], launches)])


def _graph_launches(trace: Trace, calls: Ints) -> Ints:
    name = trace["spans"]["name"][calls]
    numbers = [
        number for number in distinct(name, trace.strings) if "GraphLaunch" in trace.strings[number]
    ]
    return np.asarray(calls[np.isin(name, numbers)])


def _of_devices(trace: Trace, device: Ints, launches: Ints) -> dict[int, int] | None:
    """The thread that launched on each device, −1 all of them; None where that is not known.

    One device has all launches. Several have the threads with as many launches as they have ranges,
    if each is found that way, once.
    """
    ids, ranges = np.unique(device, return_counts=True)
    if len(ids) == 1:
        return {int(ids[0]): -1}
    threads, counts = np.unique(trace["spans"]["track"][launches], return_counts=True)
    found = {
        int(one): threads[counts == count].tolist() for one, count in zip(ids, ranges, strict=True)
    }
    if any(len(fitting) != 1 for fitting in found.values()) or len(
        {fitting[0] for fitting in found.values()}
    ) < len(found):
        return None
    return {one: fitting[0] for one, fitting in found.items()}


def _tie(
    trace: Trace, ranges: Ints, launches: Ints, graphs: Ints, launched_by: Array
) -> tuple[Ints, Array]:
    """``(launch, how)`` of the ranges of one device."""
    n = len(ranges)
    named = _by_name(trace, ranges, launches, launched_by)
    if named is not None:
        return named, np.where(named >= 0, RangeMatch.BY_NAME, RangeMatch.NO_LAUNCH).astype(
            np.uint8
        )
    if n == 1 and len(launches) != 1:
        return np.full(1, -1, np.int64), np.full(1, RangeMatch.WHOLE, np.uint8)
    older = launches[
        np.isin(trace["spans"]["name"][launches], _named_like(trace, launches, "cudaLaunchKernel"))
    ]
    for pool in (launches, older, np.sort(np.concatenate((launches, graphs)))):
        for found in (_within(trace, pool, ranges), pool):
            if len(found) == n:
                return found, np.full(n, RangeMatch.BY_ORDER, np.uint8)
    found = _within(trace, launches, ranges)
    tied = min(n, len(found))
    launch, how = np.full(n, -1, np.int64), np.full(n, RangeMatch.NO_LAUNCH, np.uint8)
    launch[:tied], how[:tied] = found[:tied], RangeMatch.BY_BEGIN
    return launch, how


def _named_like(trace: Trace, rows: Ints, beginning: str) -> list[int]:
    return [
        number
        for number in distinct(trace["spans"]["name"][rows], trace.strings)
        if trace.strings[number].startswith(beginning)
    ]


def _within(trace: Trace, launches: Ints, ranges: Ints) -> Ints:
    """The launches that began within the ranges' time."""
    spans = trace["spans"]
    start = spans["start"][launches]
    begin = int(spans["start"][ranges].min())
    end = int((spans["start"][ranges] + spans["dur"][ranges]).max())
    return np.asarray(launches[(start >= begin) & (start <= end)])


def _by_name(trace: Trace, ranges: Ints, launches: Ints, launched_by: Array) -> Ints | None:
    """The k-th range of a name with the k-th launch of a kernel of that name; None where no kernel
    that was recorded has a range's name.
    """
    spans = trace["spans"]
    work = np.flatnonzero(spans["role"] == Role.KERNEL)
    work = work[np.isin(launched_by[work], launches)]
    if not np.isin(spans["name"][ranges], spans["name"][work]).any():
        return None
    work = work[np.argsort(spans["start"][launched_by[work]], kind="stable")]
    name = np.concatenate((spans["name"][work], spans["name"][ranges]))
    of_work = np.concatenate((_occurrence(spans["name"][work]), _occurrence(spans["name"][ranges])))
    _, key = group_rows((name, of_work))
    place = np.full(int(key.max()) + 1, -1, np.int64)
    place[key[: len(work)]] = launched_by[work]
    return place[key[len(work) :]]


def _occurrence(values: Array) -> Ints:
    """How many equal values stand before each."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.flatnonzero(np.diff(ordered, prepend=-2))
    count = np.arange(len(values)) - np.repeat(first, np.diff(np.append(first, len(values))))
    found = np.empty(len(values), np.int64)
    found[order] = count
    return found
