"""Time, FLOPs and use of matrix cores by family of the performance models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.efficiency.placing import LARGEST
from torch_tb_profiler.analysis.efficiency.rates import Rows
from torch_tb_profiler.analysis.grouping import sum_by
from torch_tb_profiler.analysis.selection import Selection, mask
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.hardware.matrix_cores import operator_could
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.strings import NONE


@dataclass(frozen=True)
class Families:
    """``columns``: lists of one length: family, calls, time_ns, matrix_ns, matrix_unknown_ns, flops; the last row, family None, is what no model knows.
    ``time``: all time, ns; ``modelled``: of it, of modelled calls; ``products``: of what is not modelled, calls that multiply matrices or use matrix cores."""

    columns: dict[str, list[Any]]
    time: int
    modelled: int
    products: int


def families(facts: Facts, insight: Insight, selection: Selection, rows: Rows) -> Families:
    """``rows`` are those of workloads; device time of no operator counts as not modelled."""
    workloads, kernels = insight["workloads"], insight["workload_kernels"]
    listed = np.append(workloads["family"], NONE)
    used, of = np.unique(listed[rows.workload], return_inverse=True)
    if not len(used) or used[0] != NONE:
        used, of = np.concatenate(([NONE], used)), of + 1
    n = len(used)
    at = np.flatnonzero(mask(selection, kernels["step"]))
    family = np.minimum(np.searchsorted(used, listed[kernels["workload"][at]]), n - 1)
    total = kernels["total"][at]
    lost = int(total[kernels["workload"][at] < 0].sum())
    time = sum_by(of, n, rows.time)
    time[0] += lost
    has_device = bool(facts.summary["has_device"])
    used_time = {known: sum_by(family, n, np.where(kernels["matrix"][at] == known, total, 0)) for known in (Knowledge.YES, Knowledge.UNKNOWN)}
    matrix = {known: values.tolist() if has_device else [None] * n for known, values in used_time.items()}
    flops = np.bincount(of, weights=np.nan_to_num(rows.flops), minlength=n)
    order = np.concatenate((1 + np.argsort(-time[1:], kind="stable"), [0])).astype(np.int64)
    columns: dict[str, list[Any]] = {
        "family": [insight.strings[int(used[i])] if i else None for i in order.tolist()], "calls": sum_by(of, n, rows.calls)[order].tolist(),
        "time_ns": time[order].tolist(), "matrix_ns": [matrix[Knowledge.YES][i] for i in order.tolist()],
        "matrix_unknown_ns": [matrix[Knowledge.UNKNOWN][i] for i in order.tolist()],
        "flops": [round(float(flops[i])) if i and flops[i] < LARGEST else None for i in order.tolist()],
    }
    return Families(columns, int(time.sum()), int(time[1:].sum()), _products(insight, rows))


def _products(insight: Insight, rows: Rows) -> int:
    """Time of calls without a model that matrix cores could do, by the operator's name, or that they did."""
    unknown = np.flatnonzero(np.isnan(rows.flops))
    names = insight["workloads"]["name"][rows.workload[unknown]]
    could = {int(name): operator_could(insight.strings[int(name)]) == Knowledge.YES for name in np.unique(names)}
    does = np.array([could[name] for name in names.tolist()], np.bool_) | (rows.matrix[unknown] == Knowledge.YES)
    return int(rows.time[unknown][does].sum())

