"""Samples over time → counter events (``ph`` C), which are curves of the timeline: metrics of GPUs
and network cards, memory that is taken of a device.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

from torch_tb_profiler.importers.sqlite.database import MISSING, Database, Rows, distinct_rows
from torch_tb_profiler.importers.sqlite.filling import Filling
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.columns import Array, Ints

_METRICS, _NETWORK, _MEMORY = "GPU_METRICS", "NET_NIC_METRIC", "CUDA_GPU_MEMORY_USAGE_EVENTS"
_GENERIC = "GENERIC_EVENTS"
NSIGHT_TABLES = (_METRICS, _GENERIC, _NETWORK, _MEMORY)
NVPROF_TABLES = ("CUPTI_ACTIVITY_KIND_MEMORY2",)
_NSIGHT_WORDS, _NVPROF_WORDS = (2, 0, 1), (3, 1, 2)
"""Memory of the device, allocation, release: ``CUpti_ActivityMemoryKind`` and
``CUpti_ActivityMemoryOperationType``; Nsight Systems counts both from 0.
"""
_MOST_BYTES = 1 << 48
_OF_A_GPU = ("SM Active", "SMs Active")
"""Keys that tell samples of GPU metrics from other generic events."""
_LONGEST_SAMPLE, _LONGEST_NUMBER = 1 << 14, 18


def gpu_metrics(database: Database, filling: Filling) -> None:
    """Samples of GPUs' counters. The low byte of ``typeId`` is the GPU."""
    names: dict[tuple[int, ...], str] = {}
    for rows in database.rows("TARGET_INFO_GPU_METRICS", ["typeId", "metricId"], ["metricName"]):
        names.update(
            zip(
                zip(
                    rows.numbers["typeId"].tolist(), rows.numbers["metricId"].tolist(), strict=True
                ),
                rows.texts["metricName"],
                strict=True,
            )
        )
    filling.begin(_METRICS)
    seen: set[int] = set()
    for rows in database.rows(_METRICS, ["timestamp", "typeId", "metricId", "value"]):
        kinds, of = np.unique(rows.numbers["typeId"], return_inverse=True)
        seen.update(kinds.tolist())
        _samples(
            filling,
            rows,
            "timestamp",
            ("typeId", "metricId"),
            names,
            ("GPU metrics", "hardware_counters"),
            _gpus(filling, kinds)[of],
        )
    _generic_metrics(database, filling, seen)


def _gpus(filling: Filling, kinds: Ints) -> Array:
    return filling.gathered.tracks.column(
        [("" if kind == MISSING else kind & 0xFF, "GPU metrics") for kind in kinds.tolist()]
    )


def _generic_metrics(database: Database, filling: Filling, seen: set[int]) -> None:
    """GPU metrics that stand as JSON (``{"SM Active": "12", …}``) in the table of all events that a
    version knows no table for, as before 2023.

    Args:
        seen: types whose samples stand in a table of their own as well.
    """
    filling.begin(_GENERIC)
    for rows in database.rows(_GENERIC, ["rawTimestamp", "timestamp", "typeId"], ["data"]):
        found, ordinal = rows.numbers, filling.ordinals(rows)
        fresh = ~np.isin(found["typeId"], list(seen))
        samples = [
            _sample(text) if is_fresh else b""
            for text, is_fresh in zip(rows.texts["data"], fresh.tolist(), strict=True)
        ]
        at = np.array([i for i, sample in enumerate(samples) if sample], np.int64)
        filling.counts.add(d.NOT_READ, int(fresh.sum()) - len(at))
        time = np.where(found["timestamp"] == MISSING, found["rawTimestamp"], found["timestamp"])
        name = np.full(len(at), filling.gathered.texts["GPU metrics"], np.int32)
        texts = filling.texts(samples[i] for i in at.tolist())
        filling.instants(
            ordinal[at],
            time[at],
            name,
            "hardware_counters",
            _gpus(filling, found["typeId"][at]),
            "C",
            texts,
        )


def _sample(text: str) -> bytes:
    """The numbers of a sample of GPU metrics as JSON, empty for what is none."""
    try:
        told = json.loads(text) if len(text) <= _LONGEST_SAMPLE else None
    except (ValueError, RecursionError):
        return b""
    if not isinstance(told, dict) or not any(key in told for key in _OF_A_GPU):
        return b""
    written = (
        (key, str(value))
        for key, value in told.items()
        if isinstance(value, (int, str)) and not isinstance(value, bool)
    )
    numbers = {
        key: int(value)
        for key, value in written
        if value.isascii() and value.isdecimal() and len(value) <= _LONGEST_NUMBER
    }
    return json.dumps(numbers, separators=(",", ":")).encode()


def network_metrics(database: Database, filling: Filling) -> None:
    """Samples of network cards' counters, each of the time from ``start`` on."""
    names: dict[tuple[int, ...], str] = {}
    for rows in database.rows(
        "TARGET_INFO_NETWORK_METRICS", ["metricsListId", "metricsIdx"], ["name", "unit"]
    ):
        keys = zip(
            rows.numbers["metricsListId"].tolist(), rows.numbers["metricsIdx"].tolist(), strict=True
        )
        texts = zip(rows.texts["name"], rows.texts["unit"], strict=True)
        names.update(
            (key, f"{name} [{unit}]" if unit else name)
            for key, (name, unit) in zip(keys, texts, strict=True)
        )
    cards = _cards(database)
    filling.begin(_NETWORK)
    for rows in database.rows(
        _NETWORK, ["start", "globalId", "metricsListId", "metricsIdx", "value"]
    ):
        found, of = np.unique(rows.numbers["globalId"], return_inverse=True)
        places = [
            (cards.get(card, "network card"), "" if card == MISSING else str(card))
            for card in found.tolist()
        ]
        track = filling.gathered.tracks.column(places)[of]
        _samples(
            filling,
            rows,
            "start",
            ("metricsListId", "metricsIdx"),
            names,
            ("Network metrics", "network_counters"),
            track,
        )


def _cards(database: Database) -> dict[int, str]:
    """``globalId`` of the samples → name of the network card."""
    named: dict[int, str] = {}
    for rows in database.rows("TARGET_INFO_NIC_INFO", ["nicId"], ["name"]):
        named.update(
            (number, name)
            for number, name in zip(rows.numbers["nicId"].tolist(), rows.texts["name"], strict=True)
            if name
        )
    found: dict[int, str] = {}
    for rows in database.rows("NIC_ID_MAP", ["nicId", "globalId"]):
        pairs = zip(rows.numbers["globalId"].tolist(), rows.numbers["nicId"].tolist(), strict=True)
        found.update((card, named[number]) for card, number in pairs if number in named)
    return found


def _samples(
    filling: Filling,
    rows: Rows,
    time: str,
    key: Sequence[str],
    names: Mapping[tuple[int, ...], str],
    called: tuple[str, str],
    track: Array,
) -> None:
    """Add a chunk of samples. ``key``: columns that name the metric in ``names``; ``called``: name
    and category of the counter.
    """
    distinct, of = distinct_rows(*(rows.numbers[c] for c in (*key, "value")))
    written = []
    for *number, value in distinct:
        label = (
            names.get(tuple(number)) or names.get((MISSING, number[-1])) or f"metric {number[-1]}"
        )
        written.append(
            b"" if value == MISSING else json.dumps({label: value}, separators=(",", ":")).encode()
        )
    name = np.full(rows.count, filling.gathered.texts[called[0]], np.int32)
    filling.instants(
        filling.ordinals(rows),
        rows.numbers[time],
        name,
        called[1],
        track,
        "C",
        filling.texts(written)[of],
    )


def memory_usage(database: Database, filling: Filling) -> None:
    """Memory that the processes hold of each device (``nsys profile --cuda-memory-usage=true``):
    for PyTorch's allocator it is what is reserved.
    """
    columns = ("start", "deviceId", "bytes", "memKind", "memoryOperationType")
    _memory(database, filling, _MEMORY, columns, _NSIGHT_WORDS)


def allocations(database: Database, filling: Filling) -> None:
    """The same of a file of nvprof (``--track-memory-allocations on``)."""
    columns = ("timestamp", "deviceId", "bytes", "memoryKind", "memoryOperationType")
    _memory(database, filling, NVPROF_TABLES[0], columns, _NVPROF_WORDS)


def _memory(
    database: Database,
    filling: Filling,
    table: str,
    columns: Sequence[str],
    words: tuple[int, int, int],
) -> None:
    kind, allocation, release = words
    filling.begin(table)
    parts: list[tuple[Ints, ...]] = []
    for rows in database.rows(table, columns):
        time, device, size, where, operation = (rows.numbers[c] for c in columns)
        chosen = (
            np.isin(where, (kind, MISSING))
            & (size >= 0)
            & (size < _MOST_BYTES)
            & np.isin(operation, (allocation, release))
        )
        taken = np.where(operation == allocation, size, -size)
        parts.append(
            tuple(column[chosen] for column in (filling.ordinals(rows), time, device, taken))
        )
    if not parts:
        return
    ordinal, time, device, taken = (np.concatenate(column) for column in zip(*parts, strict=True))
    for number in np.unique(device).tolist():
        row = np.flatnonzero(device == number)
        row = row[np.argsort(time[row], kind="stable")]
        held = np.cumsum(taken[row])
        # What is given back was taken before the recording, if not in it.
        before = max(0, -int(held.min()))
        samples = filling.texts(
            json.dumps({"bytes": value}).encode() for value in (held + before).tolist()
        )
        name = filling.names(
            ["Memory of the device, at least" if before else "Memory of the device"]
        )
        track = filling.gathered.tracks.column([("" if number == MISSING else number, "memory")])
        n = len(row)
        filling.instants(
            ordinal[row], time[row], name.repeat(n), "device_memory", track.repeat(n), "C", samples
        )
