"""Curves of the timeline: memory, use of each accelerator, its queue, and what the file counts
itself.

A value holds from its sample to the next one; ``integral`` makes means over any window exact and
cheap::

    value      ▁▁▁███▁▁      mean over [a, b) = (integral at b − integral at a) / (b − a)
               a        b
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.arrays.intervals import open_total, union
from torch_tb_profiler.analysis.facts.attribution import device_rows
from torch_tb_profiler.analysis.facts.devices import device_of
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.memory.blocks import pair
from torch_tb_profiler.analysis.memory.totals import shared_memory, totals
from torch_tb_profiler.analysis.timeline.counter_samples import file_counters
from torch_tb_profiler.store import timeline_schema
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

MOST_SAMPLES = 2_000_000
"""Samples kept of one series."""
MOST_PLACES = 64
"""Kinds of memory that get curves; those with the fewest records beyond are left out."""
_HOST = 0
"""c10's device type of the host."""


@dataclass(frozen=True)
class Curve:
    """One series before it is laid into the table; ``time`` ascends, int64 ns, ``value`` float64,
    both of shape (samples,).
    """

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

    Utilization of a device is 1 while at least one kernel runs; its estimated SM efficiency is
    min(Σ blocks per SM of the running kernels, 1) as in ``analysis.device_facts``; its queue is the
    device work whose launch has begun and which has not begun itself (work that begins before its
    launch, by clocks that differ, was never queued). Memory is what the allocator's records say,
    per device and for the host.

    Equal values that follow each other are one sample. A series of more than ``most`` samples is
    thinned: of each bucket of a power of two ns the first, the last, the lowest and the highest
    sample stay, with their integrals. So every bucket keeps its extremes and its exact mean, and
    only what lies between is lost.
    """
    curves = [
        *_device_curves(trace, facts),
        *_memory_curves(trace),
        *(Curve(*found) for found in file_counters(trace)),
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


@dataclass(frozen=True)
class Buckets:
    """A curve in the buckets of a window: float64 of shape (buckets,), NaN before the first sample."""

    lowest: Array
    highest: Array
    mean: Array


def in_buckets(samples: Table, series: dict[str, Any], edges: Ints) -> Buckets:
    """One of ``about["series"]`` between ascending ``edges``, int64 ns of shape (buckets + 1,).

    Extremes are those of the values held at any time of [edge, next edge), values held for no time
    included; the mean is over the part of the bucket after the first sample. A bucket without a
    length has the value that is held there. Costs a few binary searches, and a look at every sample
    of the window.
    """
    rows = slice(series["first"], series["first"] + series["count"])
    time, value = samples["time"][rows], samples["value"][rows]
    first = np.searchsorted(time, edges, side="left")
    held = np.searchsorted(time, edges, side="right") - 1
    # The samples of a bucket: from that at its begin, or the one that is held there, to the last
    # before its end.
    low, stop = np.where(held >= first, first, first - 1)[:-1], first[1:]
    unknown = (low < 0) & (stop == 0)
    low = np.maximum(low, 0)
    inner = np.maximum(stop - 1, low)
    until = value[: int(inner[-1]) + 1]
    here, empty = value[np.maximum(held[:-1], 0)], edges[1:] == edges[:-1]
    lowest, highest = (
        np.where(empty, here, extreme(extreme.reduceat(until, low), value[inner]))
        for extreme in (np.minimum, np.maximum)
    )
    width = edges[1:] - np.maximum(edges[:-1], time[0])
    area = np.diff(
        _integral(samples["integral"][rows], time, value, edges, held, series["thinned"])
    )
    mean = np.where(width > 0, area / np.maximum(width, 1), here)
    if not series["thinned"]:
        # Where nothing changes the value itself is exact; a difference of large integrals is not.
        mean = np.where(
            empty, here, np.where(inner == low, value[low], np.clip(mean, lowest, highest))
        )
    return Buckets(*(np.where(unknown, np.nan, found) for found in (lowest, highest, mean)))


def _integral(
    integral: Array, time: Ints, value: Array, at: Ints, held: Ints, thinned: bool
) -> Array:
    """The integral from the first sample to each time; ``held`` is the sample that holds there, −1
    before the first.
    """
    place = np.maximum(held, 0)
    slope = value[place]
    if thinned:
        following = np.minimum(place + 1, len(time) - 1)
        gap = time[following] - time[place]
        slope = np.where(
            gap > 0, (integral[following] - integral[place]) / np.maximum(gap, 1), slope
        )
    return np.asarray(integral[place] + slope * np.maximum(at - time[place], 0))


def _finished(curve: Curve, most: int) -> tuple[Ints, Array, Array, int]:
    """Samples without repetition, their integrals, thinned where they are too many; and how many
    there were before that.
    """
    changes = np.ones(len(curve.time), np.bool_)
    changes[1:] = curve.value[1:] != curve.value[:-1]
    time, value = curve.time[changes], curve.value[changes]
    integral = np.zeros(len(time))
    if len(time):
        np.cumsum(value[:-1] * np.diff(time), out=integral[1:])
    distinct = len(time)
    if distinct > most:
        kept = thinned(time, value, most)
        time, value, integral = time[kept], value[kept], integral[kept]
    return time, value, integral, distinct


def thinned(time: Ints, value: Array, most: int) -> Ints:
    """Positions of at most ``most`` samples (at least four are allowed): first, last, lowest and
    highest of each bucket.
    """
    # Evenly spread samples need buckets sixteen times as long as these; the shifts below are not
    # worth a look at every sample.
    shift = max(0, (4 * int(time[-1] - time[0]) // max(most, 4)).bit_length() - 5)
    while True:
        bucket = (time - time[0]) >> shift
        changes = bucket[1:] != bucket[:-1]
        if 4 * (int(np.count_nonzero(changes)) + 1) <= max(most, 4):
            break
        shift += 1
    first = np.concatenate(([0], np.flatnonzero(changes) + 1))
    kept = np.zeros(len(time), np.bool_)
    kept[first] = True
    kept[np.append(first[1:], len(time)) - 1] = True
    kept[_place_of(np.minimum, value, first)] = True
    kept[_place_of(np.maximum, value, first)] = True
    return np.flatnonzero(kept)


def _place_of(extreme: np.ufunc, value: Array, first: Ints) -> Ints:
    """The first position of each bucket's extreme value."""
    bucket = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(value))))
    places = np.flatnonzero(value == extreme.reduceat(value, first)[bucket])
    found: Ints = places[np.flatnonzero(np.diff(bucket[places], prepend=-1))]
    return found


def _device_curves(trace: Trace, facts: Facts) -> list[Curve]:
    spans = trace["spans"]
    rows = device_rows(trace)
    device = device_of(trace, rows)
    curves = []
    for number in facts["devices"]["id"].tolist():
        mine = rows[device == number]
        if not len(mine):
            continue
        track, name = int(spans["track"][mine[0]]), f"Device {number}" if number >= 0 else "Device"
        kernel = mine[spans["role"][mine] == Role.KERNEL]
        start = spans["start"][kernel]
        end = start + spans["dur"][kernel]
        busy = union(start, end)
        made = [
            (
                "utilization",
                "utilization",
                "share",
                True,
                *_steps(busy.start, busy.end, np.ones(len(busy.start))),
            )
        ]
        blocks = device_arguments(trace, kernel, ("blocks_per_sm",))["blocks_per_sm"]
        told = np.isfinite(blocks) & (blocks > 0) & (end > start)
        made.append(
            (
                "sm_efficiency",
                "est. SM efficiency",
                "share",
                True,
                *_steps(start[told], end[told], blocks[told], 1.0),
            )
        )
        launch = facts["span_links"]["launch"][mine]
        begun = spans["start"][mine[launch >= 0]]
        called = np.minimum(spans["start"][launch[launch >= 0]], begun)
        made.append(("queue", "queue", "", False, *_steps(called, begun, np.ones(len(begun)))))
        curves += [
            Curve(f"{key}:{number}", f"{name}: {text}", track, unit, mean, *samples)
            for key, text, unit, mean, *samples in made
            if len(samples[0])
        ]
    return curves


def _steps(start: Ints, end: Ints, weight: Array, cap: float = np.inf) -> tuple[Ints, Array]:
    """The sum of the weights of the intervals [start, end) that are open, at most ``cap``, at each
    time at which it may change; 0 from time 0 on.
    """
    filled = end > start
    start, end, weight = start[filled], end[filled], weight[filled]
    if not len(start):
        return np.zeros(0, np.int64), np.zeros(0)
    time, value = open_total(start, end, weight, cap)
    final = np.append(time[1:] != time[:-1], True)
    time, value = time[final], value[final]
    return (
        (time, value)
        if time[0] <= 0
        else (np.concatenate(([0], time)), np.concatenate(([0.0], value)))
    )


def _memory_curves(trace: Trace) -> list[Curve]:
    memory = trace["memory"]
    if not memory.n:
        return []
    first, place = group_rows((memory["device_type"], memory["device"]))
    records = np.bincount(place)
    order, edges = np.argsort(place, kind="stable"), np.concatenate(([0], np.cumsum(records)))
    curves = []
    for row in sorted(np.argsort(-records, kind="stable")[:MOST_PLACES].tolist()):
        mine = order[edges[row] : edges[row + 1]]
        of_kind, number = int(memory["device_type"][first[row]]), int(memory["device"][first[row]])
        name = (
            "Host" if of_kind == _HOST else f"Device {number}" if number >= 0 else "Unknown device"
        )
        stated = {column: memory[column][mine] for column in ("allocated", "reserved")}
        if of_kind == _HOST:
            stated = _with_shared_memory(memory["address"][mine], memory["bytes"][mine], **stated)
        for column, values in stated.items():
            told, value = mine[values >= 0], values[values >= 0].astype(np.float64)
            # The host's allocator reserves nothing ahead: a curve of zeros says nothing.
            if len(told) and (column == "allocated" or value.any()):
                curves.append(
                    Curve(
                        f"{column}:{of_kind}:{number}",
                        f"{name}: memory {column}",
                        int(memory["track"][told[0]]),
                        "bytes",
                        False,
                        memory["time"][told],
                        value,
                    )
                )
    return curves


def _with_shared_memory(
    address: Array, size: Ints, allocated: Ints, reserved: Ints
) -> dict[str, Ints]:
    """The host's curves as the Memory view has them: records of shared memory state no total of the
    allocator.
    """
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
