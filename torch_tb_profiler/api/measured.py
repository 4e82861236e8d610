"""What the Efficiency and Counters views show of one trace, and PyProf's table, as DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from torch_tb_profiler.analysis.efficiency.table import EFFICIENCY
from torch_tb_profiler.analysis.pyprof.table import kernel_table
from torch_tb_profiler.api import frame_columns as columns
from torch_tb_profiler.api.frame import frame
from torch_tb_profiler.api.trace_context import Steps, TraceContext
from torch_tb_profiler.views.counter_tables import counters_table_payload
from torch_tb_profiler.views.counters_wire import CountersTablePayload
from torch_tb_profiler.views.efficiency import efficiency_payload
from torch_tb_profiler.views.efficiency_wire import EfficiencyGroup
from torch_tb_profiler.views.pyprof import KernelCells
from torch_tb_profiler.views.pyprof_columns import COLUMNS
from torch_tb_profiler.views.wire import Wire

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_ROWS = 1 << 24
LARGEST = 1 << 53
"""Counters beyond this are not exact integers as floats."""
_COUNTER_NAMES = {"short": "short_name"}


def efficiency(context: TraceContext, by: EfficiencyGroup, chosen: Steps) -> DataFrame:
    """See ``analysis.efficiency.table.EFFICIENCY``. ``attrs``: ``device`` (its peaks and their
    sources), ``mfu`` (model FLOPs utilization of the steps), ``notes`` on the figures.
    """
    payload = efficiency_payload(
        context.facts,
        context.insight,
        context.selection(chosen),
        by,
        MOST_ROWS,
        context.settings.peaks,
    )
    absent = ("kernel", "short_name") if by == "operator" else ()
    values = {name: column for name, column in payload.rows.items() if name not in absent}
    table = frame(EFFICIENCY, values)
    table.attrs |= {
        "device": msgspec.to_builtins(payload.device),
        "mfu": payload.mfu,
        "notes": payload.notes,
    }
    return table


def counters(context: TraceContext) -> DataFrame:
    """See ``columns.COUNTERS``. ``attrs["matching"]``: how ranges were matched with launches."""
    payload = _counters(context)
    profiled = _columns(payload.profiled)
    operators = [tuple(stack) for stack in profiled.pop("operators")]
    by_counter = profiled.pop("values")
    values: dict[str, Any] = {
        _COUNTER_NAMES.get(name, name): column for name, column in profiled.items()
    }
    values |= {
        name: [row if row >= 0 else None for row in values[name]] for name in ("launch", "event")
    }
    values |= {
        "op_stack": operators,
        "top_op": [stack[0] if stack else None for stack in operators],
        "bottom_op": [stack[-1] if stack else None for stack in operators],
    }
    declared = {column.name for column in columns.COUNTERS.columns}
    more: dict[str, Any] = {}
    for counter, measured in zip(payload.counters, by_counter, strict=True):
        name = counter.name if counter.name not in declared else f"counter {counter.name}"
        more[name] = measured
    table = frame(
        columns.COUNTERS, values, {name: _numbers(column) for name, column in more.items()}
    )
    table.attrs["units"] |= {
        name: counter.unit for name, counter in zip(more, payload.counters, strict=True)
    }
    table.attrs["docs"] |= {
        name: counter.label for name, counter in zip(more, payload.counters, strict=True)
    }
    table.attrs["matching"] = payload.matching
    return table


def counter_samples(context: TraceContext) -> DataFrame:
    """See ``columns.COUNTER_SAMPLES``."""
    payload = _counters(context)
    sampled = payload.sampled
    counters = [payload.sampled_counters[number] for number in sampled.counter]
    values: dict[str, Any] = {
        "counter": [counter.name for counter in counters],
        "unit": [counter.unit for counter in counters],
        "device": sampled.device,
        "step": sampled.step,
        "samples": sampled.samples,
        "mean": sampled.mean,
        "min": sampled.least,
        "max": sampled.greatest,
    }
    return frame(columns.COUNTER_SAMPLES, values)


def pyprof(context: TraceContext) -> DataFrame:
    """See ``columns.PYPROF``."""
    cells = KernelCells(
        context.trace, context.insight, kernel_table(context.trace, context.facts, context.insight)
    )
    return frame(
        columns.PYPROF,
        {("sil_ns" if key == "sil" else key): cells.column(key, 0, cells.rows) for key in COLUMNS},
    )


def _counters(context: TraceContext) -> CountersTablePayload:
    return counters_table_payload(
        context.trace,
        context.facts,
        context.insight,
        context.selection(),
        MOST_ROWS,
        context.settings.peaks,
    )


def _columns(rows: Wire) -> dict[str, Any]:
    return {name: getattr(rows, name) for name in rows.__struct_fields__}


def _numbers(values: list[float | None]) -> Any:
    """A column of integers where all values are whole."""
    import pandas

    whole = all(
        value is None or (float(value).is_integer() and abs(value) < LARGEST) for value in values
    )
    return pandas.array(values, dtype="Int64" if whole and values else "Float64")
