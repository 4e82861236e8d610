"""Kernels of a selection of steps: calls, durations, launch properties, matrix cores."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    extreme_by,
    group_rows,
    join_knowledge,
    sum_by,
    sum_floats,
)
from torch_tb_profiler.analysis.facts.flags import NoOperator
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.analysis.figures.spread import shares, spread
from torch_tb_profiler.hardware.fused_names import fused_operators
from torch_tb_profiler.hardware.kernel_names import short_name
from torch_tb_profiler.store.columns import Array
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.model import Facts

__all__ = ["KERNELS", "KernelGroup", "NoOperator", "fused_operators", "kernel_rows", "short_name"]

KernelGroup = Literal["name", "operator", "properties"]
_OPERATORS = {"operator": "operator", "no_operator": "reason"}
_PROPERTIES = {
    "grid": "grid",
    "block": "block",
    "registers": "registers",
    "shared_memory_bytes": "shared_memory",
}
_C = DisplayColumn
_OPERATOR = "The operator that launched it."
_REASON = "Why the operator is not known: `no_launch`, `no_host`, `outside`, `graph`."
_FUSED = "The operators that a kernel of torch.compile fuses, by its name; None of other kernels."
_BLOCK = "Block as JSON text."
_SHARE = "Share of the kernel time of all rows of the selected steps."
_DEVIATION = "Standard deviation of the durations (of a sample)."
_SHARED = "Shared memory of a block."
_BLOCKS = "Blocks per {multiprocessor}"
_MEAN = "Blocks per multiprocessor, mean by duration."
_OCCUPANCY = "Estimated achieved occupancy, mean by duration."
_CAN = "Operator {matrix_cores} eligible"
_ELIGIBLE = "Whether its operator could."
KERNELS = DisplaySpec(
    "kernels",
    'One row per kernel name (`by="name"`), per name and operator (`"operator"`), or per name,'
    ' operator and launch properties (`"properties"`).',
    (
        _C("name", "code", "Kernel", "Full name.", "kernel", width=320),
        _C("short_name", "code", "", "The name without its template arguments.", pool="other"),
        _C("operator", "code", "Operator", _OPERATOR, "kernel_operator", True, width=236),
        _C("no_operator", "code", "", _REASON, optional=True),
        _C("fused", "code", "Fused operators", _FUSED, "fused", True, width=200),
        _C("time_share", "share", "Share", _SHARE, "kernel_share", pool="sum"),
        _C("calls", "count", "Calls", "Number of launches.", "calls", unit="launches", pool="sum"),
        _C("total_ns", "time", "Total", "Sum of durations.", "total", pool="sum", bar=True),
        _C("mean_ns", "mean time", "Mean", "Mean duration.", "mean", pool="mean"),
        _C("median_ns", "mean time", "Median", "Median of the durations.", "median"),
        _C("deviation_ns", "mean time", "Std. dev.", _DEVIATION, "deviation"),
        _C("min_ns", "time", "Min", "Shortest.", "shortest", pool="min"),
        _C("max_ns", "time", "Max", "Longest.", "longest", pool="max"),
        _C("grid", "code", "Grid", "Grid as JSON text.", "grid", True, unit="blocks", width=110),
        _C("block", "code", "Block", _BLOCK, "block", True, unit="threads", width=110),
        _C("registers", "count", "Registers", "Registers per thread.", "registers", True),
        _C("shared_memory_bytes", "bytes", "Shared memory", _SHARED, "shared_memory", True),
        _C("blocks_per_sm", "number", _BLOCKS, _MEAN, "blocks_per_sm", unit="blocks", width=116),
        _C("occupancy", "share", "Est. occupancy", _OCCUPANCY, "kernel_occupancy"),
        _C("matrix", "knowledge", "{Matrix_cores}", "Whether it uses matrix cores.", "matrix"),
        _C("matrix_eligible", "knowledge", _CAN, _ELIGIBLE, "matrix_eligible", width=136),
        _C("communication", "flag", "", "Whether it is communication."),
    ),
)
"""Operator and launch properties are absent where rows are not grouped by them. Rows are sorted by ``total_ns``, descending."""


def kernel_rows(
    facts: Facts, selection: Selection, group: KernelGroup, *, of_calls: bool = False
) -> DisplayTable:
    """Kernels launched in the selected steps: one row per full name, per name and operator, or per
    name, operator and launch properties; ``of_calls``: with the median and the deviation of their
    durations.
    """
    table, sums = facts["kernels"], facts["kernel_steps"]
    taken = mask(selection, sums["step"])
    row = sums["kernel"][taken]
    name = table["name"][row]
    keys = [name] if group == "name" else [name, *(table[key][row] for key in _OPERATORS.values())]
    first, group_of = group_rows([row] if group == "properties" else keys)
    properties: dict[str, Any] = {}
    if group != "name":
        known = _OPERATORS | (_PROPERTIES if group == "properties" else {})
        properties = {key: table[column][row][first] for key, column in known.items()}
        reasons = properties["no_operator"].tolist()
        properties["no_operator"] = [NoOperator(r).name.lower() if r else None for r in reasons]
    n = len(first)
    if of_calls:
        of_cell = np.full(sums.n, -1, np.int64)
        of_cell[taken] = group_of
        calls_of = spread(facts["kernel_calls"], of_cell, n)
        properties |= {f"{key}_ns": calls_of[key] for key in ("median", "deviation")}
    calls, total = (sum_by(group_of, n, sums[key][taken]) for key in ("calls", "total"))
    blocks, blocks_time, occupancy, occupancy_time = (
        sum_floats(group_of, n, sums[key][taken])
        for key in ("blocks_weighted", "blocks_time", "occupancy_weighted", "occupancy_time")
    )
    distinct, number = np.unique(name[first], return_inverse=True)
    short = [short_name(text) for text in facts.strings.many(distinct)]
    fused = [fused_operators(text) for text in facts.strings.many(distinct)]
    rows = KERNELS.build(
        facts.strings,
        name=name[first],
        short_name=[short[i] for i in number.tolist()],
        fused=[fused[i] for i in number.tolist()],
        **properties,
        time_share=shares(total),
        calls=calls,
        total_ns=total,
        mean_ns=total / np.maximum(calls, 1),
        min_ns=extreme_by(np.minimum, group_of, n, sums["shortest"][taken]),
        max_ns=extreme_by(np.maximum, group_of, n, sums["longest"][taken]),
        blocks_per_sm=_ratio(blocks, blocks_time),
        occupancy=_ratio(occupancy, occupancy_time) / 100,
        matrix=join_knowledge(group_of, n, table["matrix"][row]),
        matrix_eligible=join_knowledge(group_of, n, table["matrix_eligible"][row]),
        communication=np.bincount(group_of[table["communication"][row] != 0], minlength=n) > 0,
    )
    return rows.take(np.argsort(-total, kind="stable"))


def _ratio(over: Array, under: Array) -> Array:
    ratio: Array = np.divide(over, under, out=np.full(len(over), np.nan), where=under > 0)
    return ratio
