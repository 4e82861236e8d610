"""The tables of steps, operators, kernels, ranges, modules and compiled code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by
from torch_tb_profiler.analysis.compiled.table import COMPILED, compiled_table
from torch_tb_profiler.analysis.compiled.times import compilation_table
from torch_tb_profiler.analysis.figures.iterations import ITERATIONS, iteration_table
from torch_tb_profiler.analysis.figures.kernels import KERNELS, KernelGroup, kernel_rows
from torch_tb_profiler.analysis.figures.operators import (
    OPERATORS,
    OperatorGroup,
    frames,
    operator_rows,
    operator_signatures,
)
from torch_tb_profiler.analysis.figures.selection import mask
from torch_tb_profiler.analysis.figures.step_table import STEPS, step_table
from torch_tb_profiler.analysis.module.modules import module_sums, module_tree
from torch_tb_profiler.analysis.module.table import MODULES, module_table
from torch_tb_profiler.analysis.ranges.table import RANGES, range_table
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.tables.source import TableSource, computes
from torch_tb_profiler.views.overview.scalars import SCALARS, scalar_table

Signature = tuple[str, ...]
"""Name, input shapes, input types; empty texts where not recorded."""


@computes(STEPS)
def steps(of: TableSource) -> DisplayTable:
    """Steps with their times by category."""
    return step_table(of.facts, of.selection).take(of.selection.steps)


@computes(SCALARS)
def scalars(of: TableSource) -> DisplayTable:
    """What a curve over the steps of a program shows, a row per step."""
    return scalar_table(of.trace, of.facts, of.insight, of.selection, of.peaks)


@computes(ITERATIONS)
def iterations(of: TableSource) -> DisplayTable:
    """Iterations of an inference server: phase, requests and tokens of each kind, batch, times, and the part of
    the recording (``ramp-up``, ``steady``, ``ramp-down``).
    """
    return iteration_table(of.facts, of.selection)


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
    shared memory), the largest total first.
    """
    return kernel_rows(of.facts, of.selection, by, of_calls=True)


@computes(RANGES)
def ranges(of: TableSource) -> DisplayTable:
    """Annotated ranges (``record_function``, NVTX, ``gpu_user_annotation``) by name, the busiest on the device first."""
    return range_table(of.facts, of.insight, of.selection)


@computes(COMPILED)
def compiled(of: TableSource, provenance: str | None = None) -> DisplayTable:
    """What torch.compile made and called: the operators that each kernel fuses, its graph and region, and its source
    lines, if logs of torch.compile (``TORCH_TRACE``, tlparse) stand beside the trace or in the folder ``provenance``.
    ``attrs["problems"]``: what could not be used of the logs; ``attrs["compilations"]``: what was compiled, and how long
    that took.

    Raises:
        SourceError: there are no logs in the folder.
    """
    # Its reader takes longer to import than most tables to compute.
    from torch_tb_profiler.runs.compile_logs import provenance_of

    assert of.opened is not None, "the place of the trace is where its logs are"
    logged = provenance_of(of.opened, provenance)
    return compiled_table(of.trace, of.facts, logged, of.selection).with_attributes(
        problems=dict(logged.problems),
        compilations=compilation_table(of.trace, of.facts, of.selection),
    )


@computes(MODULES)
def modules(of: TableSource) -> DisplayTable:
    """The tree of ``nn.Module``s with host and device time, forward and backward."""
    tree = module_tree(of.insight)
    return module_table(of.facts, of.insight, tree, module_sums(of.insight, tree, of.selection))


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
