"""The tables ``devices`` and ``device_steps``.

Estimated SM efficiency is the integral of the running kernels' blocks per SM, capped at 1::

    blocks per SM    ▁▁▃▃▃▃▁▁      kernel a: 0.5
                     ▁▁▁▁▆▆▆▆      kernel b: 0.8
    min(sum, 1)      ▁▁▃▃██▆▆
"""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import expand_ranges
from torch_tb_profiler.analysis.arrays.intervals import measure, open_total, union
from torch_tb_profiler.analysis.facts.device_causes import DeviceCauses
from torch_tb_profiler.analysis.facts.header import DeviceProperties, device_properties
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.facts.steps import StepWindows
from torch_tb_profiler.analysis.facts.unrecorded_work import much_unknown
from torch_tb_profiler.hardware.accelerators import find
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store import fact_schema
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringBuilder

_ID = regex(r"\d{1,9}", re.ASCII)
MOST_DEVICES = 256
"""Devices with figures of their own; no process has more."""
_HOST = 0
"""c10's device type of the host."""


def device_of(trace: Trace, row: Ints) -> Ints:
    """Device id of device rows: their argument, else Kineto's process id of their track."""
    device = device_arguments(trace, row, ("device",))["device"].astype(np.int64)
    tracks = trace["tracks"]
    texts = trace.strings.many(tracks["pid"])
    as_number = np.array([int(text) if _ID.fullmatch(text) else -1 for text in texts], np.int64)
    missing = device < 0
    if missing.any() and len(as_number):
        device[missing] = as_number[trace["spans"]["track"][row[missing]]]
    return device


def device_tables(
    trace: Trace,
    caused: DeviceCauses,
    windows: StepWindows,
    matrix: Array,
    strings: StringBuilder,
    maker: str,
) -> tuple[Table, Table]:
    """``(devices, device_steps)``.

    matrix: uint8 ``Knowledge`` of every device event.
    maker: the vendor, which with units and memory identifies a device that the trace does not name.
    """
    device = _pooled(device_of(trace, caused.row))
    ids, numbered = np.unique(device, return_inverse=True)
    properties = device_properties(trace)
    known = [properties.get(int(i)) or _of_one_kind(properties) for i in ids]
    names = [_name(p, maker) if p else "" for p in known]
    peaks = _peaks(trace)
    devices = fact_schema.DEVICES.build(
        id=ids,
        name=[strings.intern(name) if name else -1 for name in names],
        memory=[p.memory if p else -1 for p in known],
        capability=[strings.intern(p.capability) if p and p.capability else -1 for p in known],
        multiprocessors=[p.multiprocessors if p else -1 for p in known],
        peak_allocated=[peaks.get(int(i), -1) for i in ids],
    )
    kernel = trace["spans"]["role"][caused.row] == Role.KERNEL
    parts = []
    kernels = np.flatnonzero(kernel)
    kernels = kernels[np.argsort(numbered[kernels], kind="stable")]
    edges = np.searchsorted(numbered[kernels], np.arange(len(ids) + 1))
    step = np.arange(len(windows.start))
    lacking = much_unknown(windows.unrecorded, windows.length)
    for index, (begin, end) in enumerate(pairwise(edges.tolist())):
        own_kernels = kernels[begin:end]
        columns = _in_windows(trace, caused.row[own_kernels], matrix[own_kernels], windows)
        columns["busy"] = np.where(lacking, -1, columns["busy"])
        parts.append({"device": np.full_like(step, index), "step": step, **columns})
    if not parts:
        return devices, fact_schema.DEVICE_STEPS.empty()
    return devices, fact_schema.DEVICE_STEPS.build(
        **{key: np.concatenate([p[key] for p in parts]) for key in parts[0]}
    )


def _pooled(device: Ints) -> Ints:
    """The devices, of very many those with the least work as unknown: there is a row per device and step."""
    ids, numbered, events = np.unique(device, return_inverse=True, return_counts=True)
    if len(ids) <= MOST_DEVICES:
        return device
    ids[np.argsort(-events, kind="stable")[MOST_DEVICES:]] = -1
    return np.asarray(ids[numbered], np.int64)


def _name(properties: DeviceProperties, maker: str) -> str:
    """The recorded name, else that of the first entry of the device table that fits; ``""`` unknown."""
    if properties.name:
        return properties.name
    entry = find("", maker, properties.multiprocessors, properties.memory)
    return entry.name if entry else ""


def _of_one_kind(properties: dict[int, DeviceProperties]) -> DeviceProperties | None:
    """The common properties if all listed devices are alike, else None.

    ROCm lists the visible devices from 0 but gives kernels the number of the device in the machine.
    """
    kinds = set(properties.values())
    return kinds.pop() if len(kinds) == 1 else None


def _peaks(trace: Trace) -> dict[int, int]:
    """Highest ``Total Allocated`` of each accelerator, bytes by device id."""
    memory = trace["memory"]
    known = (memory["device_type"] > _HOST) & (memory["allocated"] >= 0)
    ids, numbered = np.unique(memory["device"][known], return_inverse=True)
    highest = np.zeros(len(ids), np.int64)
    np.maximum.at(highest, numbered, memory["allocated"][known])
    return dict(zip(ids.tolist(), highest.tolist(), strict=True))


def _in_windows(trace: Trace, row: Ints, matrix: Array, windows: StepWindows) -> dict[str, Array]:
    """The columns of ``device_steps`` for one device, arrays of shape (steps,)."""
    spans = trace["spans"]
    start = spans["start"][row]
    end = start + spans["dur"][row]
    arguments = device_arguments(trace, row, ("blocks_per_sm", "occupancy"))
    n = len(windows.start)
    busy = measure(union(start, end), windows.start, windows.end)
    integral = _sm_integral(start, end, arguments["blocks_per_sm"], windows)
    low, count = _windows_of(start, end, windows)
    kernel = np.repeat(np.arange(len(start)), count)
    step = expand_ranges(low, count)
    begin = np.maximum(start[kernel], windows.start[step])
    length = np.maximum(np.minimum(end[kernel], windows.end[step]) - begin, 0)
    occupancy = arguments["occupancy"][kernel]
    has_occupancy = np.isfinite(occupancy)

    def summed(values: Array) -> Array:
        return np.bincount(step, weights=values, minlength=n)

    return {
        "busy": busy,
        "sm_integral": integral,
        "occupancy_weighted": summed(np.where(has_occupancy, occupancy, 0.0) * length),
        "occupancy_time": summed(np.where(has_occupancy, length, 0)),
        "kernel_time": summed(length),
        "matrix_time": summed(np.where(matrix[kernel] == Knowledge.YES, length, 0)),
        "matrix_unknown_time": summed(np.where(matrix[kernel] == Knowledge.UNKNOWN, length, 0)),
    }


def _windows_of(start: Ints, end: Ints, windows: StepWindows) -> tuple[Ints, Ints]:
    """The first window that each kernel overlaps, and how many it overlaps."""
    low = np.searchsorted(windows.end, start, side="right")
    return low, np.maximum(np.searchsorted(windows.start, end, side="left") - low, 0)


def _sm_integral(start: Ints, end: Ints, blocks: Array, windows: StepWindows) -> Array:
    """∫ min(Σ blocks per SM, 1) dt in ns over every window; NaN where no kernel reports it."""
    known = np.isfinite(blocks) & (blocks > 0) & (end > start)
    start, end, blocks = start[known], end[known], blocks[known]
    if not len(start):
        return np.full(len(windows.start), np.nan)
    low, count = _windows_of(start, end, windows)
    overlaps = np.zeros(len(windows.start) + 1, np.int64)
    np.add.at(overlaps, low[count > 0], 1)
    np.subtract.at(overlaps, (low + count)[count > 0], 1)
    is_known = np.cumsum(overlaps[:-1]) > 0
    del low, count
    time, level = open_total(start, end, blocks, 1.0)
    area = np.concatenate(([0.0], np.cumsum(level[:-1] * np.diff(time))))
    inside = np.interp(windows.end, time, area) - np.interp(windows.start, time, area)
    return np.where(is_known, inside, np.nan)
