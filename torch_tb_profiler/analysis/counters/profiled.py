"""Kernels with measured hardware counters: their values, operators, FLOPs and bytes."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import places_in, positions_of
from torch_tb_profiler.analysis.facts.header import oldest_capability
from torch_tb_profiler.analysis.facts.profiled_ranges import RangeLaunches, match_ranges
from torch_tb_profiler.hardware.counter_names import (
    PRECISIONS,
    TRAFFIC,
    counts_matrix_operations,
    flop_weight,
)
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.hardware.matrix_cores import uses_matrix_cores
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

_LARGEST = float(1 << 62)


class ProfiledKernels(msgspec.Struct, frozen=True):
    """One entry per profiled range in time order; arrays of shape (ranges,) unless said otherwise.

    launches: the launches of the ranges, and how they were matched.
    step: step of the launch, if it is known, else of the range, row of ``facts["steps"]``; −1 outside all or unknown.
    operators: rows of spans of the operators around each launch, outermost first; those of range i
        are ``operators[first[i]:first[i + 1]]``.
    first: int64 of shape (ranges + 1,).
    counters: counter names, in the order of their first appearance in the trace.
    values: float64 of shape (counters, ranges); NaN not measured.
    flops: from instruction counters; −1 unknown, also if matrix-core operations were not counted.
    bytes: from memory traffic counters; −1 unknown.
    traffic: where those bytes moved: ``dram``, ``l2``, or empty.
    time: measured ns; −1 where the range's times are a slice of a window.
    """

    launches: RangeLaunches
    step: Ints
    operators: Ints
    first: Ints
    counters: tuple[str, ...]
    values: Array
    flops: Ints
    bytes: Ints
    traffic: str
    time: Ints


def profiled_kernels(trace: Trace, facts: Facts) -> ProfiledKernels:
    """Every range with counters of a trace."""
    links = facts["span_links"]
    launches = match_ranges(trace, links["parent"], links["launch"])
    known = np.where(launches.launch >= 0, launches.launch, launches.row)
    step = links["step"][known].astype(np.int64)
    operators, first = _operators(trace, links["parent"], launches.launch)
    counters, values = _values(trace, launches.row)
    traffic, moved = _traffic(counters, values)
    return ProfiledKernels(
        launches=launches,
        step=step,
        operators=operators,
        first=first,
        counters=counters,
        values=values,
        flops=_whole(_flops(trace, facts, launches.row, counters, values)),
        bytes=_whole(moved),
        traffic=traffic,
        time=np.where(launches.slices, -1, trace["spans"]["dur"][launches.row]),
    )


def _operators(trace: Trace, parent: Array, launch: Ints) -> tuple[Ints, Ints]:
    """``operators`` and ``first`` of ``ProfiledKernels``, walking up from all launches at once."""
    role = trace["spans"]["role"]
    ranges: list[Ints] = []
    rows: list[Ints] = []
    levels: list[Ints] = []
    active = np.flatnonzero(launch >= 0)
    ancestor = parent[launch[active]].astype(np.int64)
    while len(active := active[ancestor >= 0]):
        ancestor = ancestor[ancestor >= 0]
        is_operator = role[ancestor] == Role.OPERATOR
        ranges.append(active[is_operator])
        rows.append(ancestor[is_operator])
        levels.append(np.full(int(is_operator.sum()), -len(levels)))
        ancestor = parent[ancestor].astype(np.int64)
    if not ranges:
        return np.zeros(0, np.int64), np.zeros(len(launch) + 1, np.int64)
    owner, row, level = (np.concatenate(parts) for parts in (ranges, rows, levels))
    first = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=len(launch)))))
    return row[np.lexsort((level, owner))], first


def _values(trace: Trace, ranges: Ints) -> tuple[tuple[str, ...], Array]:
    table = trace["counter_args"]
    numbers, begins, counter = np.unique(table["counter"], return_index=True, return_inverse=True)
    order = np.argsort(begins, kind="stable")
    rank = places_in(len(order), order)
    values = np.full((len(numbers), len(ranges)), np.nan)
    if table.n:
        values[rank[counter], positions_of(ranges, table["span"])] = table["value"]
    return tuple(trace.strings.many(numbers[order].tolist())), values


def _flops(
    trace: Trace, facts: Facts, ranges: Ints, counters: tuple[str, ...], values: Array
) -> Array:
    """FLOPs from the instruction counters, float64; NaN unknown.

    A precision counts if its additions, multiplications and fused multiply-adds were all measured.
    A total of 0 is known only if all precisions were measured.
    """
    total, measured = np.zeros(len(ranges)), np.zeros(len(ranges), np.int64)
    for precision in PRECISIONS:
        weights = [
            (c, parsed[1])
            for c, name in enumerate(counters)
            if (parsed := flop_weight(name)) and parsed[0] == precision
        ]
        if len(weights) == 3:
            with np.errstate(over="ignore"):
                done = sum(values[c] * weight for c, weight in weights)
            measured += np.isfinite(done)
            total += np.where(np.isfinite(done), done, 0)
    matrix = [c for c, name in enumerate(counters) if counts_matrix_operations(name)]
    operations = values[np.array(matrix, np.int64)]
    counted = np.isfinite(operations).any(axis=0)
    total += np.nansum(np.minimum(operations, _LARGEST), axis=0)
    known = np.where(total > 0, (measured > 0) | counted, measured == len(PRECISIONS))
    return np.where(
        known & (counted | ~_uses_matrix_cores(trace, facts, ranges, counters, values)),
        total,
        np.nan,
    )


def _uses_matrix_cores(
    trace: Trace, facts: Facts, ranges: Ints, counters: tuple[str, ...], values: Array
) -> Array:
    """Whether each kernel used matrix cores, by its name or by the counted instructions; bool."""
    capability = oldest_capability(trace)
    names, group = np.unique(trace["spans"]["name"][ranges], return_inverse=True)
    by_name = [
        uses_matrix_cores(trace.strings[n], facts.summary.vendor, capability) == Knowledge.YES
        for n in names.tolist()
    ]
    used = np.array(by_name, np.bool_)[group] if by_name else np.zeros(len(ranges), np.bool_)
    for c, name in enumerate(counters):
        if "pipe_tensor" in name and name.endswith(".sum"):
            used = np.where(np.isfinite(values[c]), values[c] > 0, used)
    return used


def _traffic(counters: tuple[str, ...], values: Array) -> tuple[str, Array]:
    """``(level, bytes)``: where the bytes moved, and how many; NaN unknown."""
    for level, parts in TRAFFIC:
        if all(name in counters for name, _ in parts):
            with np.errstate(over="ignore"):
                return level, np.sum(
                    [values[counters.index(name)] * size for name, size in parts], axis=0
                )
    return "", np.full(values.shape[1], np.nan)


def _whole(values: Array) -> Ints:
    """Nearest integers; −1 unknown."""
    known = np.isfinite(values) & (values >= 0) & (values < _LARGEST)
    return np.where(known, np.rint(np.where(known, values, 0)), -1).astype(np.int64)
