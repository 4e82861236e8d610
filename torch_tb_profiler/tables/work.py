"""The tables of operators and kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by
from torch_tb_profiler.analysis.counters.by_kernel import measured_kernels, with_counters
from torch_tb_profiler.analysis.figures.kernels import KERNELS, KernelGroup, kernel_rows
from torch_tb_profiler.analysis.figures.operators import (
    OPERATORS,
    OperatorGroup,
    frames,
    operator_rows,
    operator_signatures,
)
from torch_tb_profiler.analysis.figures.selection import mask
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.tables.source import TableSource, computes

Signature = tuple[str, ...]
"""Name, input shapes, input types; empty texts where not recorded."""


@computes(OPERATORS)
def operators(of: TableSource, by: OperatorGroup = "name") -> DisplayTable:
    """Operators by ``"name"``, input ``"shape"`` (and type, with FLOPs and bytes of a call) or call ``"stack"``, the most
    expensive first.
    """
    if by == "name":
        return operator_rows(of.facts, of.selection, "name", of_calls=True)
    rows = operator_signatures(of.facts, of.selection, stacks=by == "stack")
    if by == "stack":
        rows = rows.with_columns(stack=_stack_tuples(of.facts, rows["stack"]))
    work = _work_per_call(of)
    keys = ("name", "input_shapes", "input_dtypes")
    signatures = zip(*(rows.texts(key) for key in keys), strict=True)
    per_call = [work.get(tuple(text or "" for text in key), (None, None)) for key in signatures]
    return rows.with_columns(
        flops=[flops for flops, _ in per_call], bytes=[size for _, size in per_call]
    )


@computes(KERNELS)
def kernels(of: TableSource, by: KernelGroup = "name") -> DisplayTable:
    """Kernels by ``"name"``, by name and ``"operator"``, or by name, operator and launch ``"properties"`` (grid, block, registers,
    shared memory), the largest total first. By name, behind these a column per hardware counter under its own name where any
    were measured: its mean over the measured launches.
    """
    rows = kernel_rows(of.facts, of.selection, by, of_calls=True)
    if by != "name" or not of.facts.summary.profiled_ranges:
        return rows
    return with_counters(rows, measured_kernels(of.trace, of.facts, of.selection))


def _stack_tuples(facts: Facts, stacks: Array) -> list[tuple[str, ...]]:
    """Frames of each stack, innermost first."""
    distinct, number = np.unique(stacks, return_inverse=True)
    texts = [tuple(facts.strings.many(frames(facts, stack))) for stack in distinct.tolist()]
    return [texts[i] for i in number.tolist()]


def _work_per_call(of: TableSource) -> dict[Signature, tuple[int | None, int | None]]:
    """FLOPs and bytes per call by signature, means over the selected calls; None where a call has
    no model.
    """
    insight = of.insight
    table, counted = insight["workloads"], insight["workload_steps"]
    taken = mask(of.selection, counted["step"])
    calls = sum_by(counted["workload"][taken], table.n, counted["calls"][taken])
    row = np.flatnonzero(calls > 0)
    key = [table[name][row] for name in ("name", "dims", "types")]
    first, group = group_rows(key)
    names: Sequence[list[str]] = [insight.strings.many(column[first]) for column in key]
    means = [
        _mean_call(group, len(first), calls[row], table[name][row]) for name in ("flops", "bytes")
    ]
    return dict(zip(zip(*names, strict=True), zip(*means, strict=True), strict=True))


def _mean_call(group: Ints, groups: int, calls: Ints, values: Array) -> list[int | None]:
    """Means per group weighted by calls, exact where all are equal; None where one is unknown (−1)."""
    low, high = np.full(groups, np.iinfo(np.int64).max), np.full(groups, -1, np.int64)
    np.minimum.at(low, group, values)
    np.maximum.at(high, group, values)
    mean = np.bincount(
        group, weights=values.astype(np.float64) * calls, minlength=groups
    ) / np.maximum(np.bincount(group, weights=calls, minlength=groups), 1)
    listed = zip(low.tolist(), high.tolist(), mean.tolist(), strict=True)
    return [
        None if least < 0 else least if least == most else round(average)
        for least, most, average in listed
    ]
