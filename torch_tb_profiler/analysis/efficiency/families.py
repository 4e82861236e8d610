"""Time, FLOPs and matrix-core use by family of the performance models."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.efficiency.attribution import LARGEST
from torch_tb_profiler.analysis.efficiency.rates import Rows
from torch_tb_profiler.analysis.facts.host_names import host_names
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.hardware.matrix_cores import operator_could
from torch_tb_profiler.store.columns import Array, Ints, Mask, unique_values
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.strings import NONE

NOT_MODELLED = ("communication", "memcpy")
"""Stand in for a family: collectives; copies and memsets of operators without a model."""
COMMUNICATION, MEMCPY = range(len(NOT_MODELLED))


_C = DisplayColumn
FAMILIES = DisplaySpec(
    "families",
    "Use of matrix cores by family of the performance models, then ``communication`` and ``memcpy``,"
    " and last (family null) computation without a model. Parts of ``time_ns``: ``matrix_ns`` in"
    " kernels known to use matrix cores, ``matrix_unknown_ns`` in kernels that may; both null without"
    " device work and for families that cannot use them.",
    (
        _C("family", "text", "", "", optional=True),
        _C("calls", "count", "", ""),
        _C("time_ns", "time", "", ""),
        _C("matrix_ns", "time", "", "", optional=True),
        _C("matrix_unknown_ns", "time", "", "", optional=True),
        _C("flops", "FLOP", "", "", optional=True),
    ),
)


class Families(msgspec.Struct, frozen=True):
    """Totals per family of the selected steps.

    table: ``FAMILIES``. Work without an operator counts launches as calls.
    time: all time, ns.
    computation: ``time`` without ``NOT_MODELLED``.
    modelled: the part of ``computation`` in modelled calls.
    products: the part of the rest that multiplies matrices or uses matrix cores.
    """

    table: DisplayTable
    time: int
    computation: int
    modelled: int
    products: int


def families(facts: Facts, insight: Insight, selection: Selection, rows: Rows) -> Families:
    """The totals per family; ``rows`` come from ``workload_rows``."""
    listed = np.append(insight["workloads"]["family"], NONE)
    used = unique_values(listed)
    used = used[used != NONE]
    # Family numbers: NOT_MODELLED first, then the models' families, then unknown.
    n = len(NOT_MODELLED) + len(used) + 1
    kernels = insight["workload_kernels"]
    chosen = np.flatnonzero(mask(selection, kernels["step"]))
    of_row = _numbered(listed[rows.workload], used, not_modelled(facts, insight, selection, rows))
    family_of_workload = np.full(len(listed), -1, np.int64)
    family_of_workload[rows.workload] = of_row
    lost = kernels["workload"][chosen] < 0
    of_lost = _numbered(
        np.full(len(chosen), NONE),
        used,
        not_modelled_kernels(facts, insight)[kernels["kernel"][chosen]],
    )
    of_kernel = np.where(lost, of_lost, family_of_workload[kernels["workload"][chosen]])
    known = of_kernel >= 0
    time = sum_by(of_row, n, rows.time) + sum_by(of_kernel[lost], n, kernels["total"][chosen][lost])
    calls = sum_by(of_row, n, rows.calls) + sum_by(
        of_kernel[lost], n, kernels["calls"][chosen][lost]
    )
    matrix = [
        sum_by(
            of_kernel[known],
            n,
            np.where(kernels["matrix"][chosen] == knowledge, kernels["total"][chosen], 0)[known],
        )
        for knowledge in (Knowledge.YES, Knowledge.UNKNOWN)
    ]
    able = matrix[0] + matrix[1] > 0
    able[of_row[_could(insight, rows.workload)]] = True
    able &= (np.arange(n) >= len(NOT_MODELLED)) & facts.summary.has_device
    flops = np.bincount(of_row, weights=np.nan_to_num(rows.flops), minlength=n)
    modelled = np.arange(len(NOT_MODELLED), n - 1)
    longest = modelled[np.argsort(-time[modelled], kind="stable")].tolist()
    order = [i for i in (*longest, *range(len(NOT_MODELLED))) if calls[i]] + [n - 1]
    counted = np.isin(np.arange(n), modelled) & (flops < LARGEST)
    table = FAMILIES.build(
        insight.strings,
        family=[_word(insight, used, i) for i in order],
        calls=calls[order],
        time_ns=time[order],
        matrix_ns=np.where(able, matrix[0], -1)[order],
        matrix_unknown_ns=np.where(able, matrix[1], -1)[order],
        flops=np.where(counted, np.rint(flops), -1)[order].astype(np.int64),
    )
    return Families(
        table,
        int(time.sum()),
        int(time[len(NOT_MODELLED) :].sum()),
        int(time[modelled].sum()),
        _products(insight, rows),
    )


def not_modelled(facts: Facts, insight: Insight, selection: Selection, rows: Rows) -> Ints:
    """Which of ``NOT_MODELLED`` each row is, −1 none; int64.

    A row without a model is one if most of its time is, by its kernels; without a device, by its
    name.
    """
    unknown = np.append(insight["workloads"]["family"], NONE)[rows.workload] == NONE
    if not facts.summary.has_device:
        names = np.append(insight["workloads"]["name"], NONE)[rows.workload]
        return np.where(
            unknown & host_names(insight.strings, names[names >= 0]).collective[names],
            COMMUNICATION,
            NONE,
        ).astype(np.int64)
    of_name = not_modelled_kernels(facts, insight)
    if len(rows.kernel) and rows.kernel[0] >= 0:
        return np.where(unknown, of_name[rows.kernel], NONE).astype(np.int64)
    kernels = insight["workload_kernels"]
    chosen = np.flatnonzero(mask(selection, kernels["step"]) & (kernels["workload"] >= 0))
    total, kind = kernels["total"][chosen], of_name[kernels["kernel"][chosen]]
    n = insight["workloads"].n
    whole = sum_by(kernels["workload"][chosen], n, total)
    result = np.full(len(rows.workload), NONE, np.int64)
    for number in range(len(NOT_MODELLED)):
        part = sum_by(kernels["workload"][chosen], n, np.where(kind == number, total, 0))
        result[unknown & np.append(2 * part > whole, np.False_)[rows.workload]] = number
    return result


def _numbered(family: Array, used: Array, kind: Ints) -> Ints:
    """Family numbers; ``kind`` where that is one of ``NOT_MODELLED``."""
    model = len(NOT_MODELLED) + np.where(family == NONE, len(used), np.searchsorted(used, family))
    return np.where(kind >= 0, kind, model).astype(np.int64)


def _word(insight: Insight, used: Array, number: int) -> str | None:
    if number < len(NOT_MODELLED):
        return NOT_MODELLED[number]
    return (
        insight.strings[int(used[number - len(NOT_MODELLED)])]
        if number < len(NOT_MODELLED) + len(used)
        else None
    )


def not_modelled_kernels(facts: Facts, insight: Insight) -> Ints:
    """Which of ``NOT_MODELLED`` device work of each name is, by insight string; −1 neither."""
    kind = np.full(len(insight.strings) + 1, MEMCPY, np.int64)
    table = facts["kernels"]
    # Of several kernels with one name, one that communicates wins.
    for name, communicates in sorted(
        set(zip(table["name"].tolist(), table["communication"].tolist(), strict=True))
    ):
        number = insight.strings.number(facts.strings[name])
        if number >= 0:
            kind[number] = COMMUNICATION if communicates else NONE
    return kind


def _products(insight: Insight, rows: Rows) -> int:
    """Time of unmodelled calls that matrix cores could do, by name, or did."""
    unknown = np.flatnonzero(np.isnan(rows.flops))
    does = _could(insight, rows.workload[unknown]) | (rows.matrix[unknown] == Knowledge.YES)
    return int(rows.time[unknown][does].sum())


def _could(insight: Insight, workload: Ints) -> Mask:
    """Whether matrix cores could do the operators of workloads, by their names."""
    names = np.append(insight["workloads"]["name"], NONE)[workload]
    used, place = np.unique(names, return_inverse=True)
    could = [
        number >= 0 and operator_could(insight.strings[number]) == Knowledge.YES
        for number in used.tolist()
    ]
    return np.array(could, np.bool_)[place]
