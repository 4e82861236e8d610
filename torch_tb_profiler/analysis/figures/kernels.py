"""Kernels of a selection of steps: calls, durations, launch properties, matrix cores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    group_rows,
    join_knowledge,
    sum_by,
    sum_floats,
)
from torch_tb_profiler.analysis.facts.flags import NoOperator
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.hardware.kernel_names import short_name
from torch_tb_profiler.store.columns import Array, Mask
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.strings import NONE

__all__ = ["KernelGroup", "KernelRows", "NoOperator", "kernel_rows", "short_name"]

KernelGroup = Literal["name", "properties"]
_PROPERTIES = ("operator", "reason", "grid", "block", "registers", "shared_memory")


@dataclass(frozen=True)
class KernelRows:
    """One entry per row in each array, all of shape (n,); times ns (``mean`` float64, the others
    int64).

    ``name``, ``operator``, ``grid`` and ``block`` are numbers of strings; −1 is unknown, or pooled
    by grouping, as for ``registers`` and ``shared_memory``. ``reason`` is uint8 ``NoOperator``;
    ``matrix`` and ``matrix_eligible`` uint8 ``Knowledge``; ``blocks_per_sm`` and ``occupancy``
    (percent) means weighted by duration, NaN unknown. Rows are sorted by ``total``, descending.
    """

    name: Array
    operator: Array
    reason: Array
    grid: Array
    block: Array
    registers: Array
    shared_memory: Array
    calls: Array
    total: Array
    mean: Array
    shortest: Array
    longest: Array
    blocks_per_sm: Array
    occupancy: Array
    matrix: Array
    matrix_eligible: Array
    communication: Mask


def kernel_rows(facts: Facts, selection: Selection, group: KernelGroup) -> KernelRows:
    """Kernels launched in the selected steps: one row per full name, or per name, operator and
    launch properties.
    """
    table, sums = facts["kernels"], facts["kernel_steps"]
    taken = mask(selection, sums["step"])
    row = sums["kernel"][taken]
    name = table["name"][row]
    if group == "properties":
        first, of = group_rows((row,))
        properties = {key: table[key][row][first] for key in _PROPERTIES}
    else:
        first, of = group_rows((name,))
        properties = {
            key: np.full(len(first), 0 if key == "reason" else NONE, table[key].dtype)
            for key in _PROPERTIES
        }
    n = len(first)
    calls, total = (sum_by(of, n, sums[key][taken]) for key in ("calls", "total"))
    shortest = np.full(n, np.iinfo(np.int64).max)
    np.minimum.at(shortest, of, sums["shortest"][taken])
    longest = np.zeros(n, np.int64)
    np.maximum.at(longest, of, sums["longest"][taken])
    blocks, blocks_time, occupancy, occupancy_time = (
        sum_floats(of, n, sums[key][taken])
        for key in ("blocks_weighted", "blocks_time", "occupancy_weighted", "occupancy_time")
    )
    order = np.argsort(-total, kind="stable")
    columns: dict[str, Array] = {
        "name": name[first],
        **properties,
        "calls": calls,
        "total": total,
        "mean": total / np.maximum(calls, 1),
        "shortest": shortest,
        "longest": longest,
        "blocks_per_sm": _ratio(blocks, blocks_time),
        "occupancy": _ratio(occupancy, occupancy_time),
        "matrix": join_knowledge(of, n, table["matrix"][row]),
        "matrix_eligible": join_knowledge(of, n, table["matrix_eligible"][row]),
        "communication": np.bincount(of[table["communication"][row] != 0], minlength=n) > 0,
    }
    return KernelRows(**{key: column[order] for key, column in columns.items()})


def _ratio(over: Array, under: Array) -> Array:
    ratio = np.full(len(over), np.nan)
    known = under > 0
    ratio[known] = over[known] / under[known]
    return ratio
