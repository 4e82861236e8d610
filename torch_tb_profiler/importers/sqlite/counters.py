"""Samples of GPU and network metrics and of device memory → counter events (``ph`` C)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

from torch_tb_profiler.importers.sqlite.builder import TraceBuilder
from torch_tb_profiler.importers.sqlite.database import MISSING, Database, Rows, distinct_rows
from torch_tb_profiler.importers.sqlite.global_ids import process_of
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.untrusted import json_value

_METRICS, _NETWORK, _MEMORY = "GPU_METRICS", "NET_NIC_METRIC", "CUDA_GPU_MEMORY_USAGE_EVENTS"
_GENERIC = "GENERIC_EVENTS"
NSIGHT_TABLES = (_METRICS, _GENERIC, _NETWORK, _MEMORY)
NVPROF_TABLES = ("CUPTI_ACTIVITY_KIND_MEMORY2",)
_MOST_BYTES = 1 << 48
_OF_A_GPU = ("SM Active", "SMs Active")
"""Keys that distinguish samples of GPU metrics from other generic events."""
_LONGEST_SAMPLE, _LONGEST_NUMBER = 1 << 14, 18


def gpu_metrics(database: Database, builder: TraceBuilder) -> None:
    """Read samples of GPU counters. The low byte of ``typeId`` is the GPU."""
    names: dict[tuple[int, ...], str] = {
        (kind, metric): name
        for rows in database.rows("TARGET_INFO_GPU_METRICS", ["typeId", "metricId"], ["metricName"])
        for kind, metric, name in rows.tuples("typeId", "metricId", "metricName")
    }
    seen: set[int] = set()
    for chunk in builder.chunks(_METRICS, ["timestamp", "typeId", "metricId", "value"]):
        rows, _ = chunk
        kinds, inverse = np.unique(rows.numbers["typeId"], return_inverse=True)
        seen.update(kinds.tolist())
        labels, track = ("GPU metrics", "hardware_counters"), _gpus(builder, kinds)[inverse]
        _samples(builder, chunk, "timestamp", ("typeId", "metricId"), names, labels, track)
    _generic_metrics(builder, seen)


def _gpus(builder: TraceBuilder, kinds: Ints) -> Array:
    return builder.gathered.tracks.column(
        [("" if kind == MISSING else kind & 0xFF, "GPU metrics") for kind in kinds.tolist()]
    )


def _generic_metrics(builder: TraceBuilder, seen: set[int]) -> None:
    """Read GPU metrics from the JSON (``{"SM Active": "12", …}``) of generic events, as before 2023.

    ``seen``: types that have a table of their own as well.
    """
    for rows, ordinal in builder.chunks(
        _GENERIC, ["rawTimestamp", "timestamp", "typeId"], ["data"]
    ):
        numbers = rows.numbers
        fresh = ~np.isin(numbers["typeId"], list(seen))
        texts = rows.texts["data"]
        samples = {
            i: sample for i in np.flatnonzero(fresh).tolist() if (sample := _sample(texts[i]))
        }
        chosen = np.array(list(samples), np.int64)
        builder.counts.add(d.NOT_READ, int(fresh.sum()) - len(chosen))
        time = np.where(
            numbers["timestamp"] == MISSING, numbers["rawTimestamp"], numbers["timestamp"]
        )
        name = np.full(len(chosen), builder.gathered.texts["GPU metrics"], np.int32)
        builder.instants(
            ordinal[chosen],
            time[chosen],
            name,
            "hardware_counters",
            _gpus(builder, numbers["typeId"][chosen]),
            "C",
            builder.texts(samples.values()),
        )


def _sample(text: str) -> bytes:
    """The numbers of a sample of GPU metrics as JSON; empty if it is not one."""
    values = json_value(text) if len(text) <= _LONGEST_SAMPLE else None
    if not isinstance(values, dict) or not any(key in values for key in _OF_A_GPU):
        return b""
    written = (
        (key, str(value))
        for key, value in values.items()
        if isinstance(value, (int, str)) and not isinstance(value, bool)
    )
    numbers = {
        key: int(value)
        for key, value in written
        if value.isascii() and value.isdecimal() and len(value) <= _LONGEST_NUMBER
    }
    return json.dumps(numbers, separators=(",", ":")).encode()


def network_metrics(database: Database, builder: TraceBuilder) -> None:
    """Read samples of network card counters, each valid from ``start`` on."""
    names: dict[tuple[int, ...], str] = {}
    for rows in database.rows(
        "TARGET_INFO_NETWORK_METRICS", ["metricsListId", "metricsIdx"], ["name", "unit"]
    ):
        for *key, name, unit in rows.tuples("metricsListId", "metricsIdx", "name", "unit"):
            names[tuple(key)] = f"{name} [{unit}]" if unit else name
    cards = _cards(database)
    columns = ["start", "globalId", "metricsListId", "metricsIdx", "value"]
    for chunk in builder.chunks(_NETWORK, columns):
        rows, _ = chunk
        cards_seen, inverse = np.unique(rows.numbers["globalId"], return_inverse=True)
        tracks = [
            (cards.get(card, "network card"), "" if card == MISSING else str(card))
            for card in cards_seen.tolist()
        ]
        track = builder.gathered.tracks.column(tracks)[inverse]
        labels = ("Network metrics", "network_counters")
        _samples(builder, chunk, "start", ("metricsListId", "metricsIdx"), names, labels, track)


def _cards(database: Database) -> dict[int, str]:
    """``globalId`` of the samples → name of the network card."""
    names = database.texts("TARGET_INFO_NIC_INFO", "nicId", "name")
    cards = database.numbers("NIC_ID_MAP", "globalId", "nicId")
    return {card: names[number] for card, number in cards.items() if names.get(number)}


def _samples(
    builder: TraceBuilder,
    chunk: tuple[Rows, Ints],
    time: str,
    key: Sequence[str],
    names: Mapping[tuple[int, ...], str],
    labels: tuple[str, str],
    track: Array,
) -> None:
    """Add a chunk of samples. ``key``: columns of the metric in ``names``; ``labels``: name, category."""
    rows, ordinal = chunk
    distinct, inverse = distinct_rows(*(rows.numbers[c] for c in (*key, "value")))
    written = []
    for *number, value in distinct:
        label = names.get(tuple(number)) or names.get((MISSING, number[-1]))
        sample = {label or f"metric {number[-1]}": value}
        text = "" if value == MISSING else json.dumps(sample, separators=(",", ":"))
        written.append(text.encode())
    name = np.full(rows.count, builder.gathered.texts[labels[0]], np.int32)
    builder.instants(
        ordinal,
        rows.numbers[time],
        name,
        labels[1],
        track,
        "C",
        builder.texts(written)[inverse],
    )


def memory_usage(builder: TraceBuilder) -> None:
    """Read device memory held by each process (``nsys profile --cuda-memory-usage=true``)."""
    columns = ("start", "globalPid", "deviceId", "bytes", "memKind", "memoryOperationType")
    _memory(builder, _MEMORY, columns, (2, 0, 1))


def allocations(builder: TraceBuilder) -> None:
    """Read the same from nvprof (``--track-memory-allocations on``)."""
    columns = ("timestamp", "processId", "deviceId", "bytes", "memoryKind", "memoryOperationType")
    _memory(builder, NVPROF_TABLES[0], columns, (3, 1, 2))


def _memory(
    builder: TraceBuilder,
    table: str,
    columns: Sequence[str],
    codes: tuple[int, int, int],
) -> None:
    """``codes``: of device memory, allocation and release in the enums of the exporter."""
    kind, allocation, release = codes
    parts: list[tuple[Ints, ...]] = []
    for rows, ordinal in builder.chunks(table, columns):
        time, owner, device, size, where, operation = (rows.numbers[c] for c in columns)
        process = process_of(owner) if columns[1] == "globalPid" else owner
        chosen = (
            np.isin(where, (kind, MISSING))
            & (size >= 0)
            & (size < _MOST_BYTES)
            & np.isin(operation, (allocation, release))
        )
        change = np.where(operation == allocation, size, -size)
        parts.append(tuple(column[chosen] for column in (ordinal, time, process, device, change)))
    if not parts:
        return
    ordinal, time, *place, change = (np.concatenate(column) for column in zip(*parts, strict=True))
    distinct, of_row = distinct_rows(*place)
    for index, (pid, number) in enumerate(distinct):
        row = np.flatnonzero(of_row == index)
        row = row[np.argsort(time[row], kind="stable")]
        total = np.cumsum(change[row])
        # What is released without an allocation was allocated before the recording.
        before = max(0, -int(total.min()))
        values = (total + before).tolist()
        samples = builder.texts(json.dumps({"bytes": value}).encode() for value in values)
        title = "Memory of the device, at least" if before else "Memory of the device"
        name = builder.names([title])
        called = "memory" if len({pid for pid, _ in distinct}) == 1 else f"memory of process {pid}"
        track = builder.gathered.tracks.column([("" if number == MISSING else number, called)])
        builder.owners.of_track[int(track[0])] = pid
        n = len(row)
        builder.instants(
            ordinal[row], time[row], name.repeat(n), "device_memory", track.repeat(n), "C", samples
        )
