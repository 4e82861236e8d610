"""What is alive on one device at a moment, by origin."""

from __future__ import annotations

import re

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import extreme_by, group_rows, sum_by
from torch_tb_profiler.analysis.memory.window import by_category, of_device
from torch_tb_profiler.analysis.module.path_modules import module_names_of
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.categories import BLOCK_CATEGORIES
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.python_frames import PythonFrame

_LONGEST_PLACE = 80
_ARGUMENTS = regex(r"(?<=\w)[<(].*", re.DOTALL)
"""Of a function of C++ what follows its name."""


class LiveMemory(msgspec.Struct, frozen=True):
    """Live blocks grouped by origin, the largest sum first; arrays of shape (origins,), texts are
    insight strings.

    time: ns.
    allocated, reserved: bytes after the last record up to that time; reserved −1 unknown.
    unknown: allocated − Σ ``bytes``: allocated before the recording and not released in it.
        Negative if the records contradict each other.
    operator, parent, module, line, category: −1 unknown.
    rule: position in ``CATEGORY_RULES``; −1 recorded or unknown.
    bytes, count, largest: count and largest −1 where the file contains only sums.
    oldest: start of the oldest block, ns; −1 before the recording.
    """

    time: int
    allocated: int
    reserved: int
    unknown: int
    operator: Ints
    parent: Ints
    module: Ints
    line: Ints
    category: Ints
    rule: Ints
    bytes: Ints
    count: Ints
    largest: Ints
    oldest: Ints


def live_memory_at(insight: Insight, device: int, time: int | None) -> LiveMemory:
    """What is alive at a time, ns; at None or the peak time, the peak itself."""
    devices, curve = insight["memory_devices"], insight["memory_curve"]
    rows, last = of_device(curve, device), last_record(insight, device, time)
    time = int(devices["peak_time"][device]) if time is None else time
    recorded = last >= rows.start
    allocated = int(curve["allocated"][last]) if recorded else int(devices["begin"][device])
    reserved = int(curve["reserved"][last]) if recorded else -1
    origins = _blocks(insight, device, last)
    if not len(origins["bytes"]):
        origins = _sums(insight, device, last)
    order = np.argsort(-origins["bytes"], kind="stable")
    unknown = allocated - int(origins["bytes"].sum())
    columns = {key: values[order] for key, values in origins.items()}
    return LiveMemory(time, allocated, reserved, unknown, **columns)


def places_of(insight: Insight, held: LiveMemory, most: int) -> list[tuple[str, int]]:
    """Where most of what is alive was allocated, and its bytes: line, else operator, else module, else what it is for."""
    name = np.where(
        held.line >= 0, held.line, np.where(held.operator >= 0, held.operator, held.module)
    )
    # What has no name is told by its category, −2 and below; −1: nothing is known of it.
    key = np.where(name >= 0, name, np.where(held.category >= 0, -2 - held.category, -1))
    distinct, number = np.unique(key, return_inverse=True)
    sums = sum_by(number, len(distinct), held.bytes)
    order = [one for one in np.argsort(-sums, kind="stable").tolist() if distinct[one] != -1]
    return [
        (_place(insight, int(distinct[one])), int(sums[one]))
        for one in order[:most]
        if sums[one] > 0
    ]


def _place(insight: Insight, key: int) -> str:
    if key < 0:
        return BLOCK_CATEGORIES[-2 - key].replace("_", " ")
    return short_place(insight.strings[key])


def short_place(place: str) -> str:
    """``forward at model.py:12`` of a line, a function of C++ without its arguments; other names as they are, but for endless ones."""
    frame = PythonFrame.of(place)
    other = place if frame else _ARGUMENTS.sub("", place)
    text = frame.short if frame is not None and frame.is_source else other
    return text if len(text) <= _LONGEST_PLACE else f"{text[:_LONGEST_PLACE]}…"


def last_record(insight: Insight, device: int, time: int | None) -> int:
    """The row of ``memory_curve`` after which a moment is: of the peak, or None, the one that reaches
    it; the row before the device's first where there is none yet.
    """
    devices, curve = insight["memory_devices"], insight["memory_curve"]
    rows = of_device(curve, device)
    if time is not None and time != int(devices["peak_time"][device]):
        return int(rows.start + np.searchsorted(curve["time"][rows], time, side="right") - 1)
    above = int(devices["peak"][device]) > int(devices["begin"][device])
    return int(rows.start + (np.argmax(curve["allocated"][rows]) if above else -1))


def unrecorded_before(insight: Insight, device: int, held: LiveMemory) -> int:
    """Bytes of ``held.unknown`` that were allocated before the recording."""
    rest = max(held.unknown, 0)
    if not len(held.bytes) or held.count[0] >= 0:
        return rest
    # Of sums the file says itself what is from before.
    last = last_record(insight, device, held.time)
    return min(rest, int(by_category(insight, device, np.array([last]))[-2, 0]))


def alive_blocks(insight: Insight, device: int, last: int) -> Ints:
    """Rows of ``allocations`` that are alive after a row of ``memory_curve``."""
    table = insight["allocations"]
    rows = of_device(table, device)
    record, release = table["record"][rows], table["release"][rows]
    alive = (record <= last) & ((release < 0) | (release > last))
    return np.asarray(rows.start + np.flatnonzero(alive))


def block_origins(insight: Insight, rows: Ints) -> dict[str, Array]:
    """Where some rows of ``allocations`` come from, and what they are for, by what tells it: strings of the insight, numbers of
    categories and of their rules; −1 unknown.
    """
    table, nodes = insight["allocations"].take(rows), insight["memory_nodes"]
    name, above, node = np.append(nodes["name"], -1), np.append(nodes["parent"], -1), table["node"]
    return {
        "operator": name[node],
        "parent": name[above[node]],
        "module": module_names_of(insight)[table["path"]],
        "stack": table["frames"],
        **{key: table[key] for key in ("line", "category", "rule")},
    }


def _blocks(insight: Insight, device: int, last: int) -> dict[str, Ints]:
    """Origins of the blocks alive after a row of ``memory_curve``."""
    table, row = insight["allocations"], alive_blocks(insight, device, last)
    columns = block_origins(insight, row)
    del columns["stack"]
    first, group = group_rows(list(columns.values()))
    n, size, begin = len(first), table["bytes"][row], table["begin"][row]
    return {
        **{key: values[first].astype(np.int64) for key, values in columns.items()},
        "bytes": sum_by(group, n, size),
        "count": np.bincount(group, minlength=n),
        "largest": extreme_by(np.maximum, group, n, size),
        "oldest": extreme_by(np.minimum, group, n, begin),
    }


def _sums(insight: Insight, device: int, last: int) -> dict[str, Ints]:
    """Bytes by category after a row of ``memory_curve``, for files that contain only sums."""
    size = by_category(insight, device, np.array([last]))[:-2].sum(axis=1)
    category = np.flatnonzero(size)
    unknown = np.full(len(category), -1, np.int64)
    nowhere = ("operator", "parent", "module", "line", "rule", "count", "largest", "oldest")
    return dict.fromkeys(nowhere, unknown) | {"category": category, "bytes": size[category]}
