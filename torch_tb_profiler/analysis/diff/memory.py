"""Two recordings of allocations: the peak of each device, and what held it, by line and by operator.

::

    before  ▁▃█▂      64 MiB     by line: what is alive at one peak less what is alive at the other
    after   ▁▄█▂     112 MiB     a snapshot beside a trace: their peaks alone
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.figures.source_lines import line_of_frames
from torch_tb_profiler.analysis.memory.build import HOST
from torch_tb_profiler.analysis.memory.changes import (
    BETWEEN,
    MEMORY_CHANGES,
    Moment,
    changes_table,
)
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.python_frames import function_name
from torch_tb_profiler.store.strings import NO_STRINGS

_CALLED = regex(r"at::_ops::(\w+)::(?:call|redispatch)\b")
"""How C++ frames name the operator that was called (``torchgen``'s generated code)."""
_C = DisplayColumn
_SHARED = ("name", "delta_bytes", "before_bytes", "after_bytes", "delta_blocks")
DIFF_MEMORY = DisplaySpec(
    "diff_memory",
    "What the peaks of two recordings of allocations held, the largest change of each table first.",
    (
        _C("table", "text", "", "`line` or `operator`."),
        _C("device", "text", "", "The device."),
        *(column for column in MEMORY_CHANGES.columns if column.name in _SHARED),
    ),
)


class Peaks(msgspec.Struct, frozen=True):
    """A device of both recordings, rows of ``memory_devices``, and its peak in bytes."""

    device: tuple[int, int]
    before: int
    after: int


def peaks(a: Insight, b: Insight) -> tuple[list[Peaks], tuple[list[int], list[int]]]:
    """Accelerators of equal number, and the host, in the order of A, and the rows of each side that the other lacks.
    Where each has a single accelerator these are a pair. A snapshot says of every accelerator that it is CUDA's.
    """
    tables = a["memory_devices"], b["memory_devices"]
    keys = [list(zip((t["type"] == HOST).tolist(), t["id"].tolist(), strict=True)) for t in tables]
    pairs = [(keys[0].index(key), keys[1].index(key)) for key in keys[0] if key in keys[1]]
    single = [[row for row, (is_host, _) in enumerate(side) if not is_host] for side in keys]
    if len(single[0]) == len(single[1]) == 1:
        hosts = [pair for pair in pairs if keys[0][pair[0]][0]]
        pairs = [(single[0][0], single[1][0]), *hosts]
    tops = [table["peak"].tolist() for table in tables]
    only = [
        [row for row in range(len(keys[side])) if row not in {pair[side] for pair in pairs}]
        for side in (0, 1)
    ]
    return [Peaks(pair, tops[0][pair[0]], tops[1][pair[1]]) for pair in pairs], (only[0], only[1])


def peak_table(a: Insight, b: Insight, found: list[Peaks], names: list[str]) -> DisplayTable:
    """The table ``diff_memory``; ``names``: what the devices are called."""
    parts = []
    for one, name in zip(found, names, strict=True):
        sides = Moment(a, one.device[0], None), Moment(b, one.device[1], None)
        for table, held in (
            ("line", changes_table(*sides, "line")),
            ("operator", _operators(sides)),
        ):
            held = held.take(np.flatnonzero((held["before_bytes"] > 0) | (held["after_bytes"] > 0)))
            columns = {column: held[column] for column in _SHARED}
            named = {"table": [table] * held.n, "device": [name] * held.n}
            parts.append(DIFF_MEMORY.build(NO_STRINGS, **named, **columns))
    return DIFF_MEMORY.joined(parts)


def _operators(sides: tuple[Moment, Moment]) -> DisplayTable:
    """By operator. A snapshot has none: the call of one in its stacks stands for it, else the function of the line."""
    if any((side.insight["allocations"]["node"] >= 0).any() for side in sides):
        return changes_table(*sides, "operator")
    held = changes_table(*sides, "stack")
    named = [_operator_of(text) if text else text for text in held.texts("name")]
    number = {name: place for place, name in enumerate(dict.fromkeys(named))}
    group = np.array([number[name] for name in named], np.int64)
    sums = {column: sum_by(group, len(number), held[column]) for column in _SHARED[1:]}
    table = MEMORY_CHANGES.build(NO_STRINGS, name=list(number), **sums)
    return table.take(np.lexsort((-sums["after_bytes"], -np.abs(sums["delta_bytes"]))))


def _operator_of(stack: str) -> str:
    called = _CALLED.search(stack)
    if called:
        return f"aten::{called[1]}"
    return function_name(line_of_frames("\n".join(stack.split(BETWEEN)))) or stack
