"""The table of the Efficiency view: how far each operator and kernel is from the device's peaks."""

from __future__ import annotations

from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.efficiency.attribution import LARGEST
from torch_tb_profiler.analysis.efficiency.families import NOT_MODELLED
from torch_tb_profiler.analysis.efficiency.rates import Rows, Shares
from torch_tb_profiler.hardware.kernel_names import short_name
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import DisplayTable, display_spec
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.strings import NONE

EfficiencyGroup = Literal["operator", "kernel"]
EFFICIENCY = display_spec("""
efficiency: One row per operator and input (`by="operator"`), or per kernel and the operator that it works for (`"kernel"`).
    name            code       Operator          term=efficiency_operator optional width=200           The operator.
    kernel          code       Kernel            term=efficiency_kernel optional width=250             The kernel's full name; by operator that of the longest.
    short_name      code       -                 optional                                              Its name without template arguments.
    parameters      code       Parameters        term=efficiency_parameters optional width=190         What the performance model read, like `M=788, N=768,
        K=768`.
    input_shapes    code       Input shapes      term=efficiency_shapes optional width=220 hidden      Input shapes as JSON text.
    input_dtypes    code       Types             term=efficiency_types optional width=130 hidden       Input types as JSON text.
    family          text       Family            term=efficiency_family optional width=130             Family of the model; `communication` or `memcpy` where
        nothing is computed; missing where there is no model.
    calls           count      Calls             term=calls pool=sum unit=calls                        Number of calls, or launches.
    time_ns         time       Time              term=efficiency_time pool=sum bar width=100           Device time of all calls; without a device, host time.
    of_roof         share      Of its roof       term=efficiency_of_roof bar width=256                 The larger one of `flops_share` and `bytes_share`, which
        tells what limits the row; unknown where one of them is. Above 1: bytes from a cache, or a clock above the vendor's.
    over_roof_ns    time       Over it           term=efficiency_over_roof optional pool=sum width=84  `time_ns` − the time at the roof (`of_roof` × `time_ns`);
        0 where that is longer.
    roof            text       -                 optional                                              What `of_roof` is a share of: `memory`, or unit and
        precision of `peak` like `matrix bf16`.
    no_roof         text       -                 optional                                              Why no roof is known, like `link, peak unknown`.
    flops_share     share      Of the peak       term=efficiency_flops_share bar width=96 hidden       Achieved rate / peak.
    bytes_share     share      Of the bandwidth  term=efficiency_bytes_share bar width=116 hidden      Achieved bandwidth / the device's.
    bound           text       Bound by          term=efficiency_bound width=96 hidden                 `compute`, `memory`, `latency` or `unknown`.
    recoverable_ns  time       -                 optional                                              `time_ns` − `ideal_ns`: at most `over_roof_ns` where one
        share alone is known.
    flops_rate      FLOP/s     FLOP/s            term=efficiency_flops_rate width=104                  Achieved rate.
    bytes_rate      B/s        Bytes/s           term=efficiency_bytes_rate                            Achieved bandwidth, of the least traffic.
    intensity       number     FLOP/B            term=efficiency_intensity unit=FLOP/byte              Arithmetic intensity.
    flops           FLOP       FLOPs per call    term=efficiency_flops optional                        Floating-point operations of one call.
    bytes           bytes      Bytes per call    term=efficiency_bytes optional                        Least memory traffic of one call.
    ideal_ns        time       -                 optional                                              The least time that the known peaks of the device allow,
        of all calls.
    fast            flag       -                 optional pool=any                                     Whether convolutions by Winograd's algorithm or Fourier
        transforms are among the calls: fewer operations than `flops`.
    unit            text       -                 optional                                              `matrix` or `vector`.
    precision       text       -                 optional                                              Of the multiplied elements.
    peak            FLOP/s     -                 -                                                     The device's rate that `flops_share` is a share of.
    matrix          knowledge  {Matrix_cores}    term=matrix                                           Whether its kernels use matrix cores.
    event           row        -                 -                                                     The longest.
""")
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
