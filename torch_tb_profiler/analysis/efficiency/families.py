"""Time, FLOPs and use of matrix cores by family of the performance models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.efficiency.placing import LARGEST
from torch_tb_profiler.analysis.efficiency.rates import Rows
from torch_tb_profiler.analysis.facts.names import host_names
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.hardware.matrix_cores import operator_could
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.strings import NONE

ASIDE = ("communication", "memcpy")
"""What computes nothing and has no model: collectives; copies and memsets of operators without a
model, or of none. In place of a family.
"""
COMMUNICATION, MEMCPY = range(len(ASIDE))


@dataclass(frozen=True)
class Families:
    """``columns``: lists of one length: family, calls, time_ns, matrix_ns, matrix_unknown_ns,
    flops; after the models' families those of ``ASIDE`` that there
    are, and last, family None, the computation that no model knows. Work of no operator has
    launches for calls.
    ``time``: all time, ns; ``computation``: of it, without ``ASIDE``; ``modelled``: of that, of
        modelled calls; ``products``: of what is not modelled, calls
    that multiply matrices or use matrix cores.
    """

    columns: dict[str, list[Any]]
    time: int
    computation: int
    modelled: int
    products: int


def families(facts: Facts, insight: Insight, selection: Selection, rows: Rows) -> Families:
    """``rows`` are those of workloads."""
    listed = np.append(insight["workloads"]["family"], NONE)
    used = np.unique(listed)
    used = used[used != NONE]
    # Numbers of families: first those of ASIDE, then the models', then the unknown.
    n = len(ASIDE) + len(used) + 1
    kernels = insight["workload_kernels"]
    at = np.flatnonzero(mask(selection, kernels["step"]))
    of_row = _numbered(listed[rows.workload], used, aside(facts, insight, selection, rows))
    place = np.full(len(listed), -1, np.int64)
    place[rows.workload] = of_row
    lost = kernels["workload"][at] < 0
    of_lost = _numbered(
        np.full(len(at), NONE), used, asides_of_kernels(facts, insight)[kernels["kernel"][at]]
    )
    of_kernel = np.where(lost, of_lost, place[kernels["workload"][at]])
    known = of_kernel >= 0
    time = sum_by(of_row, n, rows.time) + sum_by(of_kernel[lost], n, kernels["total"][at][lost])
    calls = sum_by(of_row, n, rows.calls) + sum_by(of_kernel[lost], n, kernels["calls"][at][lost])
    matrix = [
        sum_by(
            of_kernel[known],
            n,
            np.where(kernels["matrix"][at] == knowledge, kernels["total"][at], 0)[known],
        )
        for knowledge in (Knowledge.YES, Knowledge.UNKNOWN)
    ]
    able = matrix[0] + matrix[1] > 0
    able[of_row[_could(insight, rows.workload)]] = True
    able &= (np.arange(n) >= len(ASIDE)) & bool(facts.summary["has_device"])
    flops = np.bincount(of_row, weights=np.nan_to_num(rows.flops), minlength=n)
    modelled = np.arange(len(ASIDE), n - 1)
    order = [
        *modelled[np.argsort(-time[modelled], kind="stable")].tolist(),
        *range(len(ASIDE)),
        n - 1,
    ]
    order = [i for i in order if calls[i] or i == n - 1]
    columns: dict[str, list[Any]] = {
        "family": [_word(insight, used, i) for i in order],
        "calls": calls[order].tolist(),
        "time_ns": time[order].tolist(),
        "matrix_ns": [int(matrix[0][i]) if able[i] else None for i in order],
        "matrix_unknown_ns": [int(matrix[1][i]) if able[i] else None for i in order],
        "flops": [
            round(float(flops[i])) if len(ASIDE) <= i < n - 1 and flops[i] < LARGEST else None
            for i in order
        ],
    }
    return Families(
        columns,
        int(time.sum()),
        int(time[len(ASIDE) :].sum()),
        int(time[modelled].sum()),
        _products(insight, rows),
    )


def aside(facts: Facts, insight: Insight, selection: Selection, rows: Rows) -> Ints:
    """Which of ``ASIDE`` rows are, −1 none; int64. A row without a model is one when most of its
    time is: by its kernels, without a device by its name.
    """
    unknown = np.append(insight["workloads"]["family"], NONE)[rows.workload] == NONE
    if not facts.summary["has_device"]:
        names = np.append(insight["workloads"]["name"], NONE)[rows.workload]
        return np.where(
            unknown & host_names(insight.strings, names[names >= 0]).collective[names],
            COMMUNICATION,
            NONE,
        ).astype(np.int64)
    of_name = asides_of_kernels(facts, insight)
    if len(rows.kernel) and rows.kernel[0] >= 0:
        return np.where(unknown, of_name[rows.kernel], NONE).astype(np.int64)
    kernels = insight["workload_kernels"]
    at = np.flatnonzero(mask(selection, kernels["step"]) & (kernels["workload"] >= 0))
    total, kind = kernels["total"][at], of_name[kernels["kernel"][at]]
    n = insight["workloads"].n
    whole = sum_by(kernels["workload"][at], n, total)
    found = np.full(len(rows.workload), NONE, np.int64)
    for number in range(len(ASIDE)):
        part = sum_by(kernels["workload"][at], n, np.where(kind == number, total, 0))
        found[unknown & (2 * part > whole)[rows.workload]] = number
    return found


def _numbered(family: Array, used: Array, kind: Ints) -> Ints:
    """Numbers of families: ``kind`` where that is one of ``ASIDE``."""
    model = len(ASIDE) + np.where(family == NONE, len(used), np.searchsorted(used, family))
    return np.where(kind >= 0, kind, model).astype(np.int64)


def _word(insight: Insight, used: Array, number: int) -> str | None:
    if number < len(ASIDE):
        return ASIDE[number]
    return (
        insight.strings[int(used[number - len(ASIDE)])] if number < len(ASIDE) + len(used) else None
    )


def asides_of_kernels(facts: Facts, insight: Insight) -> Ints:
    """By own text of the insight, which of ``ASIDE`` the device work of that name is, −1 none of
    it.
    """
    found = np.full(len(insight.strings) + 1, MEMCPY, np.int64)
    table = facts["kernels"]
    # Of several kernels of one name the one that communicates comes last.
    for name, communicates in sorted(
        set(zip(table["name"].tolist(), table["communication"].tolist(), strict=True))
    ):
        number = insight.strings.number(facts.strings[name])
        if number >= 0:
            found[number] = COMMUNICATION if communicates else NONE
    return found


def _products(insight: Insight, rows: Rows) -> int:
    """Time of calls without a model that matrix cores could do, by the operator's name, or that
    they did.
    """
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
