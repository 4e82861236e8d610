"""The tables of a comparison: what changed, and both call trees as one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.diff.compare import ChangeTable, Comparison
from torch_tb_profiler.analysis.diff.table_rows import Rows
from torch_tb_profiler.analysis.diff.tree import DiffTree
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import (
    OTHER,
    DisplayColumn,
    DisplaySpec,
    DisplayTable,
    display_spec,
)
from torch_tb_profiler.store.strings import NO_STRINGS

_C = DisplayColumn
_EVENT = "row of events"
DIFF = display_spec("""
diff: What changed from A to B, the largest change of each table first. Times are means per step.
    table      text    -                 -                                        `category`, `operator`, `host` (operators by host time), `kernel`, `runtime`
        or `module`; each adds up for itself.
    name       code    Name              term=diff_name width=320                 Name.
    short      text    -                 -
    rest       flag    -                 -
    name_b     text    -                 optional                                 The name in B where it differs.
    status     text    Status            term=diff_status width=80                `same`, `changed`, `new` or `gone`.
    delta_ns   delta   Change per step   term=diff_delta bar width=160            B less A.
    share      share   Of the step       term=diff_share width=84                 The difference as a share of the step of A.
    time_a_ns  time    Before            term=diff_time optional width=92         Time in A.
    time_b_ns  time    After             term=diff_time optional width=92         Time in B.
    calls_a    number  Calls before      term=diff_calls unit=calls width=74      Calls per step in A.
    calls_b    number  Calls after       term=diff_calls unit=calls width=74      Calls per step in B.
    beyond     flag    Beyond noise      term=diff_noise optional width=84        Whether it is more than step-to-step noise; missing where that cannot be told.
    host_a_ns  time    Host self before  term=diff_host optional width=92 hidden  Host self time in A, of operators and modules.
    host_b_ns  time    Host self after   term=diff_host optional width=92 hidden  The same in B.
    event_a    id      -                 optional unit=row_of_events              An example in A.
    event_b    id      -                 optional unit=row_of_events              An example in B.
""")
"""The rows of all tables. ``time_*``: of categories their wall time; of kernels (copies and memsets among them) the sum of durations; of
operators the device self time, or host self time where not both sides have device times; of ``host``, which is there where they
have, operators by host self time; of runtime calls their host time; of modules the device (else host self) time of what runs in
them outside inner modules, all instances of a class at one place together. ``short``: the name to read. ``rest``: not one row but
all beyond a table's limit, its last entry. ``beyond``: by the same test as the step's, corrected for the number of rows.
``event_*``: the longest.
"""
RUN_DIFF = DisplaySpec(
    "run_diff",
    "The same of two runs, as means over pairs of workers.",
    (
        *DIFF.columns,
        _C(
            "worker_a",
            "text",
            "",
            "Whose `event_a` it is, of the pair that shows the change most.",
            optional=True,
        ),
        _C("worker_b", "text", "", "Whose `event_b` it is.", optional=True),
    ),
)
DIFF_TREE = display_spec("""
diff_tree: Both call trees matched on their structure, parents before children.
    parent       row        -              -
    name_a       code       Name           term=diff_name optional width=360
    name_b       code       -              optional
    backward     flag       -              -
    kind         text       Kind           term=diff_kind width=92
    status       text       Status         term=diff_status width=80
    device_a_ns  mean time  Device before  term=diff_tree optional width=92
    device_b_ns  mean time  Device after   term=diff_tree optional width=92
    host_a_ns    mean time  Host before    term=diff_tree width=92
    host_b_ns    mean time  Host after     term=diff_tree width=92
    calls_a      number     Calls before   term=diff_calls width=74
    calls_b      number     Calls after    term=diff_calls width=74
    event_a      id         -              optional
    event_b      id         -              optional
""")
"""Times are totals per step, 0 of an absent side. ``kind`` ``kernel``: device work of one name launched by its parent itself. What
is new around something that was there before (a wrapper) carries the times of what it wraps on the side that lacks it, so that a
parent is never less than its children.
"""
_KINDS = ("module", "annotation", "operator", "kernel")


def change_table(found: Comparison, most: int, labels: Mapping[str, str]) -> DisplayTable:
    """At most ``most`` rows of each table, and one that pools the others; ``labels`` of categories."""
    parts = [
        _rows(key, table, found.a.mean, most, labels if key == "category" else {})
        for key, table in found.tables.items()
    ]
    joined = {name: [value for part in parts for value in part[name]] for name in parts[0]}
    return DIFF.build(NO_STRINGS, **joined)


def _rows(
    key: str, table: ChangeTable, step: float, most: int, labels: Mapping[str, str]
) -> dict[str, list[Any]]:
    """The columns of one table."""
    rows = table.changes
    kept = min(len(rows.a), most)
    a, b = rows.a[:kept], rows.b[:kept]
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    short = [table.a.short[i] if i >= 0 else table.b.short[j] for i, j in pairs]
    names = [
        (table.a.name[i] if i >= 0 else None, table.b.name[j] if j >= 0 else None) for i, j in pairs
    ]
    beyond = zip(rows.beyond[:kept].tolist(), rows.tested[:kept].tolist(), strict=True)
    shown: dict[str, list[Any]] = {
        "table": [key] * kept,
        "name": [other if name is None else name for name, other in names],
        "short": [labels.get(name, name) for name in short],
        "rest": [False] * kept,
        "status": rows.status[:kept],
        "name_b": [None if name is None or name == other else other for name, other in names],
        "time_a_ns": _known(np.where(a >= 0, rows.time_a[:kept], -1)),
        "time_b_ns": _known(np.where(b >= 0, rows.time_b[:kept], -1)),
        "delta_ns": rows.delta[:kept].tolist(),
        "beyond": [value if tested else None for value, tested in beyond],
        **_of_side("a", table.a, a),
        **_of_side("b", table.b, b),
    }
    if kept < len(rows.a):
        time_a, time_b = int(rows.time_a[kept:].sum()), int(rows.time_b[kept:].sum())
        rest = {"table": key, "name": OTHER, "short": OTHER, "rest": True, "status": "same"}
        rest |= {"time_a_ns": time_a, "time_b_ns": time_b, "delta_ns": time_b - time_a}
        for name, column in shown.items():
            column.append(rest.get(name))
    shown["share"] = [delta / step if step > 0 else None for delta in shown["delta_ns"]]
    return shown


def _of_side(side: str, rows: Rows, row: Ints) -> dict[str, list[Any]]:
    """Calls, host time and an example of rows of one side, None where it is absent."""
    calls = np.full(len(rows.name), np.nan) if rows.calls is None else rows.calls.mean
    host = np.nan_to_num(np.rint(rows.host), nan=-1).astype(np.int64)
    columns = {f"calls_{side}": calls, f"host_{side}_ns": host, f"event_{side}": rows.event}
    # An absent row reads the value behind the last.
    return {name: _known(np.append(values, -1)[row]) for name, values in columns.items()}


def _known(values: Array) -> list[Any]:
    """A column with None for what is negative or NaN."""
    return [value if value >= 0 else None for value in values.tolist()]


def tree_table(tree: DiffTree, has_device: tuple[bool, bool]) -> DisplayTable:
    """The tree; without a device the times of a side are unknown."""
    columns: dict[str, Any] = {}
    for side, column, device in (("a", tree.a, has_device[0]), ("b", tree.b, has_device[1])):
        names = zip(column.name, column.present.tolist(), strict=True)
        columns |= {
            f"name_{side}": [name if present else None for name, present in names],
            f"calls_{side}": column.calls,
            f"host_{side}_ns": column.host,
            f"event_{side}": column.event,
            **({f"device_{side}_ns": column.device} if device else {}),
        }
    return DIFF_TREE.build(
        NO_STRINGS,
        parent=tree.parent,
        kind=[_KINDS[kind] for kind in tree.kind.tolist()],
        backward=np.asarray(tree.backward, np.bool_),
        status=tree.status,
        **columns,
    )
