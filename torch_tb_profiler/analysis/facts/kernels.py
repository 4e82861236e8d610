"""Launches of kernels → the tables ``kernels`` and ``kernel_steps``."""

from __future__ import annotations

import math
import re

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by, sum_floats
from torch_tb_profiler.analysis.facts.attribution import Causes
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.store import fact_schema
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

_LARGEST = 1e9
"""What is beyond is no figure of a kernel, and its product with a duration might not be finite."""
_NUMBER = re.compile(r"\d+")
_THREADS = 2048
"""Of a multiprocessor, at most: no device of any vendor keeps more."""
_ARGUMENTS = ("grid", "block", "registers", "shared_memory", "blocks_per_sm", "occupancy")


def device_arguments(trace: Trace, row: Ints, keys: tuple[str, ...]) -> dict[str, Array]:
    """Columns of ``device_args`` for rows of spans; −1 (NaN for floats) where a row has none."""
    arguments = trace["device_args"]
    place = np.minimum(np.searchsorted(arguments["span"], row), max(arguments.n - 1, 0))
    has = arguments["span"][place] == row if arguments.n else np.zeros(len(row), np.bool_)
    found = {}
    for key in keys:
        column = arguments[key]
        values = np.full(len(row), np.nan if column.dtype.kind == "f" else -1, column.dtype)
        values[has] = column[place[has]]
        if column.dtype.kind == "f":
            values[np.abs(values) > _LARGEST] = np.nan
        if key == "occupancy":
            zero = np.flatnonzero(values <= 0)
            values[zero[~_rounds_to_0(trace, place[zero])]] = np.nan
        found[key] = values
    return found


def _rounds_to_0(trace: Trace, row: Ints) -> Mask:
    """Of rows of ``device_args``, whether an estimated occupancy of 0 is one: so little of a
    multiprocessor has a block that the whole per cent, as which Kineto writes it, is 0.

    Any other 0 is a failed estimate: Kineto takes the default limit of shared memory, above which
    by its reckoning no block fits, and what ran had some.
    """
    arguments = trace["device_args"]
    blocks, used = np.unique(arguments["block"][row], return_inverse=True)
    threads = [
        math.prod(map(int, _NUMBER.findall(trace.strings[number]))) if number >= 0 else np.inf
        for number in blocks.tolist()
    ]
    share = np.array(threads, np.float64)[used] * arguments["blocks_per_sm"][row] / _THREADS
    return np.asarray(share < 0.01)


def kernel_facts(
    trace: Trace,
    tree: CallTree,
    caused: Causes,
    communication: Mask,
    matrix: Array,
    eligible: Array,
    step: Ints,
) -> tuple[Table, Table]:
    """``(kernels, kernel_steps)``; all arrays but ``eligible`` (nodes of the call tree) are of
    shape (device events,).
    """
    spans = trace["spans"]
    at = np.flatnonzero(spans["role"][caused.row] == Role.KERNEL)
    row, operator = caused.row[at], caused.operator[at]
    known = operator >= 0
    name = np.full(len(at), -1, np.int32)
    name[known] = spans["name"][tree.row[operator[known]]]
    could = np.full(len(at), Knowledge.UNKNOWN, np.uint8)
    could[known] = eligible[operator[known]]
    could[matrix[at] == Knowledge.YES] = Knowledge.YES
    arguments = device_arguments(trace, row, _ARGUMENTS)
    keys = {
        "name": spans["name"][row],
        "operator": name,
        "reason": caused.reason[at],
        "grid": arguments["grid"],
        "block": arguments["block"],
        "registers": arguments["registers"],
        "shared_memory": arguments["shared_memory"],
        "matrix": matrix[at],
        "matrix_eligible": could,
        "communication": communication[at],
    }
    first, of = group_rows(tuple(keys.values()))
    kernels = fact_schema.KERNELS.build(**{key: values[first] for key, values in keys.items()})
    begin, cell = group_rows((of, step[at]))
    n, dur = len(begin), spans["dur"][row]
    shortest = np.full(n, np.iinfo(np.int64).max)
    np.minimum.at(shortest, cell, dur)
    longest = np.zeros(n, np.int64)
    np.maximum.at(longest, cell, dur)
    weighted = {}
    for key, column in (
        ("blocks", arguments["blocks_per_sm"]),
        ("occupancy", arguments["occupancy"]),
    ):
        told = np.isfinite(column)
        weighted[f"{key}_weighted"] = sum_floats(cell, n, np.where(told, column, 0.0) * dur)
        weighted[f"{key}_time"] = sum_by(cell, n, np.where(told, dur, 0))
    steps = fact_schema.KERNEL_STEPS.build(
        kernel=of[begin],
        step=step[at][begin],
        calls=np.bincount(cell, minlength=n),
        total=sum_by(cell, n, dur),
        shortest=shortest,
        longest=longest,
        **weighted,
    )
    return kernels, steps
