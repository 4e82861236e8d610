"""The tables of rates, of hardware counters, and PyProf's."""

from __future__ import annotations

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.counters.by_kernel import counter_columns
from torch_tb_profiler.analysis.counters.profiled import profiled_kernels
from torch_tb_profiler.analysis.counters.table import (
    COUNTER_SAMPLES,
    COUNTERS,
    counter_table,
    peaks_of_ranges,
    sample_table,
)
from torch_tb_profiler.analysis.efficiency.table import EFFICIENCY, EfficiencyGroup
from torch_tb_profiler.analysis.figures.selection import mask
from torch_tb_profiler.analysis.pyprof.table import kernel_table
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.tables.source import TableSource, computes
from torch_tb_profiler.views.work.counters import matching_text
from torch_tb_profiler.views.work.efficiency import efficiency_of
from torch_tb_profiler.views.work.pyprof import PYPROF, KernelCells
from torch_tb_profiler.views.work.pyprof_columns import COLUMNS


@computes(EFFICIENCY)
def efficiency(of: TableSource, by: EfficiencyGroup = "operator") -> DisplayTable:
    """Rates of operators or kernels and their shares of the device's peaks, and recoverable time. ``attrs``: ``device`` (its peaks and their
    sources), ``mfu`` (model FLOPs utilization of the steps), ``notes`` on the figures,
    such as why a rate is above a peak.
    """
    payload, table = efficiency_of(of.facts, of.insight, of.selection, by, file=of.peaks)
    return table.with_attributes(
        device=msgspec.to_builtins(payload.device), mfu=payload.mfu, notes=payload.notes
    )


@computes(COUNTERS)
def counters(of: TableSource) -> DisplayTable:
    """Hardware counters of profiled kernels, one column per counter. ``attrs["matching"]`` says how the ranges were tied
    to their launches.
    """
    profiled = profiled_kernels(of.trace, of.facts)
    chosen = np.flatnonzero(mask(of.selection, profiled.step))
    peaks = peaks_of_ranges(of.trace, of.facts, profiled, of.peaks)
    table = counter_table(of.trace, profiled, chosen, peaks)
    columns = counter_columns(profiled.counters, table)
    spec = replace(COUNTERS, columns=(*COUNTERS.columns, *columns.values()))
    values = zip(columns.values(), profiled.values[:, chosen], strict=True)
    measured = {column.name: own for column, own in values}
    return spec.build(table.strings, **table, **measured).with_attributes(
        matching=matching_text(profiled)
    )


@computes(COUNTER_SAMPLES)
def counter_samples(of: TableSource) -> DisplayTable:
    """Sampled hardware counters per step."""
    return sample_table(of.insight, of.selection)


@computes(PYPROF)
def pyprof(of: TableSource) -> DisplayTable:
    """PyProf's kernel table, in all steps."""
    cells = KernelCells(of.trace, of.insight, kernel_table(of.trace, of.facts, of.insight))
    columns = {column.name: cells.column(key, 0, cells.rows) for key, column in COLUMNS.items()}
    return PYPROF.build(of.trace.strings, **columns)
