"""Counter series of the timeline: memory, device utilization and queue, and the file's counters.

A value holds until the next sample; ``integral`` makes means over any window exact and cheap::

    value      ▁▁▁███▁▁      mean over [a, b) = (integral at b − integral at a) / (b − a)
               a        b
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, mask_of
from torch_tb_profiler.analysis.arrays.intervals import open_total, union
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.facts.devices import device_of
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.facts.unrecorded_work import LEAST_UNKNOWN, unknown_share
from torch_tb_profiler.analysis.memory.blocks import pair, shared_memory, totals
from torch_tb_profiler.analysis.timeline.counter_samples import file_counters
from torch_tb_profiler.store import timeline_schema
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

MOST_SAMPLES = 2_000_000
"""Samples per series."""
MOST_PLACES = 64
"""The kinds of memory with the most records get curves."""
_HOST = 0
"""c10's device type of the host."""


class Curve(msgspec.Struct, frozen=True):
    """A series before it goes into the table; ``time``: ascending int64 ns, ``value``: float64."""

    key: str
    name: str
    track: int
    unit: str
    mean: bool
    time: Ints
    value: Array


def series_of(
    trace: Trace, facts: Facts, most: int = MOST_SAMPLES
) -> tuple[list[dict[str, Any]], Table]:
    """``(series, samples)``: the rows of ``about["series"]`` and the table ``samples``.

    Utilization is 1 while at least one kernel runs. Estimated SM efficiency is min(Σ blocks per SM,
    1). The queue is the device work that is launched but has not started (work that starts before
    its launch, because clocks differ, was never queued). Memory comes from the allocator's records.

    Repeated values are merged. A series of more than ``most`` samples is thinned: each bucket of
    2^k ns keeps its first, last, lowest and highest sample with their integrals, hence its extremes
    and exact mean.
    """
    curves = [
        *_device_curves(trace, facts),
        *_memory_curves(trace),
        *(Curve(*columns) for columns in file_counters(trace)),
    ]
    series, columns, first = [], [], 0
    for curve in curves:
        time, value, integral, distinct = _finished(curve, most)
        if not len(time):
            continue
        series.append(
            {
                "key": curve.key,
                "name": curve.name,
                "track": curve.track,
                "unit": curve.unit,
                "mean": curve.mean,
                "lowest": float(value.min()),
                "highest": float(value.max()),
                "first": first,
                "count": len(time),
                "thinned": len(time) < distinct,
            }
        )
        columns.append((time, value, integral))
        first += len(time)
    if not columns:
        return [], timeline_schema.SAMPLES.empty()
    time, value, integral = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    return series, timeline_schema.SAMPLES.build(time=time, value=value, integral=integral)


def edges(begin: int, end: int, parts: int) -> Ints:
    """The edges of ``parts`` equal parts of [begin, end), int64 ns of shape (parts + 1,)."""
    return np.array([begin + (end - begin) * part // parts for part in range(parts + 1)], np.int64)


class Buckets(msgspec.Struct, frozen=True):
    """A curve in the buckets of a window: float64 of shape (buckets,), NaN before the first sample."""

    lowest: Array
    highest: Array
    mean: Array


def in_buckets(samples: Table, series: dict[str, Any], edges: Ints) -> Buckets:
    """One of ``about["series"]`` between ascending ``edges``, int64 ns of shape (buckets + 1,).

    Extremes include values that are held for no time. The mean covers the part of the bucket after
    the first sample. An empty bucket has the value held there.
    """
    rows = slice(series["first"], series["first"] + series["count"])
    time, value = samples["time"][rows], samples["value"][rows]
    first = np.searchsorted(time, edges, side="left")
    held = np.searchsorted(time, edges, side="right") - 1
    # A bucket's samples: from the one held at its start to the last before its end.
    low, stop = np.where(held >= first, first, first - 1)[:-1], first[1:]
    unknown = (low < 0) & (stop == 0)
    low = np.maximum(low, 0)
    inner = np.maximum(stop - 1, low)
    until = value[: int(inner[-1]) + 1]
    held_value, empty = value[np.maximum(held[:-1], 0)], edges[1:] == edges[:-1]
    lowest, highest = (
        np.where(empty, held_value, extreme(extreme.reduceat(until, low), value[inner]))
        for extreme in (np.minimum, np.maximum)
    )
    width = edges[1:] - np.maximum(edges[:-1], time[0])
    integral = samples["integral"][rows]
    area = np.diff(_integral(integral, time, value, edges, held, series["thinned"]))
    mean = np.where(width > 0, area / np.maximum(width, 1), held_value)
    if not series["thinned"]:
        # Where nothing changes, the value is exact, unlike a difference of large integrals.
        mean = np.where(
            empty, held_value, np.where(inner == low, value[low], np.clip(mean, lowest, highest))
        )
    return Buckets(*(np.where(unknown, np.nan, statistic) for statistic in (lowest, highest, mean)))


def _integral(
    integral: Array, time: Ints, value: Array, until: Ints, held: Ints, thinned: bool
) -> Array:
    """The integral up to each time; ``held``: the sample that holds there, −1 none."""
    sample = np.maximum(held, 0)
    slope = value[sample]
    if thinned:
        following = np.minimum(sample + 1, len(time) - 1)
        gap = time[following] - time[sample]
        slope = np.where(
            gap > 0, (integral[following] - integral[sample]) / np.maximum(gap, 1), slope
        )
    return np.asarray(integral[sample] + slope * np.maximum(until - time[sample], 0))


def _finished(curve: Curve, most: int) -> tuple[Ints, Array, Array, int]:
    """Merged, thinned samples with integrals, and the number of samples before thinning."""
    changes = np.ones(len(curve.time), np.bool_)
    changes[1:] = curve.value[1:] != curve.value[:-1]
    time, value = curve.time[changes], curve.value[changes]
    integral = np.zeros(len(time))
    if len(time):
        np.cumsum(value[:-1] * np.diff(time), out=integral[1:])
    distinct = len(time)
    if distinct > most:
        chosen = thinned(time, value, most)
        time, value, integral = time[chosen], value[chosen], integral[chosen]
    return time, value, integral, distinct


def thinned(time: Ints, value: Array, most: int) -> Ints:
    """Positions of at most ``most`` (≥ 4) samples: first, last, lowest and highest of each bucket."""
    # Start at 1/16 of the bucket that evenly spread samples need; smaller ones cannot suffice.
    shift = max(0, (4 * int(time[-1] - time[0]) // max(most, 4)).bit_length() - 5)
    bucket = (time - time[0]) >> shift
    first = np.append(0, np.flatnonzero(bucket[1:] != bucket[:-1]) + 1)
    bucket = bucket[first]
    while 4 * len(first) > max(most, 4):
        # Where a bucket of twice the size begins, one of these did.
        bucket >>= 1
        begins = np.append(True, bucket[1:] != bucket[:-1])
        first, bucket = first[begins], bucket[begins]
    chosen = mask_of(len(time), first)
    chosen[np.append(first[1:], len(time)) - 1] = True
    chosen[_first_extreme(np.minimum, value, first)] = True
    chosen[_first_extreme(np.maximum, value, first)] = True
    return np.flatnonzero(chosen)


def _first_extreme(extreme: np.ufunc, value: Array, first: Ints) -> Ints:
    """The first position of each bucket's extreme value."""
    bucket = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(value))))
    places = np.flatnonzero(value == extreme.reduceat(value, first)[bucket])
    first_position: Ints = places[np.flatnonzero(np.diff(bucket[places], prepend=-1))]
    return first_position


def _device_curves(trace: Trace, facts: Facts) -> list[Curve]:
    spans = trace["spans"]
    rows = device_rows(trace)
    device = device_of(trace, rows)
    curves = []
    whole = unknown_share(facts, np.arange(facts["steps"].n)) <= LEAST_UNKNOWN
    for number in facts["devices"]["id"].tolist():
        own = rows[device == number]
        if not len(own):
            continue
        track, name = int(spans["track"][own[0]]), f"Device {number}" if number >= 0 else "Device"
        kernel = own[spans["role"][own] == Role.KERNEL]
        start = spans["start"][kernel]
        end = start + spans["dur"][kernel]
        busy = union(start, end)
        blocks = device_arguments(trace, kernel, ("blocks_per_sm",))["blocks_per_sm"]
        known = np.isfinite(blocks) & (blocks > 0) & (end > start)
        launch = facts["span_links"]["launch"][own]
        begun = spans["start"][own[launch >= 0]]
        called = np.minimum(spans["start"][launch[launch >= 0]], begun)
        utilization = _steps(busy.start, busy.end, np.ones(len(busy.start)))
        efficiency = _steps(start[known], end[known], blocks[known], 1.0)
        queue = _steps(called, begun, np.ones(len(begun)))
        curve_columns = (
            ("utilization", "utilization", "share", True, *utilization),
            ("sm_efficiency", "est. SM efficiency", "share", True, *efficiency),
            ("queue", "queue", "", False, *queue),
        )
        curves += [
            Curve(f"{key}:{number}", f"{name}: {text}", track, unit, mean, *samples)
            for key, text, unit, mean, *samples in curve_columns
            if len(samples[0]) and (whole or key == "queue")
        ]
    return curves


def _steps(start: Ints, end: Ints, weight: Array, cap: float = np.inf) -> tuple[Ints, Array]:
    """The weight, capped, of the open intervals [start, end) at each change; 0 from time 0 on."""
    filled = end > start
    start, end, weight = start[filled], end[filled], weight[filled]
    if not len(start):
        return np.zeros(0, np.int64), np.zeros(0)
    time, value = open_total(start, end, weight, cap)
    final = np.append(time[1:] != time[:-1], True)
    time, value = time[final], value[final]
    if time[0] <= 0:
        return time, value
    return np.concatenate(([0], time)), np.concatenate(([0.0], value))


def _memory_curves(trace: Trace) -> list[Curve]:
    memory = trace["memory"]
    if not memory.n:
        return []
    first, kind = group_rows((memory["device_type"], memory["device"]))
    records = np.bincount(kind)
    order, edges = np.argsort(kind, kind="stable"), np.concatenate(([0], np.cumsum(records)))
    curves = []
    for row in sorted(np.argsort(-records, kind="stable")[:MOST_PLACES].tolist()):
        own = order[edges[row] : edges[row + 1]]
        of_kind, number = int(memory["device_type"][first[row]]), int(memory["device"][first[row]])
        name = (
            "Host" if of_kind == _HOST else f"Device {number}" if number >= 0 else "Unknown device"
        )
        stated = {column: memory[column][own] for column in ("allocated", "reserved")}
        if of_kind == _HOST:
            stated = _with_shared_memory(memory["address"][own], memory["bytes"][own], **stated)
        for column, values in stated.items():
            known, value = own[values >= 0], values[values >= 0].astype(np.float64)
            # The host's allocator reserves nothing ahead: a curve of zeros says nothing.
            if len(known) and (column == "allocated" or value.any()):
                key, text = f"{column}:{of_kind}:{number}", f"{name}: memory {column}"
                track, time = int(memory["track"][known[0]]), memory["time"][known]
                curves.append(Curve(key, text, track, "bytes", False, time, value))
    return curves


def _with_shared_memory(
    address: Array, size: Ints, allocated: Ints, reserved: Ints
) -> dict[str, Ints]:
    """The host's curves as in the Memory view: records of shared memory state no allocator total."""
    blocks = pair(np.zeros(len(size), np.int64), address, size)
    shared = shared_memory(
        size, allocated, blocks.allocation, np.where(blocks.releases, blocks.end, -1)
    )
    if not shared.any():
        return {"allocated": allocated, "reserved": reserved}
    return {
        "allocated": np.where(allocated >= 0, totals(size, allocated, shared, 0).allocated, -1),
        "reserved": np.where(shared, -1, reserved),
    }
