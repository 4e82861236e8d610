"""The facts behind the page as one plain object: what ``torch-tb-profiler summary --json`` prints.
Times are integer nanoseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from torch_tb_profiler.analysis.figures.devices import device_use
from torch_tb_profiler.analysis.figures.kernels import kernel_rows
from torch_tb_profiler.analysis.figures.operators import operator_rows
from torch_tb_profiler.analysis.figures.selection import Selection, complete, judged, select
from torch_tb_profiler.analysis.figures.step_table import step_table
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.display_wire import records, wire_columns
from torch_tb_profiler.views.steps import step_objects, subject_of


def summary(facts: Facts, identity: Mapping[str, str], entries: int, lost: int) -> dict[str, Any]:
    """One trace as JSON-able values; None is unknown. The keys are documented in
    ``docs/http_api.md``, "Summary". ``identity``: which trace it is; ``entries``: of its
    ``traceEvents``, ``lost`` of them lost.
    """
    selection = select(facts)
    told = Selection(complete(facts, judged(facts, selection)), selection.whole)
    return {
        **identity,
        "events": {"total": entries, "stored": entries - lost, "lost": lost},
        "span_ns": facts.summary.span_ns,
        "subject": subject_object(facts, identity, told.steps),
        "step_source": facts.summary.step_source,
        "workload": msgspec.to_builtins(facts.summary.workload),
        "steps": _steps(facts, selection),
        "devices": _devices(facts, told),
        "operators": _operators(facts, selection),
        "kernels": _kernels(facts, selection),
        "attribution": msgspec.to_builtins(facts.summary.attribution),
        "defects": [
            {"name": defect.name, "severity": defect.severity.value, "count": count}
            for defect, count in facts.defects
        ],
    }


def subject_object(facts: Facts, identity: Mapping[str, str], rows: Ints) -> dict[str, str]:
    """What figures of some steps are of. ``identity``: which trace it is."""
    job, recording, ranks = (identity[key] for key in ("run", "span", "worker"))
    told = subject_of(facts, rows, job=job, recording=recording, ranks=ranks)
    plain: dict[str, str] = msgspec.to_builtins(told)
    return plain


def _steps(facts: Facts, selection: Selection) -> list[dict[str, Any]]:
    """Of every step its name, times and ``categories_ns``."""
    keys = ("name", "start_ns", "wall_ns", "categories_ns")
    rows = step_objects(wire_columns(step_table(facts, selection)))
    return [{key: row[key] for key in keys} for row in rows]


def _devices(facts: Facts, selection: Selection) -> list[dict[str, Any]]:
    keys = ("id", "name", "utilization", "sm_efficiency", "occupancy", "occupancy_known_share")
    return [
        {key: getattr(use, key) for key in keys} | {"matrix_core_share": use.matrix_share}
        for use in device_use(facts, selection)
    ]


def _operators(facts: Facts, selection: Selection) -> list[dict[str, Any]]:
    rows = operator_rows(facts, selection, "name")
    return _records(rows, "name calls device_self_ns device_total_ns host_self_ns host_total_ns")


def _kernels(facts: Facts, selection: Selection) -> list[dict[str, Any]]:
    return _records(
        kernel_rows(facts, selection, "name"), "name calls total_ns mean_ns min_ns max_ns"
    )


def _records(rows: DisplayTable, names: str) -> list[dict[str, Any]]:
    columns = wire_columns(rows)
    return records({name: columns[name] for name in names.split()})
