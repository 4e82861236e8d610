"""Counter events (``ph: C``) as one series per process, name and argument key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import expand_ranges, group_rows
from torch_tb_profiler.hardware.counter_names import counter_unit
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Trace

MOST_SERIES = 256
"""The series with the most samples are kept."""
LONGEST_TEXT = 1 << 16
"""Larger arguments are ignored."""
LARGEST = 1e100
"""Larger values are nonsense, and their integral over time might overflow."""
_COUNTER = ord("C")
_TEXT = 120

Found = tuple[str, str, int, str, bool, Ints, Array]


def file_counters(trace: Trace) -> Iterator[Found]:
    """``(key, name, track, unit, mean, time, value)`` of each series, the ones with the most
    samples first.

    Every key with a number up to ``LARGEST`` is a series. ``track``: the thread of the first
    sample.
    """
    instants = trace["instants"]
    rows = np.flatnonzero((instants["phase"] == _COUNTER) & (instants["args"] >= 0))
    if not len(rows):
        return
    texts, group = np.unique(instants["args"][rows], return_inverse=True)
    keys, first, key, value = _numbers(trace, texts)
    count = np.diff(first)[group]
    event = np.repeat(np.arange(len(rows)), count)
    entry = expand_ranges(first[group], count)
    row = rows[event]
    pid = trace["tracks"]["pid"][instants["track"][row]]
    begin, series = group_rows((pid, instants["name"][row], key[entry]))
    samples = np.bincount(series, minlength=len(begin))
    order, edges = np.argsort(series, kind="stable"), np.concatenate(([0], np.cumsum(samples)))
    for number in np.argsort(-samples, kind="stable")[:MOST_SERIES].tolist():
        own = order[edges[number] : edges[number + 1]]
        head = row[own[0]]
        name, label = trace.strings[int(instants["name"][head])], keys[int(key[entry[own[0]]])]
        process = trace.strings[int(pid[own[0]])]
        shown = ": ".join(text for text in (name, label) if text)[:_TEXT] or "counter"
        identity = f"counter:{process}:{name}:{label}"[: 4 * _TEXT]
        yield (
            identity,
            shown,
            int(instants["track"][head]),
            counter_unit(label) or counter_unit(name),
            False,
            instants["time"][row[own]],
            value[entry[own]],
        )


def _numbers(trace: Trace, texts: Array) -> tuple[list[str], Ints, Array, Array]:
    """``(keys, first, key, value)``: distinct keys, and for text i rows ``first[i]`` to ``first[i +
    1]`` of the columns.
    """
    known: dict[str, int] = {}
    key: list[int] = []
    value: list[float] = []
    first = [0]
    for number in texts.tolist():
        for name, number_value in _entries(trace.strings[number]):
            key.append(known.setdefault(name, len(known)))
            value.append(number_value)
        first.append(len(key))
    return list(known), np.array(first), np.array(key, np.int64), np.array(value, np.float64)


def _entries(text: str) -> Iterator[tuple[str, float]]:
    if len(text) > LONGEST_TEXT:
        return
    try:
        decoded: Any = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return
    if not isinstance(decoded, dict):
        return
    for name, value in decoded.items():
        if (
            isinstance(value, (int, float))
            and not isinstance(value, bool)
            and abs(value) <= LARGEST
        ):
            yield name, float(value)
