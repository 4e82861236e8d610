"""The table of the Efficiency view: how far each operator and kernel is from the device's peaks."""

from __future__ import annotations

from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.efficiency.attribution import LARGEST
from torch_tb_profiler.analysis.efficiency.families import NOT_MODELLED
from torch_tb_profiler.analysis.efficiency.rates import Rows, Shares
from torch_tb_profiler.hardware.kernel_names import short_name
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.strings import NONE

EfficiencyGroup = Literal["operator", "kernel"]
_C = DisplayColumn
EFFICIENCY = DisplaySpec(
    "efficiency",
    'One row per operator and input (`by="operator"`), or per kernel and the operator that it works for'
    ' (`"kernel"`).',
    (
        _C("name", "code", "Operator", "The operator.", "efficiency_operator", True, width=200),
        _C(
            "kernel",
            "code",
            "Kernel",
            "The kernel's full name; by operator that of the longest.",
            "efficiency_kernel",
            True,
            width=250,
        ),
        _C("short_name", "code", "", "Its name without template arguments.", optional=True),
        _C(
            "parameters",
            "code",
            "Parameters",
            "What the performance model read, like `M=788, N=768, K=768`.",
            "efficiency_parameters",
            True,
            width=190,
        ),
        _C(
            "input_shapes",
            "code",
            "Input shapes",
            "Input shapes as JSON text.",
            "efficiency_shapes",
            True,
            width=220,
            hidden=True,
        ),
        _C(
            "input_dtypes",
            "code",
            "Types",
            "Input types as JSON text.",
            "efficiency_types",
            True,
            width=130,
            hidden=True,
        ),
        _C(
            "family",
            "text",
            "Family",
            "Family of the model; `communication` or `memcpy` where nothing is computed; missing where"
            " there is no model.",
            "efficiency_family",
            True,
            width=130,
        ),
        _C(
            "calls",
            "count",
            "Calls",
            "Number of calls, or launches.",
            "calls",
            unit="calls",
            pool="sum",
        ),
        _C(
            "time_ns",
            "time",
            "Time",
            "Device time of all calls; without a device, host time.",
            "efficiency_time",
            pool="sum",
            bar=True,
            width=100,
        ),
        _C(
            "of_roof",
            "share",
            "Of its roof",
            "The larger one of `flops_share` and `bytes_share`, which tells what limits the row; unknown"
            " where one of them is. Above 1: bytes from a cache, or a clock above the vendor's.",
            "efficiency_of_roof",
            bar=True,
            width=256,
        ),
        _C(
            "over_roof_ns",
            "time",
            "Over it",
            "`time_ns` − the time at the roof (`of_roof` × `time_ns`); 0 where that is longer.",
            "efficiency_over_roof",
            True,
            pool="sum",
            width=84,
        ),
        _C(
            "roof",
            "text",
            "",
            "What `of_roof` is a share of: `memory`, or unit and precision of `peak` like `matrix bf16`.",
            optional=True,
        ),
        _C(
            "no_roof",
            "text",
            "",
            "Why no roof is known, like `link, peak unknown`.",
            optional=True,
        ),
        _C(
            "flops_share",
            "share",
            "Of the peak",
            "Achieved rate / peak.",
            "efficiency_flops_share",
            bar=True,
            width=96,
            hidden=True,
        ),
        _C(
            "bytes_share",
            "share",
            "Of the bandwidth",
            "Achieved bandwidth / the device's.",
            "efficiency_bytes_share",
            bar=True,
            width=116,
            hidden=True,
        ),
        _C(
            "bound",
            "text",
            "Bound by",
            "`compute`, `memory`, `latency` or `unknown`.",
            "efficiency_bound",
            width=96,
            hidden=True,
        ),
        _C(
            "recoverable_ns",
            "time",
            "",
            "`time_ns` − `ideal_ns`: at most `over_roof_ns` where one share alone is known.",
            optional=True,
        ),
        _C("flops_rate", "FLOP/s", "FLOP/s", "Achieved rate.", "efficiency_flops_rate", width=104),
        _C(
            "bytes_rate",
            "B/s",
            "Bytes/s",
            "Achieved bandwidth, of the least traffic.",
            "efficiency_bytes_rate",
        ),
        _C(
            "intensity",
            "number",
            "FLOP/B",
            "Arithmetic intensity.",
            "efficiency_intensity",
            unit="FLOP/byte",
        ),
        _C(
            "flops",
            "FLOP",
            "FLOPs per call",
            "Floating-point operations of one call.",
            "efficiency_flops",
            True,
        ),
        _C(
            "bytes",
            "bytes",
            "Bytes per call",
            "Least memory traffic of one call.",
            "efficiency_bytes",
            True,
        ),
        _C(
            "ideal_ns",
            "time",
            "",
            "The least time that the known peaks of the device allow, of all calls.",
            optional=True,
        ),
        _C(
            "fast",
            "flag",
            "",
            "Whether convolutions by Winograd's algorithm or Fourier transforms are among the calls:"
            " fewer operations than `flops`.",
            optional=True,
            pool="any",
        ),
        _C("unit", "text", "", "`matrix` or `vector`.", optional=True),
        _C("precision", "text", "", "Of the multiplied elements.", optional=True),
        _C("peak", "FLOP/s", "", "The device's rate that `flops_share` is a share of."),
        _C(
            "matrix",
            "knowledge",
            "{Matrix_cores}",
            "Whether its kernels use matrix cores.",
            "matrix",
        ),
        _C("event", "row", "", "The longest."),
    ),
)
"""Figures of work are of one call (of kernels, of one launch on average), times of all calls. The longest ``time_ns`` stands
first.
"""


UNNAMED = "no operator"
"""The row of device work without an operator."""


def efficiency_table(
    insight: Insight,
    rows: Rows,
    shares: Shares,
    not_modelled: Array,
    kernels: Ints,
    group: EfficiencyGroup,
) -> DisplayTable:
    """The rows and their shares of the peaks. ``not_modelled``: which of ``NOT_MODELLED`` each row is, −1 none;
    ``kernels``: insight strings, −1 none."""
    workloads, calls = insight["workloads"], np.maximum(rows.calls, 1)

    def of_workload(key: str) -> Array:
        return np.append(workloads[key], NONE)[rows.workload]

    families = EFFICIENCY.build(insight.strings, family=of_workload("family")).texts("family")
    with np.errstate(invalid="ignore", divide="ignore"):
        intensity = np.where(rows.bytes > 0, rows.flops / rows.bytes, np.nan)
    names = EFFICIENCY.build(insight.strings, name=of_workload("name")).texts("name")
    if group == "operator":
        names = [UNNAMED if name is None else name for name in names]
    recoverable = _whole(np.maximum(rows.time - np.rint(shares.ideal), 0))
    return EFFICIENCY.build(
        insight.strings,
        name=names,
        kernel=kernels,
        short_name=_short_names(insight, kernels),
        input_shapes=of_workload("dims"),
        input_dtypes=of_workload("types"),
        parameters=of_workload("parameters"),
        family=[
            NOT_MODELLED[kind] if kind >= 0 else family
            for kind, family in zip(not_modelled.tolist(), families, strict=True)
        ],
        calls=rows.calls,
        time_ns=rows.time,
        flops=_whole(rows.flops / calls),
        bytes=_whole(rows.bytes / calls),
        intensity=_finite(intensity),
        flops_rate=_finite(shares.flops_rate),
        bytes_rate=_finite(shares.bytes_rate),
        fast=rows.fast,
        unit=[unit or None for unit in shares.unit],
        precision=[precision or None for precision in shares.precision],
        peak=_finite(shares.peak),
        flops_share=_finite(shares.flops_share),
        bytes_share=_finite(shares.bytes_share),
        bound=shares.bound,
        roof=[roof or None for roof in shares.roof],
        no_roof=[reason or None for reason in shares.no_roof],
        of_roof=shares.of_roof,
        over_roof_ns=np.where(np.isnan(shares.of_roof), -1, recoverable),
        ideal_ns=_whole(shares.ideal),
        recoverable_ns=recoverable,
        matrix=rows.matrix,
        event=rows.event,
    )


def _short_names(insight: Insight, kernels: Ints) -> list[str | None]:
    distinct, place = np.unique(kernels, return_inverse=True)
    short = [
        short_name(insight.strings[number]) if number >= 0 else None for number in distinct.tolist()
    ]
    return [short[i] for i in place.tolist()]


def _finite(values: Array) -> Array:
    return np.where(np.isfinite(values), values, np.nan)


def _whole(values: Array) -> Array:
    """Nearest integers; −1 where unknown, or too large to be exact."""
    usable = np.isfinite(values) & (values < LARGEST)
    return np.where(usable, np.rint(np.where(usable, values, 0)), -1).astype(np.int64)
