"""How much of the time the performance models know."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.efficiency.rates import Rows
from torch_tb_profiler.analysis.facts.host_names import host_names
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.hardware.matrix_cores import operator_could
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.strings import NONE

NOT_MODELLED = ("communication", "memcpy")
"""Stand in for a family: collectives; copies and memsets of operators without a model."""
COMMUNICATION, MEMCPY = range(len(NOT_MODELLED))


class Totals(msgspec.Struct, frozen=True):
    """Time of the selected steps, ns.

    time: all of it. aside: those of ``NOT_MODELLED`` that occur.
    computation: ``time`` without them.
    modelled: the part of ``computation`` in modelled calls.
    products: the part of the rest that multiplies matrices or uses matrix cores.
    """

    time: int
    aside: tuple[str, ...]
    computation: int
    modelled: int
    products: int


def totals_of(facts: Facts, insight: Insight, selection: Selection, rows: Rows) -> Totals:
    """The totals; ``rows`` come from ``workload_rows``."""
    families = np.append(insight["workloads"]["family"], NONE)
    kernels = insight["workload_kernels"]
    lost = np.flatnonzero(mask(selection, kernels["step"]) & (kernels["workload"] < 0))
    aside = not_modelled(facts, insight, selection, rows)
    aside_lost = not_modelled_kernels(facts, insight)[kernels["kernel"][lost]]
    kind, time = np.append(aside, aside_lost), np.append(rows.time, kernels["total"][lost])
    calls = np.append(rows.calls, kernels["calls"][lost])
    known = (aside < 0) & (families[rows.workload] != NONE)
    return Totals(
        int(time.sum()),
        tuple(name for number, name in enumerate(NOT_MODELLED) if calls[kind == number].any()),
        int(time[kind < 0].sum()),
        int(rows.time[known].sum()),
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
