"""Insights of drawn traces with allocator records, and their tables as plain rows in microseconds."""

from __future__ import annotations

from typing import Any

from tests.builders.allocator import records
from tests.builders.drawn import Event, events, trace_of
from tests.builders.loop import span
from torch_tb_profiler.analysis.facts.calltree import call_tree
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.memory.build import build_memory
from torch_tb_profiler.analysis.module.paths import build_paths
from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.strings import StringBuilder

_BEGIN: Event = span("user_annotation", "recorded", 100, 9, 0, 1)
Case = tuple[Trace, Facts, Insight]


def out_of_memory(**args: Any) -> Event:
    """What PyTorch writes where an allocation fails, on the thread of the drawings."""
    place = {"pid": 100, "tid": 1, "ts": 5}
    return {
        "ph": "i",
        "s": "t",
        "cat": "cpu_instant_event",
        "name": "[OutOfMemory]",
        **place,
        "args": args,
    }


def case(written: str, drawing: str = "", more: list[Event] | None = None, **drawn: Any) -> Case:
    """The trace of a drawing and of records, its facts and its insight. A column of the drawing is
    a microsecond, the first one is the trace's first.
    """
    trace = trace_of([_BEGIN, *events(drawing, **drawn), *records(written), *(more or [])])
    facts = derive(trace)
    return trace, facts, built(trace, facts)


def built(trace: Trace, facts: Facts) -> Insight:
    """As much of the insight as the Memory view rests on."""
    texts = StringBuilder()
    tree = call_tree(trace)
    tables, about = build_paths(trace, facts, {}, texts, tree)
    made, said = build_memory(trace, facts, tables, texts, tree)
    return Insight(texts.table(), tables | made, about | said)


def insight(written: str, drawing: str = "", **drawn: Any) -> Insight:
    """The insight alone."""
    return case(written, drawing, **drawn)[2]


def blocks(found: Insight, device: int = 0) -> list[tuple[int, int | None, int | None]]:
    """(bytes, allocated, released) of the blocks of a device in the table's order; None: outside
    the recording.
    """
    table = found["allocations"]
    return [
        (int(table["bytes"][row]), _micro(table, "begin", row), _micro(table, "end", row))
        for row in range(table.n)
        if table["device"][row] == device
    ]


def _micro(table: Table, column: str, row: int) -> int | None:
    value = int(table[column][row])
    return value // 1000 if value >= 0 else None


def devices(found: Insight) -> list[dict[str, int]]:
    """The rows of ``memory_devices``."""
    table = found["memory_devices"]
    return [{name: int(table[name][row]) for name in table} for row in range(table.n)]


def operators(found: Insight) -> list[str]:
    """The operator of every record of the curve; empty where none is known."""
    nodes, curve = found["memory_nodes"], found["memory_curve"]
    return [
        found.strings[int(nodes["name"][node])] if node >= 0 else ""
        for node in curve["node"].tolist()
    ]
