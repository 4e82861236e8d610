"""Workloads and their kernels in a selection of steps: rates, their shares of the device's peaks,
and the time that the peaks allow.

::

    FLOP/s  ^        ______________  peak                ideal = max(FLOPs / peak, bytes / bandwidth)
            |      / |
            |    /   |       x       share of peak       the roof left of the ridge point is the memory bandwidth
            |  /     |               = achieved / roof
            +--------+-------------> FLOP per byte
                   ridge
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    group_rows,
    join_knowledge,
    last_in_group,
    sum_by,
)
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.hardware.kernel_names import HOST_COPY
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.hardware.peaks import Peaks
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.strings import NONE

LATENCY = 0.2
"""A row that reaches less of both roofs is limited by neither, but by what comes before: launching,
filling the device, waiting for memory.
"""
_FAMILIAR = ("name", "dims", "types", "family", "flops", "bytes", "unit", "precision", "parameters")
_COMPUTED_IN_SINGLE = ("fp32", "fp16", "bf16", "fp8")


@dataclass(frozen=True)
class Rows:
    """Workloads, or kernels of workloads, of the selected steps; arrays of shape (n,), the largest
    ``time`` first.

    workload: row of ``workloads`` as an example (those that only differ in strides or concrete
        inputs are one row), −1 none.
    kernel: own text of the insight, −1 in rows of workloads. calls: counted calls, or launches.
        time: ns. flops, bytes: of all calls, float64, NaN unknown.
    matrix: uint8 Knowledge. event: row of spans. link: copies to or from the host, whose roof is
        not the device's memory. fast: convolutions by Winograd's
    algorithm or Fourier transforms among them, which need fewer operations than ``flops``.
    """

    workload: Ints
    kernel: Ints
    calls: Ints
    time: Ints
    flops: Array
    bytes: Array
    matrix: Array
    event: Ints
    link: Mask
    fast: Mask


@dataclass(frozen=True)
class Shares:
    """Beside ``Rows``, of the same shape; float64, NaN unknown.

    peak: FLOP/s. unit, precision: whose peak that is, else those of the workload; "" none.
        flops_rate, bytes_rate: per second. flops_share, bytes_share:
    of the peaks. ideal: ns of all calls. bound: ``compute``, ``memory``, ``latency``, ``unknown``.
    What ``fast`` rows truly computed is not known: they have no share of the peak, and the time
    that arithmetic needs is not in their ideal.
    """

    peak: Array
    unit: list[str]
    precision: list[str]
    flops_rate: Array
    bytes_rate: Array
    flops_share: Array
    bytes_share: Array
    ideal: Array
    bound: list[str]


def representatives(workloads: Table) -> Ints:
    """For every row of ``workloads`` the first that differs from it in strides and concrete inputs
    only, int64 of shape (rows,).
    """
    first, of = group_rows([workloads[key] for key in _FAMILIAR])
    return first[of] if len(of) else of


def workload_rows(insight: Insight, selection: Selection) -> Rows:
    """The workloads whose calls are counted in the selected steps."""
    steps = insight["workload_steps"]
    at = np.flatnonzero(mask(selection, steps["step"]) & (steps["counted"] > 0))
    like = representatives(insight["workloads"])
    first, of = group_rows((like[steps["workload"][at]],))
    n = len(first)
    workload = like[steps["workload"][at]][first]
    calls, time = (sum_by(of, n, steps[key][at]) for key in ("counted", "counted_time"))
    place = np.full(insight["workloads"].n + 1, -1, np.int64)
    place[workload] = np.arange(n)
    matrix, link, fast = _of_kernels(insight, selection, np.append(place[like], -1), n)
    event = last_in_group(
        of,
        n,
        steps["event"][at],
        np.argsort(steps["counted_time"][at] / steps["counted"][at], kind="stable"),
    )
    flops, moved = (
        _known(insight["workloads"][key][workload]) * calls for key in ("flops", "bytes")
    )
    return _ordered(
        Rows(workload, np.full(n, NONE), calls, time, flops, moved, matrix, event, link, fast)
    )


def kernel_rows(insight: Insight, selection: Selection) -> Rows:
    """The kernels of the workloads in the selected steps, those of no operator included."""
    kernels = insight["workload_kernels"]
    at = np.flatnonzero(mask(selection, kernels["step"]))
    like = np.append(representatives(insight["workloads"]), NONE)
    first, of = group_rows((like[kernels["workload"][at]], kernels["kernel"][at]))
    n = len(first)
    example = at[first]
    calls, time = (sum_by(of, n, kernels[key][at]) for key in ("calls", "total"))
    flops, moved = (
        np.bincount(of, weights=_known(kernels[key][at]), minlength=n) for key in ("flops", "bytes")
    )
    event = last_in_group(
        of,
        n,
        kernels["event"][at],
        np.argsort(kernels["total"][at] / kernels["calls"][at], kind="stable"),
    )
    name = kernels["kernel"][example].astype(np.int64)
    fast = np.bincount(of, weights=kernels["fast"][at], minlength=n) > 0
    return _ordered(
        Rows(
            like[kernels["workload"][example]],
            name,
            calls,
            time,
            flops,
            moved,
            join_knowledge(of, n, kernels["matrix"][at]),
            event,
            _host_copies(insight)[name],
            fast,
        )
    )


def everything() -> Selection:
    """All steps, and what lies outside them."""
    return Selection(np.zeros(0, np.int64), True)


def _of_kernels(
    insight: Insight, selection: Selection, row: Ints, n: int
) -> tuple[Array, Mask, Mask]:
    """(Knowledge of matrix cores, whether most of the time is copies from or to the host, ``fast``)
    of rows; ``row``: the row of every workload, −1 last.
    """
    kernels = insight["workload_kernels"]
    at = np.flatnonzero(mask(selection, kernels["step"]))
    of = row[kernels["workload"][at]]
    at, of = at[of >= 0], of[of >= 0]
    total = kernels["total"][at]
    copies = sum_by(of, n, np.where(_host_copies(insight)[kernels["kernel"][at]], total, 0))
    fast = np.bincount(of, weights=kernels["fast"][at], minlength=n) > 0
    return join_knowledge(of, n, kernels["matrix"][at]), 2 * copies > sum_by(of, n, total), fast


def _host_copies(insight: Insight) -> Mask:
    """By own text of the insight: names a copy from or to the host."""
    found = np.zeros(len(insight.strings) + 1, np.bool_)
    for number in np.unique(insight["workload_kernels"]["kernel"]).tolist():
        found[number] = HOST_COPY.match(insight.strings[number]) is not None
    return found


def _known(values: Array) -> Array:
    return np.where(values >= 0, values, np.nan).astype(np.float64)


def _ordered(rows: Rows) -> Rows:
    order = np.argsort(-rows.time, kind="stable")
    return Rows(**{key: values[order] for key, values in vars(rows).items()})


def shares(insight: Insight, rows: Rows, peaks: Peaks) -> Shares:
    """Rates and shares of rows on a device."""
    seconds = np.where(rows.time > 0, rows.time / 1e9, np.nan)
    flops_rate, bytes_rate = rows.flops / seconds, rows.bytes / seconds
    kinds = _kinds(insight, rows, flops_rate, peaks)
    peak = kinds.peak
    bandwidth = np.where(rows.link | (peaks.bandwidth is None), np.nan, peaks.bandwidth or np.nan)
    flops_share, bytes_share = flops_rate / peak, bytes_rate / bandwidth
    moving = rows.bytes / bandwidth
    # What does no arithmetic takes as long as its bytes, where that is known.
    arithmetic = np.where(
        rows.fast, np.nan, np.where(rows.flops == 0, 0 * moving, rows.flops / peak)
    )
    ideal = np.fmax(arithmetic, moving) * 1e9
    return Shares(
        peak,
        kinds.unit,
        kinds.precision,
        flops_rate,
        bytes_rate,
        np.where(rows.fast, np.nan, flops_share),
        bytes_share,
        np.where(rows.link, np.nan, ideal),
        _bounds(flops_share, bytes_share, kinds.little & ~np.isnan(rows.flops)),
    )


@dataclass(frozen=True)
class _Kinds:
    """Of rows: the peak that they are measured by, FLOP/s; its unit and precision, else those of
    the workload; whether their work is no product.
    """

    peak: Array
    unit: list[str]
    precision: list[str]
    little: Mask


def _kinds(insight: Insight, rows: Rows, rate: Array, peaks: Peaks) -> _Kinds:
    """Asked once per distinct unit, precision and knowledge of matrix cores, for rates that the
    vector units could reach and for those beyond.
    """
    workloads, texts = insight["workloads"], insight.strings
    unit, precision = (
        np.append(workloads[key], NONE)[rows.workload] for key in ("unit", "precision")
    )
    first, of = group_rows((unit, precision, rows.matrix))
    named: list[tuple[str, str]] = []
    beyond = np.full(len(first), np.inf)
    for place, row in enumerate(first.tolist()):
        told = texts[int(unit[row])], texts[int(precision[row])]
        beyond[place] = peaks.rate("vector", told[1]) or np.inf
        named += [
            peak_key(*told, int(rows.matrix[row]), reached, peaks) or told
            for reached in (0.0, np.inf)
        ]
    found = 2 * of + (rate > beyond[of]) if len(of) else of
    peak = np.array(
        [np.nan if (known := peaks.rate(*pair)) is None else known for pair in named], np.float64
    )
    words = np.array(named, object).reshape(-1, 2)[found]
    product = np.isin(unit, [texts.number("matrix")]) & (unit >= 0)
    return _Kinds(peak[found], words[:, 0].tolist(), words[:, 1].tolist(), ~product)


def peak_key(
    unit: str, precision: str, matrix: int, rate: float, peaks: Peaks
) -> tuple[str, str] | None:
    """Whose peak the work of a row is measured by: (unit, precision) of ``peaks.rates``; None where
    there is none.

    Elementwise work computes in float32 whatever its elements. Products of float32 are measured by
    the vector units unless matrix cores are known to do them (NVIDIA: TF32), or they are faster
    than the vector units can be: matrix cores would change the result. Products of smaller types
    always are by matrix cores.
    """
    if unit == "vector":
        key = ("vector", "fp32" if precision in _COMPUTED_IN_SINGLE else precision)
    elif unit == "matrix" and precision in ("fp32", "fp64"):
        on_matrix = (
            ("matrix", precision)
            if ("matrix", precision) in peaks.rates
            else ("matrix", "tf32" if precision == "fp32" else precision)
        )
        vector = peaks.rate("vector", precision)
        uses = matrix == Knowledge.YES or (
            matrix == Knowledge.UNKNOWN and vector is not None and rate > vector
        )
        key = on_matrix if uses and on_matrix in peaks.rates else ("vector", precision)
    else:
        key = (unit, precision)
    return key if key in peaks.rates else None


def _bounds(flops_share: Array, bytes_share: Array, little: Mask) -> list[str]:
    """``little``: work of so few FLOPs per byte that an unknown share of the arithmetic peak is
    none.
    """
    flops = np.where(np.isnan(flops_share) & little, 0.0, flops_share)
    found = np.full(len(flops), "unknown", object)
    both = ~np.isnan(flops) & ~np.isnan(bytes_share) & (np.fmax(flops, bytes_share) > 0)
    found[both & (np.fmax(flops, bytes_share) < LATENCY)] = "latency"
    found[(flops >= LATENCY) & (both | np.isnan(bytes_share)) & ~(bytes_share > flops)] = "compute"
    found[(bytes_share >= LATENCY) & ~(flops >= bytes_share)] = "memory"
    return [str(word) for word in found.tolist()]


@dataclass(frozen=True)
class MatrixUse:
    """Share of the device's peak that the matrix work of steps reaches; arrays of shape (steps,).

    flops: of products of matrices, convolutions and attention, float64. ideal: the time that their
        peaks allow, ns; NaN where a peak is not known.
    """

    flops: Array
    ideal: Array


def matrix_use(insight: Insight, selection: Selection, rows: Rows, found: Shares) -> MatrixUse:
    """Of each selected step; ``rows`` are those of workloads, ``found`` their shares."""
    steps, workloads = insight["workload_steps"], insight["workloads"]
    like = representatives(workloads)
    peak = np.full(workloads.n, np.nan)
    peak[rows.workload] = found.peak
    unit = np.append(workloads["unit"], NONE)[like] if len(like) else like
    product = np.isin(unit, [insight.strings.number("matrix")]) & (unit >= 0)
    at = np.flatnonzero(
        np.isin(steps["step"], selection.steps)
        & product[steps["workload"]]
        & (steps["counted"] > 0)
    )
    workload = steps["workload"][at]
    place = np.searchsorted(selection.steps, steps["step"][at])
    flops = workloads["flops"][workload].astype(np.float64) * steps["counted"][at]
    n = len(selection.steps)
    return MatrixUse(
        np.bincount(place, weights=flops, minlength=n),
        np.bincount(place, weights=flops / peak[like[workload]] * 1e9, minlength=n),
    )
