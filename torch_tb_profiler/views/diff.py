"""Route ``/diff``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from torch_tb_profiler.analysis.diff.compare import ChangeTable as FoundTable
from torch_tb_profiler.analysis.diff.compare import Comparison, compare
from torch_tb_profiler.analysis.diff.side import Side, compared_side
from torch_tb_profiler.analysis.diff.significance import Moments
from torch_tb_profiler.analysis.diff.tree import DiffTree
from torch_tb_profiler.analysis.figures.absent import absent
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views import diff_wire as wire
from torch_tb_profiler.views.diff_causes import because
from torch_tb_profiler.views.diff_notes import notes
from torch_tb_profiler.views.diff_verdict import verdict
from torch_tb_profiler.views.nullable import OTHER, optional_integers, rounded
from torch_tb_profiler.views.steps import step_items
from torch_tb_profiler.views.texts import CATEGORY_LABELS, missing
from torch_tb_profiler.views.vocabulary import vocabulary

MOST_ROWS = 500
"""Rows of each table that stand for themselves."""
_KINDS: tuple[wire.DiffKind, ...] = ("module", "annotation", "operator", "kernel")

NO_TREE = msgspec.convert(
    {field: [] for field in wire.DiffTreeColumns.__struct_fields__}, wire.DiffTreeColumns
)


@dataclass(frozen=True)
class Recording:
    """Where a side comes from, and what its file says of itself (``header``)."""

    run: str
    worker: str
    span: str
    label: str
    header: dict[str, Any]


def compared(
    a: tuple[Facts, Insight, Selection], b: tuple[Facts, Insight, Selection]
) -> Comparison:
    """B compared with A, each with its chosen steps."""
    return compare(compared_side(*a), compared_side(*b))


def diff_payload(
    found: Comparison, a: Recording, b: Recording, most_rows: int = MOST_ROWS, tree: bool = True
) -> wire.DiffPayload:
    """Everything of the page about two recordings; without ``tree`` that is empty."""
    tables = [(key, found.tables[key]) for key in get_args(wire.ChangeTable) if key in found.tables]
    parts = [_part(key, table, found.a.mean, most_rows) for key, table in tables]
    columns = wire.ChangeColumns(
        **{name: [entry for part in parts for entry in part[name]] for name in parts[0]}
    )
    said = verdict(found)
    wanted = [key for one in (found.a, found.b) for key in absent(one.facts)]
    return wire.DiffPayload(
        a=_side(found.a, a),
        b=_side(found.b, b),
        verdict=msgspec.structs.replace(said, because=because(said, columns)),
        device_time=found.device,
        changes=columns,
        wholes=[_whole(key, table, most_rows) for key, table in tables],
        tree=_tree(found.tree, found.a.facts, found.b.facts) if tree else NO_TREE,
        tree_pooled=found.tree.pooled if tree else 0,
        notes=notes(found, a.header, b.header),
        missing=missing(wanted, ("device", "host", "steps")),
    )


def _side(side: Side, recording: Recording) -> wire.DiffSide:
    walls, table = side.walls, side.facts["devices"]
    names = dict.fromkeys(name for name in side.facts.strings.many(table["name"]) if name)
    return wire.DiffSide(
        run=recording.run,
        worker=recording.worker,
        span=recording.span,
        label=recording.label,
        device=", ".join(names)
        or (vocabulary(side.facts).device if side.facts.summary["has_device"] else None),
        step_source=side.facts.summary["step_source"],
        steps=step_items(side.facts, Selection(side.steps, False)),
        selected=len(walls),
        mean_ns=round(float(walls.mean())) if len(walls) else None,
        spread_ns=round(float(walls.std(ddof=1))) if len(walls) > 1 else None,
    )


def _part(key: wire.ChangeTable, table: FoundTable, step: float, most: int) -> dict[str, list[Any]]:
    """The columns of one table."""
    rows, a, b = table.changes, table.changes.a, table.changes.b
    count = min(len(a), most)
    shown: dict[str, list[Any]] = {
        "table": [key] * count,
        "name": [table.a.name[i] if i >= 0 else table.b.name[j] for i, j in _pairs(a, b, count)],
        "short": [
            _short(key, table.a.short[i] if i >= 0 else table.b.short[j])
            for i, j in _pairs(a, b, count)
        ],
        "rest": [False] * count,
        "status": rows.status[:count],
        "name_b": [
            table.b.name[j] if i >= 0 and j >= 0 and table.b.name[j] != table.a.name[i] else None
            for i, j in _pairs(a, b, count)
        ],
        "calls_a": _means(table.a.calls, a[:count]),
        "calls_b": _means(table.b.calls, b[:count]),
        "time_a_ns": optional_integers(np.where(a[:count] >= 0, rows.time_a[:count], -1)),
        "time_b_ns": optional_integers(np.where(b[:count] >= 0, rows.time_b[:count], -1)),
        "delta_ns": rows.delta[:count].tolist(),
        "host_a_ns": _hosts(table.a.host, a[:count]),
        "host_b_ns": _hosts(table.b.host, b[:count]),
        "beyond": [
            bool(x) if tested else None
            for x, tested in zip(
                rows.beyond[:count].tolist(), rows.tested[:count].tolist(), strict=True
            )
        ],
        "event_a": _events(table.a.event, a[:count]),
        "event_b": _events(table.b.event, b[:count]),
    }
    if count < len(a):
        time_a, time_b = int(rows.time_a[count:].sum()), int(rows.time_b[count:].sum())
        rest: dict[str, Any] = {
            "table": key,
            "name": OTHER,
            "short": OTHER,
            "rest": True,
            "status": "same",
        }
        rest |= {"time_a_ns": time_a, "time_b_ns": time_b, "delta_ns": time_b - time_a}
        for name, column in shown.items():
            column.append(rest.get(name))
    shown["share"] = [delta / step if step > 0 else None for delta in shown["delta_ns"]]
    return shown


def _pairs(a: NDArray[np.int64], b: NDArray[np.int64], count: int) -> Iterable[tuple[int, int]]:
    return zip(a[:count].tolist(), b[:count].tolist(), strict=True)


def _short(key: wire.ChangeTable, name: str) -> str:
    return CATEGORY_LABELS[name] if key == "category" else name


def _means(calls: Moments | None, row: NDArray[np.int64]) -> list[float | None]:
    return [None if calls is None or i < 0 else float(calls.mean[i]) for i in row.tolist()]


def _hosts(host: NDArray[np.float64], row: NDArray[np.int64]) -> list[int | None]:
    return [
        round(float(host[i])) if i >= 0 and np.isfinite(host[i]) else None for i in row.tolist()
    ]


def _events(event: NDArray[Any], row: NDArray[np.int64]) -> list[int | None]:
    return [int(event[i]) if i >= 0 and event[i] >= 0 else None for i in row.tolist()]


def _whole(key: wire.ChangeTable, table: FoundTable, most: int) -> wire.ChangeWhole:
    rows = table.changes
    return wire.ChangeWhole(
        table=key,
        time_a_ns=int(rows.time_a.sum()),
        time_b_ns=int(rows.time_b.sum()),
        pooled=max(0, len(rows.a) - most),
    )


def _tree(tree: DiffTree, a: Facts, b: Facts) -> wire.DiffTreeColumns:
    n = len(tree.parent)
    names = [
        [
            name if there else None
            for name, there in zip(one.name, one.present.tolist(), strict=True)
        ]
        for one in (tree.a, tree.b)
    ]
    return wire.DiffTreeColumns(
        parent=tree.parent.tolist(),
        kind=[_KINDS[kind] for kind in tree.kind.tolist()],
        backward=[bool(x) for x in tree.backward.tolist()],
        name_a=names[0],
        name_b=names[1],
        status=msgspec.convert(tree.status, list[wire.ChangeStatus]),
        calls_a=tree.a.calls.tolist(),
        calls_b=tree.b.calls.tolist(),
        host_a_ns=rounded(tree.a.host),
        host_b_ns=rounded(tree.b.host),
        device_a_ns=list(rounded(tree.a.device)) if a.summary["has_device"] else [None] * n,
        device_b_ns=list(rounded(tree.b.device)) if b.summary["has_device"] else [None] * n,
        event_a=optional_integers(tree.a.event),
        event_b=optional_integers(tree.b.event),
    )
