"""Hardware counters of kernels by name: the mean of each over the launches that were measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.arrays.grouping import sum_floats
from torch_tb_profiler.analysis.counters.profiled import profiled_kernels
from torch_tb_profiler.analysis.facts.profiled_ranges import RangeMatch
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.hardware.counter_names import counter_label, counter_unit
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import DisplayColumn, DisplayTable
from torch_tb_profiler.store.model import Facts, Trace


class MeasuredKernels(msgspec.Struct, frozen=True):
    """names: of kernels, the most often measured first. calls: launches that were measured.
    means: float64 of shape (counters, kernels), NaN not measured.
    """

    names: list[str]
    calls: Ints
    counters: tuple[str, ...]
    means: Array

    def of(self, names: Sequence[str | None]) -> Array:
        """The means of these kernels; float64 of shape (counters, names), NaN not measured."""
        place = {name: column for column, name in enumerate(self.names)}
        padded = np.column_stack((self.means, np.full(len(self.counters), np.nan)))
        return np.asarray(padded[:, [place.get(name or "", -1) for name in names]])


def measured_kernels(trace: Trace, facts: Facts, selection: Selection) -> MeasuredKernels:
    """The kernels whose counters were measured one by one in the selected steps."""
    if not facts.summary.profiled_ranges:
        return MeasuredKernels([], np.zeros(0, np.int64), (), np.zeros((0, 0)))
    profiled = profiled_kernels(trace, facts)
    single = profiled.launches.how != RangeMatch.WHOLE
    chosen = np.flatnonzero(mask(selection, profiled.step) & single)
    name, group = np.unique(
        trace["spans"]["name"][profiled.launches.row[chosen]], return_inverse=True
    )
    n, values = len(name), profiled.values[:, chosen]
    known = np.isfinite(values)
    means = np.full((len(values), n), np.nan)
    for row, (own, told) in enumerate(zip(values, known, strict=True)):
        total, count = (
            sum_floats(group, n, np.where(told, own, 0)),
            np.bincount(group[told], minlength=n),
        )
        np.divide(total, count, out=means[row], where=count > 0)
    calls = np.bincount(group, minlength=n)
    order = np.argsort(-calls, kind="stable")
    return MeasuredKernels(
        trace.strings.many(name[order]), calls[order], profiled.counters, means[:, order]
    )


def counter_columns(names: Iterable[str], taken: Iterable[str]) -> dict[str, DisplayColumn]:
    """A column per counter under its own name, beside columns that are ``taken``."""
    return {
        name: DisplayColumn(
            f"counter {name}" if name in taken else name,
            "counter",
            "",
            counter_label(name),
            unit=counter_unit(name),
        )
        for name in names
    }


def with_counters(rows: DisplayTable, measured: MeasuredKernels) -> DisplayTable:
    """A table of kernels with the means of their counters, a column each."""
    columns = counter_columns(measured.counters, rows)
    values = zip(columns.values(), measured.of(rows.texts("name")), strict=True)
    spec = replace(rows.spec, columns=(*rows.spec.columns, *columns.values()))
    return spec.build(rows.strings, **rows, **{column.name: own for column, own in values})
