"""The tables ``kernels``, ``kernel_steps`` and ``kernel_calls``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    extreme_by,
    group_rows,
    positions_of,
    sum_by,
    sum_floats,
)
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store import fact_schema
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.facts.device_causes import DeviceCauses
    from torch_tb_profiler.analysis.facts.operators import OperatorFacts

_LARGEST = 1e9
"""Larger arguments are nonsense, and their product with a duration might overflow."""
_NUMBER = regex(r"\d+")
_THREADS = 2048
"""Of a multiprocessor, at most: no device of any vendor keeps more."""
_ARGUMENTS = ("grid", "block", "registers", "shared_memory", "blocks_per_sm", "occupancy")


def device_arguments(trace: Trace, row: Ints, keys: tuple[str, ...]) -> dict[str, Array]:
    """Columns of ``device_args`` for rows of spans; −1 (NaN for floats) where a row has none."""
    arguments = trace["device_args"]
    span = arguments["span"]
    # All device work has arguments nearly always, and all of it is often asked for.
    position = np.arange(len(row)) if np.array_equal(span, row) else positions_of(span, row)
    known = np.flatnonzero(position >= 0)
    place = position[known]
    columns = {}
    for key in keys:
        column = arguments[key]
        values = np.full(len(row), np.nan if column.dtype.kind == "f" else -1, column.dtype)
        values[known] = column[place]
        if column.dtype.kind == "f":
            values[np.abs(values) > _LARGEST] = np.nan
        if key == "occupancy":
            zero = np.flatnonzero(values <= 0)
            values[zero[~_rounds_to_0(trace, position[zero])]] = np.nan
        columns[key] = values
    return columns


def _rounds_to_0(trace: Trace, row: Ints) -> Mask:
    """Of rows of ``device_args``, whether an estimated occupancy of 0 is one: so little of a
    multiprocessor has a block that the whole per cent, as which Kineto writes it, is 0.

    Any other 0 is a failed estimate: Kineto takes the default limit of shared memory, above which
    by its reckoning no block fits, and what ran had some.
    """
    arguments = trace["device_args"]
    blocks, used = np.unique(arguments["block"][row], return_inverse=True)
    threads = [
        math.prod(map(int, _NUMBER.findall(trace.strings[number]))) if number >= 0 else np.nan
        for number in blocks.tolist()
    ]
    share = np.array(threads, np.float64)[used] * arguments["blocks_per_sm"][row] / _THREADS
    return np.asarray(share < 0.01)


def kernel_facts(
    trace: Trace,
    caused: DeviceCauses,
    operator: Array,
    communication: Mask,
    matrix: Array,
    operators: OperatorFacts,
    step: Ints,
) -> dict[str, Table]:
    """The three tables by name. Arrays are per device event; ``operator``: its name, −1 unknown."""
    spans = trace["spans"]
    is_kernel = np.flatnonzero(spans["role"][caused.row] == Role.KERNEL)
    row = caused.row[is_kernel]
    could = operators.eligible[is_kernel]
    could[matrix[is_kernel] == Knowledge.YES] = Knowledge.YES
    arguments = device_arguments(trace, row, _ARGUMENTS)
    keys = {
        "name": spans["name"][row],
        "operator": operator[is_kernel],
        "reason": np.where(operator[is_kernel] >= 0, 0, caused.reason[is_kernel]),
        **{key: arguments[key] for key in ("grid", "block", "registers", "shared_memory")},
        "matrix": matrix[is_kernel],
        "matrix_eligible": could,
        "communication": communication[is_kernel],
    }
    first, kernel = group_rows(tuple(keys.values()))
    kernels = fact_schema.KERNELS.build(**{key: values[first] for key, values in keys.items()})
    begin, cell = group_rows((kernel, step[is_kernel]))
    n, dur = len(begin), spans["dur"][row]
    weighted = {}
    for key, argument in (("blocks", "blocks_per_sm"), ("occupancy", "occupancy")):
        column = arguments[argument]
        known = np.isfinite(column)
        weighted[f"{key}_weighted"] = sum_floats(cell, n, np.where(known, column, 0.0) * dur)
        weighted[f"{key}_time"] = sum_by(cell, n, np.where(known, dur, 0))
    steps = fact_schema.KERNEL_STEPS.build(
        kernel=kernel[begin],
        step=step[is_kernel][begin],
        calls=np.bincount(cell, minlength=n),
        total=sum_by(cell, n, dur),
        shortest=extreme_by(np.minimum, cell, n, dur),
        longest=extreme_by(np.maximum, cell, n, dur),
        **weighted,
    )
    order = np.lexsort((dur, cell))
    calls = {"cell": cell, "duration": dur, "stack": operators.stack[is_kernel]}
    calls = {key: values[order] for key, values in calls.items()}
    tables = (kernels, steps, fact_schema.KERNEL_CALLS.build(**calls))
    return {table.spec.name: table for table in tables}
