"""Accelerators → the tables ``devices`` and ``device_steps``.

Estimated SM efficiency is the integral of what the running kernels ask for, at most everything::

    blocks per SM    ▁▁▃▃▃▃▁▁      kernel a: 0.5
                     ▁▁▁▁▆▆▆▆      kernel b: 0.8
    min(sum, 1)      ▁▁▃▃██▆▆
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import expand_ranges
from torch_tb_profiler.analysis.arrays.intervals import measure, open_total, union
from torch_tb_profiler.analysis.facts.attribution import Causes
from torch_tb_profiler.analysis.facts.header import DeviceProperties, device_properties
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.facts.steps import StepWindows
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.store import fact_schema
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringBuilder

_ID = re.compile(r"\d{1,9}", re.ASCII)
_HOST = 0
"""c10's device type of the host."""


def device_of(trace: Trace, row: Ints) -> Ints:
    """Device id of rows of spans that are device work: the argument, else the process id of the
    stream's track, which Kineto sets to it.
    """
    found = device_arguments(trace, row, ("device",))["device"].astype(np.int64)
    tracks = trace["tracks"]
    as_number = np.array(
        [
            int(text) if _ID.fullmatch(text := trace.strings[int(pid)]) else -1
            for pid in tracks["pid"]
        ],
        np.int64,
    )
    missing = found < 0
    if missing.any() and len(as_number):
        found[missing] = as_number[trace["spans"]["track"][row[missing]]]
    return found


def device_tables(
    trace: Trace, caused: Causes, windows: StepWindows, matrix: Array, strings: StringBuilder
) -> tuple[Table, Table]:
    """``(devices, device_steps)``; ``matrix`` is uint8 ``Knowledge`` of every device event."""
    device = device_of(trace, caused.row)
    ids = np.unique(device)
    properties = device_properties(trace)
    known = [properties.get(int(i)) or _of_one_kind(properties) for i in ids]
    peaks = _peaks(trace)
    devices = fact_schema.DEVICES.build(
        id=ids,
        name=[strings.intern(p.name) if p and p.name else -1 for p in known],
        memory=[p.memory if p else -1 for p in known],
        capability=[strings.intern(p.capability) if p and p.capability else -1 for p in known],
        multiprocessors=[p.multiprocessors if p else -1 for p in known],
        peak_allocated=[peaks.get(int(i), -1) for i in ids],
    )
    kernel = trace["spans"]["role"][caused.row] == Role.KERNEL
    parts = []
    for place, number in enumerate(ids.tolist()):
        mine = np.flatnonzero((device == number) & kernel)
        columns = _in_windows(trace, caused.row[mine], matrix[mine], windows)
        parts.append(
            {
                "device": np.full(len(windows.start), place),
                "step": np.arange(len(windows.start)),
                **columns,
            }
        )
    if not parts:
        return devices, fact_schema.DEVICE_STEPS.empty()
    return devices, fact_schema.DEVICE_STEPS.build(
        **{key: np.concatenate([p[key] for p in parts]) for key in parts[0]}
    )


def _of_one_kind(properties: dict[int, DeviceProperties]) -> DeviceProperties | None:
    """The properties of a device whose id is not listed, where all listed devices are alike: ROCm
    lists the visible ones, counted from 0, but gives kernels
    the number of the device in the machine."""
    kinds = {(p.name, p.memory, p.capability, p.multiprocessors) for p in properties.values()}
    return next(iter(properties.values())) if len(kinds) == 1 else None


def _peaks(trace: Trace) -> dict[int, int]:
    """Highest ``Total Allocated`` of every device that is not the host, in bytes."""
    memory = trace["memory"]
    told = (memory["device_type"] > _HOST) & (memory["allocated"] >= 0)
    device, allocated = memory["device"][told], memory["allocated"][told]
    return {int(i): int(allocated[device == i].max()) for i in np.unique(device)}


def _in_windows(trace: Trace, row: Ints, matrix: Array, windows: StepWindows) -> dict[str, Array]:
    """Everything of one device's kernels that lies in the steps' windows; arrays of shape (steps,)."""
    spans = trace["spans"]
    start = spans["start"][row]
    end = start + spans["dur"][row]
    told = device_arguments(trace, row, ("blocks_per_sm", "occupancy"))
    n = len(windows.start)
    # One after the other: each needs several columns of all kernels while it works.
    busy = measure(union(start, end), windows.start, windows.end)
    integral = _sm_integral(start, end, told["blocks_per_sm"], windows)
    kernel, step, length = _clipped(start, end, windows)
    occupancy = told["occupancy"][kernel]
    has = np.isfinite(occupancy)

    def summed(values: Array) -> Array:
        return np.bincount(step, weights=values, minlength=n)

    return {
        "busy": busy,
        "sm_integral": integral,
        "occupancy_weighted": summed(np.where(has, occupancy, 0.0) * length),
        "occupancy_time": summed(np.where(has, length, 0)),
        "kernel_time": summed(length),
        "matrix_time": summed(np.where(matrix[kernel] == Knowledge.YES, length, 0)),
        "matrix_unknown_time": summed(np.where(matrix[kernel] == Knowledge.UNKNOWN, length, 0)),
    }


def _clipped(start: Ints, end: Ints, windows: StepWindows) -> tuple[Ints, Ints, Ints]:
    """Every (kernel, window) that meet: position of the kernel, row of the step, length of what
    they share in ns.
    """
    low, count = _windows_of(start, end, windows)
    kernel = np.repeat(np.arange(len(start)), count)
    step = expand_ranges(low, count)
    length = np.minimum(end[kernel], windows.end[step]) - np.maximum(
        start[kernel], windows.start[step]
    )
    return kernel, step, np.maximum(length, 0)


def _windows_of(start: Ints, end: Ints, windows: StepWindows) -> tuple[Ints, Ints]:
    """The first window that each kernel meets, and how many it meets."""
    low = np.searchsorted(windows.end, start, side="right")
    return low, np.maximum(np.searchsorted(windows.start, end, side="left") - low, 0)


def _sm_integral(start: Ints, end: Ints, blocks: Array, windows: StepWindows) -> Array:
    """∫ min(Σ blocks per SM, 1) dt in ns over every window; NaN where no kernel of the window says."""
    told = np.isfinite(blocks) & (blocks > 0) & (end > start)
    start, end, blocks = start[told], end[told], blocks[told]
    if not len(start):
        return np.full(len(windows.start), np.nan)
    low, count = _windows_of(start, end, windows)
    met = np.zeros(len(windows.start) + 1, np.int64)
    np.add.at(met, low[count > 0], 1)
    np.subtract.at(met, (low + count)[count > 0], 1)
    has = np.cumsum(met[:-1]) > 0
    del low, count
    time, level = open_total(start, end, blocks, 1.0)
    area = np.concatenate(([0.0], np.cumsum(level[:-1] * np.diff(time))))
    inside = np.interp(windows.end, time, area) - np.interp(windows.start, time, area)
    return np.where(has, inside, np.nan)
