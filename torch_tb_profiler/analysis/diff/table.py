"""The tables of a comparison: what changed, and both call trees as one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.diff.compare import ChangeTable, Comparison
from torch_tb_profiler.analysis.diff.table_rows import Rows
from torch_tb_profiler.analysis.diff.tree import DiffTree
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import OTHER, DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.strings import NO_STRINGS

_C = DisplayColumn
_TABLES = (
    "`category`, `operator`, `host` (operators by host time), `kernel`, `runtime` or `module`; each"
    " adds up for itself."
)
_BEYOND = "Whether it is more than step-to-step noise; missing where that cannot be told."
_EVENT = "row of events"
DIFF = DisplaySpec(
    "diff",
    "What changed from A to B, the largest change of each table first. Times are means per step.",
    (
        _C("table", "text", "", _TABLES),
        _C("name", "code", "Name", "Name.", "diff_name", width=320),
        _C("short", "text", "", ""),
        _C("rest", "flag", "", ""),
        _C("name_b", "text", "", "The name in B where it differs.", optional=True),
        _C(
            "status",
            "text",
            "Status",
            "`same`, `changed`, `new` or `gone`.",
            "diff_status",
            width=80,
        ),
        _C("delta_ns", "delta", "Change per step", "B less A.", "diff_delta", bar=True, width=160),
        _C(
            "share",
            "share",
            "Of the step",
            "The difference as a share of the step of A.",
            "diff_share",
            width=84,
        ),
        _C("time_a_ns", "time", "Before", "Time in A.", "diff_time", True, width=92),
        _C("time_b_ns", "time", "After", "Time in B.", "diff_time", True, width=92),
        _C(
            "calls_a",
            "number",
            "Calls before",
            "Calls per step in A.",
            "diff_calls",
            unit="calls",
            width=74,
        ),
        _C(
            "calls_b",
            "number",
            "Calls after",
            "Calls per step in B.",
            "diff_calls",
            unit="calls",
            width=74,
        ),
        _C("beyond", "flag", "Beyond noise", _BEYOND, "diff_noise", True, width=84),
        _C(
            "host_a_ns",
            "time",
            "Host self before",
            "Host self time in A, of operators and modules.",
            "diff_host",
            True,
            width=92,
            hidden=True,
        ),
        _C(
            "host_b_ns",
            "time",
            "Host self after",
            "The same in B.",
            "diff_host",
            True,
            width=92,
            hidden=True,
        ),
        _C("event_a", "id", "", "An example in A.", optional=True, unit=_EVENT),
        _C("event_b", "id", "", "An example in B.", optional=True, unit=_EVENT),
    ),
)
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
DIFF_TREE = DisplaySpec(
    "diff_tree",
    "Both call trees matched on their structure, parents before children.",
    (
        _C("parent", "row", "", ""),
        _C("name_a", "code", "Name", "", "diff_name", True, width=360),
        _C("name_b", "code", "", "", optional=True),
        _C("backward", "flag", "", ""),
        _C("kind", "text", "Kind", "", "diff_kind", width=92),
        _C("status", "text", "Status", "", "diff_status", width=80),
        _C("device_a_ns", "mean time", "Device before", "", "diff_tree", True, width=92),
        _C("device_b_ns", "mean time", "Device after", "", "diff_tree", True, width=92),
        _C("host_a_ns", "mean time", "Host before", "", "diff_tree", width=92),
        _C("host_b_ns", "mean time", "Host after", "", "diff_tree", width=92),
        _C("calls_a", "number", "Calls before", "", "diff_calls", width=74),
        _C("calls_b", "number", "Calls after", "", "diff_calls", width=74),
        _C("event_a", "id", "", "", optional=True),
        _C("event_b", "id", "", "", optional=True),
    ),
)
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
