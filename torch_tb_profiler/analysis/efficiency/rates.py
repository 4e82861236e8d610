"""Rates of workloads and their kernels in selected steps, shares of the device's peaks, ideal times.

::

    FLOP/s  ^        ______________  peak                ideal = max(FLOPs / peak, bytes / bandwidth)
            |      / |
            |    /   |       x       share of roof       left of the ridge point, memory bandwidth is the roof
            |  /     |               = achieved / roof
            +--------+-------------> FLOP per byte
                   ridge
"""

from __future__ import annotations

import msgspec
import numpy as np
from msgspec.structs import asdict

from torch_tb_profiler.analysis.arrays.grouping import (
    group_rows,
    join_knowledge,
    last_in_group,
    places_in,
    sum_by,
)
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.hardware.kernel_names import HOST_COPY
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.hardware.peaks import Peaks
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table, unique_values
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.strings import NONE

HELPS = "no modelled work"
"""Why a kernel has no roof that helps another one of its call."""
LATENCY = 0.2
"""A row below this share of both roofs is limited by latency: launch, ramp-up, memory access."""
_FAMILIAR = ("name", "dims", "types", "family", "flops", "bytes", "unit", "precision", "parameters")
_COMPUTED_IN_SINGLE = ("fp32", "fp16", "bf16", "fp8")


class Rows(msgspec.Struct, frozen=True):
    """Workloads, or kernels of workloads, of the selected steps; arrays of shape (n,), sorted by
    ``time`` descending.

    workload: example row of ``workloads`` (rows merge those that differ only in strides, concrete
        inputs or the server's step), −1 none.
    kernel: insight string; −1 in rows of workloads.
    calls: counted calls, or launches.
    time: ns.
    flops, bytes: of all calls, float64, NaN unknown.
    matrix: uint8 ``Knowledge``.
    event: row of spans.
    link: mostly copies to or from the host, whose roof is not device memory.
    fast: includes convolutions by Winograd or FFT, which need fewer operations than ``flops``.
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


class Shares(msgspec.Struct, frozen=True):
    """Rates and shares of ``Rows``, of the same shape; float64, NaN unknown.

    peak: FLOP/s.
    unit, precision: of that peak, else of the workload; "" none.
    flops_rate, bytes_rate: per second.
    flops_share, bytes_share: of the peaks.
    ideal: ns of all calls.
    bound: ``compute``, ``memory``, ``latency``, ``unknown``.
    roof: ``memory``, or unit and precision of the peak (``matrix bf16``), whichever share is the
        larger one; "" where either share is unknown.
    of_roof: that share; above 1 where bytes come from a cache or the clock is above the vendor's.
    no_roof: why ``roof`` is unknown; "" where it is known.

    The true operations of ``fast`` rows are unknown: no share of the peak, and no arithmetic in
    ``ideal``.
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
    roof: list[str]
    of_roof: Array
    no_roof: list[str]


def representatives(workloads: Table, *, by_step: bool = False) -> Ints:
    """The first row of ``workloads`` that equals each but for strides and values and, unless
    ``by_step``, for the server's step with what that decides; int64.
    """
    columns = {key: workloads[key] for key in _FAMILIAR}
    if not by_step:
        of_step = workloads["step"] >= 0
        columns |= {key: np.where(of_step, NONE, workloads[key]) for key in ("flops", "bytes")}
    first, group = group_rows(tuple(columns.values()))
    return first[group] if len(group) else group


def workload_rows(insight: Insight, selection: Selection) -> Rows:
    """The workloads whose calls are counted in the selected steps."""
    steps = insight["workload_steps"]
    chosen = np.flatnonzero(mask(selection, steps["step"]) & (steps["counted"] > 0))
    representative = representatives(insight["workloads"])
    first, group = group_rows((representative[steps["workload"][chosen]],))
    n = len(first)
    workload = representative[steps["workload"][chosen]][first]
    calls, time = (sum_by(group, n, steps[key][chosen]) for key in ("counted", "counted_time"))
    row_of_workload = places_in(insight["workloads"].n + 1, workload)
    matrix, link, fast = _of_kernels(
        insight, selection, np.append(row_of_workload[representative], -1), n
    )
    event = last_in_group(
        group,
        n,
        steps["event"][chosen],
        np.argsort(steps["counted_time"][chosen] / steps["counted"][chosen], kind="stable"),
    )
    own = steps["workload"][chosen]
    of_step = insight["workloads"]["step"][workload] >= 0

    def amounts(key: str) -> Array:
        each = _known(insight["workloads"][key])
        total = np.bincount(group, weights=each[own] * steps["counted"][chosen], minlength=n)
        # A product is exact where a sum is not.
        return np.where(of_step, total, each[workload] * calls)

    flops, moved = amounts("flops"), amounts("bytes")
    return _ordered(
        Rows(workload, np.full(n, NONE), calls, time, flops, moved, matrix, event, link, fast)
    )


def with_unnamed(insight: Insight, selection: Selection, rows: Rows) -> Rows:
    """The rows with one for the device work of no operator, if there is any: calls are launches."""
    kernels = insight["workload_kernels"]
    lost = np.flatnonzero(mask(selection, kernels["step"]) & (kernels["workload"] < 0))
    if not len(lost):
        return rows
    one = np.zeros(len(lost), np.int64)
    longest = lost[np.argmax(kernels["total"][lost] / kernels["calls"][lost])]
    last = {
        "workload": NONE,
        "kernel": NONE,
        "calls": kernels["calls"][lost].sum(),
        "time": kernels["total"][lost].sum(),
        "flops": np.nan,
        "bytes": np.nan,
        "matrix": join_knowledge(one, 1, kernels["matrix"][lost])[0],
        "event": kernels["event"][longest],
        "link": False,
        "fast": False,
    }
    columns = {key: np.append(getattr(rows, key), value) for key, value in last.items()}
    return _ordered(Rows(**columns))


def longest_kernels(insight: Insight, selection: Selection, rows: Rows) -> Ints:
    """The kernel that takes most of the time of each of ``rows`` of workloads: insight strings of
    shape (n,), −1 none."""
    kernels = insight["workload_kernels"]
    chosen = np.flatnonzero(mask(selection, kernels["step"]))
    row_of_workload = places_in(insight["workloads"].n + 1, rows.workload)
    representative = np.append(representatives(insight["workloads"]), NONE)
    row = row_of_workload[representative[kernels["workload"][chosen]]]
    chosen, row = chosen[row >= 0], row[row >= 0]
    first, group = group_rows((row, kernels["kernel"][chosen]))
    total = sum_by(group, len(first), kernels["total"][chosen])
    longest = np.full(len(rows.workload), NONE, np.int64)
    order = np.argsort(total, kind="stable")
    # Of several values for one place the last one stays.
    longest[row[first][order]] = kernels["kernel"][chosen][first][order]
    return longest


def kernel_rows(insight: Insight, selection: Selection, *, by_step: bool = False) -> Rows:
    """The kernels of the workloads in the selected steps, including those without an operator;
    ``by_step`` as for ``representatives``.
    """
    kernels = insight["workload_kernels"]
    chosen = np.flatnonzero(mask(selection, kernels["step"]))
    representative = np.append(representatives(insight["workloads"], by_step=by_step), NONE)
    first, group = group_rows(
        (representative[kernels["workload"][chosen]], kernels["kernel"][chosen])
    )
    n = len(first)
    example = chosen[first]
    calls, time = (sum_by(group, n, kernels[key][chosen]) for key in ("calls", "total"))
    flops, moved = (
        np.bincount(group, weights=_known(kernels[key][chosen]), minlength=n)
        for key in ("flops", "bytes")
    )
    event = last_in_group(
        group,
        n,
        kernels["event"][chosen],
        np.argsort(kernels["total"][chosen] / kernels["calls"][chosen], kind="stable"),
    )
    name = kernels["kernel"][example].astype(np.int64)
    fast = np.bincount(group, weights=kernels["fast"][chosen], minlength=n) > 0
    return _ordered(
        Rows(
            representative[kernels["workload"][example]],
            name,
            calls,
            time,
            flops,
            moved,
            join_knowledge(group, n, kernels["matrix"][chosen]),
            event,
            _host_copies(insight)[name],
            fast,
        )
    )


def everything() -> Selection:
    """All steps, and the time outside them."""
    return Selection(np.zeros(0, np.int64), True)


def _of_kernels(
    insight: Insight, selection: Selection, row: Ints, n: int
) -> tuple[Array, Mask, Mask]:
    """``(matrix, link, fast)`` of rows; ``row``: the row of every workload, −1 last."""
    kernels = insight["workload_kernels"]
    chosen = np.flatnonzero(mask(selection, kernels["step"]))
    group = row[kernels["workload"][chosen]]
    chosen, group = chosen[group >= 0], group[group >= 0]
    total = kernels["total"][chosen]
    copies = sum_by(group, n, np.where(_host_copies(insight)[kernels["kernel"][chosen]], total, 0))
    fast = np.bincount(group, weights=kernels["fast"][chosen], minlength=n) > 0
    return (
        join_knowledge(group, n, kernels["matrix"][chosen]),
        2 * copies > sum_by(group, n, total),
        fast,
    )


def _host_copies(insight: Insight) -> Mask:
    """Which insight strings name a copy from or to the host."""
    is_copy = np.zeros(len(insight.strings) + 1, np.bool_)
    for number in unique_values(insight["workload_kernels"]["kernel"]).tolist():
        is_copy[number] = HOST_COPY.match(insight.strings[number]) is not None
    return is_copy


def _known(values: Array) -> Array:
    return np.where(values >= 0, values, np.nan).astype(np.float64)


def _ordered(rows: Rows) -> Rows:
    order = np.argsort(-rows.time, kind="stable")
    return Rows(**{key: values[order] for key, values in asdict(rows).items()})


def shares(insight: Insight, rows: Rows, peaks: Peaks) -> Shares:
    """Rates and shares of rows on a device."""
    seconds = np.where(rows.time > 0, rows.time / 1e9, np.nan)
    flops_rate, bytes_rate = rows.flops / seconds, rows.bytes / seconds
    peak, units, precisions, little = _kinds(insight, rows, flops_rate, peaks)
    bandwidth = np.where(rows.link | (peaks.bandwidth is None), np.nan, peaks.bandwidth or np.nan)
    flops_share, bytes_share = flops_rate / peak, bytes_rate / bandwidth
    moving = rows.bytes / bandwidth
    # Work without arithmetic takes as long as its bytes, where those are known.
    arithmetic = np.where(
        rows.fast, np.nan, np.where(rows.flops == 0, 0 * moving, rows.flops / peak)
    )
    ideal = np.fmax(arithmetic, moving) * 1e9
    little &= ~np.isnan(rows.flops)
    true_share = np.where(rows.fast, np.nan, flops_share)
    compute = np.where(np.isnan(true_share) & little, 0.0, true_share)
    # Of two shares one alone decides nothing: the other may be the larger one.
    of_roof = np.maximum(compute, bytes_share)
    of_roof[~(np.isfinite(of_roof) & (of_roof > 0))] = np.nan
    by_bytes = bytes_share >= compute
    return Shares(
        peak,
        units,
        precisions,
        flops_rate,
        bytes_rate,
        true_share,
        bytes_share,
        np.where(rows.link, np.nan, ideal),
        _bounds(flops_share, bytes_share, little),
        [
            "" if not known else "memory" if memory else f"{unit} {precision}"
            for known, memory, unit, precision in zip(
                ~np.isnan(of_roof), by_bytes, units, precisions, strict=True
            )
        ],
        of_roof,
        _without_roof(rows, of_roof, np.isnan(compute) | np.isnan(bandwidth)),
    )


def _without_roof(rows: Rows, of_roof: Array, no_peak: Mask) -> list[str]:
    """Why the roof of each row is unknown, "" where it is known. ``no_peak``: a peak is unknown."""
    modelled = ~np.isnan(rows.flops) & ~np.isnan(rows.bytes)
    return [
        str(reason)
        for reason in np.select(
            [~np.isnan(of_roof), rows.link, ~modelled, rows.fast, no_peak],
            ["", "link, peak unknown", "not modelled", "Winograd or FFT", "peak unknown"],
            HELPS,
        )
    ]


def _kinds(
    insight: Insight, rows: Rows, rate: Array, peaks: Peaks
) -> tuple[Array, list[str], list[str], Mask]:
    """Per row its peak in FLOP/s, that peak's unit and precision (else the workload's), and whether it is not a product.

    Computed once per distinct unit, precision and matrix-core knowledge, for rates within and
    beyond the vector units.
    """
    workloads, texts = insight["workloads"], insight.strings
    unit, precision = (
        np.append(workloads[key], NONE)[rows.workload] for key in ("unit", "precision")
    )
    first, group = group_rows((unit, precision, rows.matrix))
    named: list[tuple[str, str]] = []
    beyond = np.full(len(first), np.inf)
    for index, row in enumerate(first.tolist()):
        key = texts[int(unit[row])], texts[int(precision[row])]
        beyond[index] = peaks.rate("vector", key[1]) or np.inf
        named += [
            peak_key(*key, int(rows.matrix[row]), reached, peaks) or key
            for reached in (0.0, np.inf)
        ]
    variant = 2 * group + (rate > beyond[group]) if len(group) else group
    peak = np.array(
        [np.nan if (known := peaks.rate(*pair)) is None else known for pair in named], np.float64
    )
    words = np.array(named, object).reshape(-1, 2)[variant]
    product = np.isin(unit, [texts.number("matrix")]) & (unit >= 0)
    return peak[variant], words[:, 0].tolist(), words[:, 1].tolist(), np.asarray(~product)


def peak_key(
    unit: str, precision: str, matrix: int, rate: float, peaks: Peaks
) -> tuple[str, str] | None:
    """The (unit, precision) of ``peaks.rates`` that a row is compared with; None where there is
    none.

    Elementwise work computes in float32 whatever its elements. float32 products count against the
    vector units unless matrix cores are known to do them (NVIDIA: TF32) or the rate exceeds the
    vector peak, because matrix cores would change the result. Products of smaller types always run
    on matrix cores.
    """
    if unit == "vector":
        key = ("vector", "fp32" if precision in _COMPUTED_IN_SINGLE else precision)
    elif unit == "matrix" and precision in ("fp32", "fp64"):
        on_matrix = ("matrix", precision)
        if on_matrix not in peaks.rates and precision == "fp32":
            on_matrix = ("matrix", "tf32")
        vector = peaks.rate("vector", precision)
        uses = matrix == Knowledge.YES or (
            matrix == Knowledge.UNKNOWN and vector is not None and rate > vector
        )
        key = on_matrix if uses and on_matrix in peaks.rates else ("vector", precision)
    else:
        key = (unit, precision)
    return key if key in peaks.rates else None


def _bounds(flops_share: Array, bytes_share: Array, little: Mask) -> list[str]:
    """What limits each row. ``little``: an unknown arithmetic share counts as 0."""
    flops = np.where(np.isnan(flops_share) & little, 0.0, flops_share)
    bound = np.full(len(flops), "unknown", object)
    both = ~np.isnan(flops) & ~np.isnan(bytes_share) & (np.fmax(flops, bytes_share) > 0)
    bound[both & (np.fmax(flops, bytes_share) < LATENCY)] = "latency"
    bound[(flops >= LATENCY) & (both | np.isnan(bytes_share)) & ~(bytes_share > flops)] = "compute"
    bound[(bytes_share >= LATENCY) & ~(flops >= bytes_share)] = "memory"
    return [str(word) for word in bound.tolist()]


class MatrixUse(msgspec.Struct, frozen=True):
    """The share of the device's peak that the matrix work of steps reaches; arrays of shape
    (steps,).

    flops: of matrix products, convolutions and attention, float64.
    ideal: the time that their peaks allow, ns; NaN where a peak is unknown.
    """

    flops: Array
    ideal: Array


def matrix_use(insight: Insight, selection: Selection, rows: Rows, row_shares: Shares) -> MatrixUse:
    """``MatrixUse`` of each selected step, from workload rows and their shares."""
    steps, workloads = insight["workload_steps"], insight["workloads"]
    representative = representatives(workloads)
    peak = np.full(workloads.n, np.nan)
    peak[rows.workload] = row_shares.peak
    unit = workloads["unit"][representative]
    product = np.isin(unit, [insight.strings.number("matrix")]) & (unit >= 0)
    chosen = np.flatnonzero(
        np.isin(steps["step"], selection.steps)
        & product[steps["workload"]]
        & (steps["counted"] > 0)
    )
    workload = steps["workload"][chosen]
    step_index = np.searchsorted(selection.steps, steps["step"][chosen])
    flops = workloads["flops"][workload].astype(np.float64) * steps["counted"][chosen]
    n = len(selection.steps)
    return MatrixUse(
        np.bincount(step_index, weights=flops, minlength=n),
        np.bincount(step_index, weights=flops / peak[representative[workload]] * 1e9, minlength=n),
    )
