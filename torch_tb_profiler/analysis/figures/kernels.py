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
from torch_tb_profiler.store.display import DisplayTable, display_spec
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
KERNELS = display_spec("""
kernels: One row per kernel name (`by="name"`), per name and operator (`"operator"`), or per name, operator and launch properties (`"properties"`).
    name                 code       Kernel                            term=kernel width=320                       Full name.
    short_name           code       -                                 pool=other                                  The name without its template arguments.
    operator             code       Operator                          term=kernel_operator optional width=236     The operator that launched it.
    no_operator          code       -                                 optional                                    Why the operator is not known: `no_launch`,
        `no_host`, `outside`, `graph`.
    fused                code       Fused operators                   term=fused optional width=200               The operators that a kernel of torch.compile
        fuses, by its name; None of other kernels.
    time_share           share      Share                             term=kernel_share pool=sum                  Share of the kernel time of all rows of the
        selected steps.
    calls                count      Calls                             term=calls pool=sum unit=launches           Number of launches.
    total_ns             time       Total                             term=total pool=sum bar                     Sum of durations.
    mean_ns              mean time  Mean                              term=mean pool=mean                         Mean duration.
    median_ns            mean time  Median                            term=median                                 Median of the durations.
    deviation_ns         mean time  Std. dev.                         term=deviation                              Standard deviation of the durations (of a
        sample).
    min_ns               time       Min                               term=shortest pool=min                      Shortest.
    max_ns               time       Max                               term=longest pool=max                       Longest.
    grid                 code       Grid                              term=grid optional unit=blocks width=110    Grid as JSON text.
    block                code       Block                             term=block optional unit=threads width=110  Block as JSON text.
    registers            count      Registers                         term=registers optional                     Registers per thread.
    shared_memory_bytes  bytes      Shared memory                     term=shared_memory optional                 Shared memory of a block.
    blocks_per_sm        number     Blocks per {multiprocessor}       term=blocks_per_sm unit=blocks width=116    Blocks per multiprocessor, mean by duration.
    occupancy            share      Est. occupancy                    term=kernel_occupancy                       Estimated achieved occupancy, mean by
        duration.
    matrix               knowledge  {Matrix_cores}                    term=matrix                                 Whether it uses matrix cores.
    matrix_eligible      knowledge  Operator {matrix_cores} eligible  term=matrix_eligible width=136              Whether its operator could.
    communication        flag       -                                 -                                           Whether it is communication.
""")
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
