"""What the Efficiency and Counters views show of one trace, and PyProf's table, as DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.counters.profiled import profiled_kernels
from torch_tb_profiler.analysis.counters.table import counter_table, peaks_of_ranges, sample_table
from torch_tb_profiler.analysis.efficiency.table import EfficiencyGroup
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.analysis.pyprof.table import kernel_table
from torch_tb_profiler.api.frame import table_frame
from torch_tb_profiler.api.trace_context import Steps, TraceContext
from torch_tb_profiler.hardware.counter_names import counter_label, counter_unit
from torch_tb_profiler.store.columns import Array
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.views.overview.scalars import scalar_table
from torch_tb_profiler.views.work.counters import matching_text
from torch_tb_profiler.views.work.efficiency import efficiency_of
from torch_tb_profiler.views.work.pyprof import PYPROF, KernelCells
from torch_tb_profiler.views.work.pyprof_columns import COLUMNS

if TYPE_CHECKING:
    from pandas import DataFrame

LARGEST = 1 << 53
"""Counters beyond it are no whole numbers any more as the file's reader keeps them."""


def efficiency(context: TraceContext, by: EfficiencyGroup, chosen: Steps) -> DataFrame:
    """See ``analysis.efficiency.table.EFFICIENCY``. ``attrs``: ``device`` (its peaks and their
    sources), ``mfu`` (model FLOPs utilization of the steps), ``notes`` on the figures.
    """
    payload, table = efficiency_of(
        context.facts, context.insight, context.selection(chosen), by, file=context.settings.peaks
    )
    made = table_frame(table)
    made.attrs |= {
        "device": msgspec.to_builtins(payload.device),
        "mfu": payload.mfu,
        "notes": payload.notes,
    }
    return made


def scalar_rows(context: TraceContext, selection: Selection) -> DisplayTable:
    """See ``views.overview.scalars.SCALARS``: the figures of the selected steps."""
    return scalar_table(
        context.trace, context.facts, context.insight, selection, context.settings.peaks
    )


def counters(context: TraceContext) -> DataFrame:
    """See ``analysis.counters.table.COUNTERS``. ``attrs["matching"]`` says how the ranges were tied
    to their launches.
    """
    trace, facts = context.trace, context.facts
    profiled = profiled_kernels(trace, facts)
    chosen = np.flatnonzero(mask(context.selection(), profiled.step))
    peaks = peaks_of_ranges(trace, facts, profiled, context.settings.peaks)
    table = counter_table(trace, profiled, chosen, peaks)
    names = [f"counter {name}" if name in table else name for name in profiled.counters]
    measured = map(_numbers, profiled.values[:, chosen])
    made = table_frame(table, dict(zip(names, measured, strict=True)))
    made.attrs["units"] |= dict(zip(names, map(counter_unit, profiled.counters), strict=True))
    made.attrs["docs"] |= dict(zip(names, map(counter_label, profiled.counters), strict=True))
    made.attrs["matching"] = matching_text(profiled)
    return made


def counter_samples(context: TraceContext) -> DataFrame:
    """See ``analysis.counters.table.COUNTER_SAMPLES``."""
    return table_frame(sample_table(context.insight, context.selection()))


def pyprof(context: TraceContext) -> DataFrame:
    """See ``views.work.pyprof.PYPROF``."""
    cells = KernelCells(
        context.trace, context.insight, kernel_table(context.trace, context.facts, context.insight)
    )
    columns = {column.name: cells.column(key, 0, cells.rows) for key, column in COLUMNS.items()}
    return table_frame(PYPROF.build(context.trace.strings, **columns))


def _numbers(values: Array) -> Any:
    """A counter that only took whole numbers is a column of integers."""
    import pandas

    finite = np.isfinite(values)
    whole = ((values == np.rint(values)) & (np.abs(values) < LARGEST) | ~finite).all()
    dtype: Any = "Int64" if whole and len(values) else "Float64"
    return pandas.array(np.where(finite, values, np.nan), dtype=dtype)
