"""Route ``/efficiency``."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.efficiency.attribution import LARGEST
from torch_tb_profiler.analysis.efficiency.device import (
    Peaks,
    busiest_device,
    changed,
    device_peaks,
    working_devices,
)
from torch_tb_profiler.analysis.efficiency.families import not_modelled, totals_of
from torch_tb_profiler.analysis.efficiency.rates import (
    Rows,
    Shares,
    kernel_rows,
    longest_kernels,
    matrix_use,
    shares,
    with_unnamed,
    workload_rows,
)
from torch_tb_profiler.analysis.efficiency.table import EfficiencyGroup, efficiency_table
from torch_tb_profiler.analysis.efficiency.together import TOGETHER, together
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.unrecorded_work import much_unknown
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.analysis.figures.selection import Selection, complete
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.display_wire import optional_floats, wire_columns
from torch_tb_profiler.views.steps import first_steps, row_names, summed_over
from torch_tb_profiler.views.words.texts import missing
from torch_tb_profiler.views.words.vocabulary import vocabulary
from torch_tb_profiler.views.work.efficiency_notes import headline, notes, unmodelled_products
from torch_tb_profiler.views.work.efficiency_wire import (
    DevicePeaks,
    EfficiencyPayload,
    Peak,
    StepMfu,
)

_MOST_ROWS = 100_000


def efficiency_of(
    facts: Facts,
    insight: Insight,
    selection: Selection,
    group: EfficiencyGroup,
    limit: int = _MOST_ROWS,
    file: str = "",
) -> tuple[EfficiencyPayload, DisplayTable]:
    """Rates and their shares of the device's peaks in the selected steps, and the whole table whose
    beginning that payload holds.

    Args:
        limit: rows that are not pooled in the last one.
        file: path of the user's own device peaks (setting ``peaks``), empty none.

    Raises:
        SourceError: that file cannot be read.
    """
    peaks = device_peaks(facts, file)
    by_workload = workload_rows(insight, selection)
    judged = shares(insight, by_workload, peaks)
    rows = (
        kernel_rows(insight, selection)
        if group == "kernel"
        else with_unnamed(insight, selection, by_workload)
    )
    rates = judged if rows is by_workload else shares(insight, rows, peaks)
    table = efficiency_table(
        insight,
        rows,
        rates,
        not_modelled(facts, insight, selection, rows),
        rows.kernel if group == "kernel" else longest_kernels(insight, selection, rows),
        group,
    )
    totals = totals_of(facts, insight, selection, by_workload)
    steps, mfu = _steps(facts, insight, selection, by_workload, judged)
    payload = EfficiencyPayload(
        group=group,
        has_device=facts.summary.has_device,
        vocabulary=vocabulary(facts),
        device=_device(facts, peaks),
        steps=steps,
        mfu=mfu,
        time_ns=totals.time,
        rows=wire_columns(table.head(limit)),
        kernels_together=_together(table, rows, rates, "kernel", limit),
        families_together=_together(table, rows, rates, "family", limit),
        pooled=max(table.n - limit, 0),
        headline=[],
        notes=notes(facts, insight, selection, rows, rates, peaks)
        + ([unmodelled_products(totals.products)] if totals.products and mfu is not None else []),
        missing=missing(absent(facts), ("host", "device", "operators_of_device", "shapes")),
    )
    told = [*headline(payload, totals), summed_over(facts, selection)]
    return msgspec.structs.replace(payload, headline=told), table


def _together(
    table: DisplayTable, rows: Rows, rates: Shares, key: Literal["kernel", "family"], limit: int
) -> dict[str, Any]:
    """Of kernels, a quarter of the rows at most: names are long, and the rest take hardly any time. Nothing of operators."""
    if not len(rows.kernel) or rows.kernel[0] < 0:
        return {column.name: [] for column in TOGETHER.columns}
    return wire_columns(together(table.texts(key), rows, rates).take(slice(limit // 4)))


def mfu_of(facts: Facts, insight: Insight, selection: Selection, file: str = "") -> float | None:
    """The model FLOPs utilization of the selected steps; None unknown. Raises as ``efficiency_of`` does."""
    rows = workload_rows(insight, selection)
    return _steps(
        facts, insight, selection, rows, shares(insight, rows, device_peaks(facts, file))
    )[1]


def mfu_of_steps(facts: Facts, insight: Insight, selection: Selection, file: str = "") -> Array:
    """The model FLOPs utilization of every selected step, float64 of shape (steps,), NaN unknown."""
    rows = workload_rows(insight, selection)
    use = matrix_use(insight, selection, rows, shares(insight, rows, device_peaks(facts, file)))
    return _utilization(use.flops, use.ideal, _times(facts, selection)[1])


def peaks_version(file: str) -> int:
    """Another number after the user's file of peaks changed; 0 without one.

    Raises:
        SourceError: it cannot be read.
    """
    return changed(file)


def _device(facts: Facts, peaks: Peaks) -> DevicePeaks:
    row = busiest_device(facts)
    name = facts.strings[int(facts["devices"]["name"][row])] if row >= 0 else ""
    listed = [
        Peak(
            unit="matrix" if unit == "matrix" else "vector",
            precision=precision,
            rate=rate,
            source=source,
        )
        for (unit, precision), (rate, source) in peaks.rates.items()
    ]
    return DevicePeaks(
        name=name or None,
        entry=peaks.entry,
        bandwidth=peaks.bandwidth,
        bandwidth_source=peaks.bandwidth_source,
        peaks=listed,
    )


def _steps(
    facts: Facts, insight: Insight, selection: Selection, rows: Rows, rates: Shares
) -> tuple[list[StepMfu], float | None]:
    """Every selected step, and the MFU of all that are complete."""
    table = facts["steps"]
    use = matrix_use(insight, selection, rows, rates)
    wall, could = _times(facts, selection)
    first = first_steps(len(wall))
    flops, ideal_of, could_of, length_of = (
        np.add.reduceat(values, first) if len(first) else values
        for values in (use.flops, use.ideal, could, wall)
    )
    share = _utilization(flops, ideal_of, could_of)
    names = row_names(facts.strings.many(table["name"][selection.steps]), first)
    listed = [
        StepMfu(
            index=index,
            steps=count,
            name=name,
            wall_ns=length,
            flops=int(min(products, LARGEST)),
            mfu=mfu,
        )
        for index, count, name, length, products, mfu in zip(
            selection.steps[first].tolist(),
            np.diff(np.append(first, len(wall))).tolist(),
            names,
            length_of.tolist(),
            flops.tolist(),
            optional_floats(share),
            strict=True,
        )
    ]
    whole = np.isin(selection.steps, complete(facts, selection)) & (could > 0)
    length, ideal = int(could[whole].sum()), float(use.ideal[whole].sum())
    known = length > 0 and bool((use.flops[whole] > 0).any()) and np.isfinite(ideal)
    return listed, ideal / length if known else None


def _times(facts: Facts, selection: Selection) -> tuple[Ints, Ints]:
    """Of every selected step its time, and for how long its devices could have computed, ns."""
    steps = facts["steps"]
    wall = step_lengths(steps)[selection.steps]
    # Several devices of a process could have worked in parallel. Where work is missing nothing is to be compared.
    known = ~much_unknown(steps["unrecorded"][selection.steps], wall)
    return wall, wall * working_devices(facts) * known


def _utilization(flops: Array, ideal: Array, could: Array) -> Array:
    """MFU: the time that the products would take at the peak, of the time that there was."""
    return np.where((flops > 0) & (could > 0), ideal / np.maximum(could, 1), np.nan)
