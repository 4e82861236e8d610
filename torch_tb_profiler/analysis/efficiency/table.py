"""The table of the Efficiency view: how far each operator and kernel is from the device's peaks."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from torch_tb_profiler.analysis.efficiency.attribution import LARGEST
from torch_tb_profiler.analysis.efficiency.families import NOT_MODELLED
from torch_tb_profiler.analysis.efficiency.rates import Rows, Shares
from torch_tb_profiler.hardware.kernel_names import short_name
from torch_tb_profiler.store.columns import Array
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
            'The kernel\'s full name (`by="kernel"`).',
            "efficiency_kernel",
            True,
            width=250,
        ),
        _C(
            "short_name",
            "code",
            "",
            "The kernel's name without its template arguments.",
            optional=True,
        ),
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
            "flops_share",
            "share",
            "Of the peak",
            "Achieved rate / peak.",
            "efficiency_flops_share",
            bar=True,
            width=200,
        ),
        _C(
            "bytes_share",
            "share",
            "Of the bandwidth",
            "Achieved bandwidth / the device's.",
            "efficiency_bytes_share",
            bar=True,
            width=116,
        ),
        _C(
            "bound",
            "text",
            "Bound by",
            "`compute`, `memory`, `latency` or `unknown`.",
            "efficiency_bound",
            width=96,
        ),
        _C(
            "recoverable_ns",
            "time",
            "Recoverable",
            "`time_ns` − `ideal_ns`.",
            "efficiency_recoverable",
            True,
            bar=True,
            width=100,
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
            "At the peak",
            "The least time that the device's peaks allow, of all calls.",
            "efficiency_ideal",
            True,
            hidden=True,
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
first. ``kernel`` and ``short_name`` are absent in the table of operators.
"""


UNNAMED = "no operator"
"""The row of device work without an operator."""


def efficiency_table(
    insight: Insight, rows: Rows, shares: Shares, not_modelled: Array, group: EfficiencyGroup
) -> DisplayTable:
    """The rows and their shares of the peaks. ``not_modelled``: which of ``NOT_MODELLED`` each row is, −1 none."""
    workloads, calls = insight["workloads"], np.maximum(rows.calls, 1)

    def of_workload(key: str) -> Array:
        return np.append(workloads[key], NONE)[rows.workload]

    families = EFFICIENCY.build(insight.strings, family=of_workload("family")).texts("family")
    kernels: dict[str, Any] = {}
    if group == "kernel":
        distinct, place = np.unique(rows.kernel, return_inverse=True)
        short = [
            short_name(insight.strings[number]) if number >= 0 else None
            for number in distinct.tolist()
        ]
        kernels = {"kernel": rows.kernel, "short_name": [short[i] for i in place.tolist()]}
    with np.errstate(invalid="ignore", divide="ignore"):
        intensity = np.where(rows.bytes > 0, rows.flops / rows.bytes, np.nan)
    names = EFFICIENCY.build(insight.strings, name=of_workload("name")).texts("name")
    if group == "operator":
        names = [UNNAMED if name is None else name for name in names]
    return EFFICIENCY.build(
        insight.strings,
        name=names,
        **kernels,
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
        ideal_ns=_whole(shares.ideal),
        recoverable_ns=_whole(np.maximum(rows.time - np.rint(shares.ideal), 0)),
        matrix=rows.matrix,
        event=rows.event,
    )


def _finite(values: Array) -> Array:
    return np.where(np.isfinite(values), values, np.nan)


def _whole(values: Array) -> Array:
    """Nearest integers; −1 where unknown, or too large to be exact."""
    usable = np.isfinite(values) & (values < LARGEST)
    return np.where(usable, np.rint(np.where(usable, values, 0)), -1).astype(np.int64)
