"""Operators of a selection of steps: calls, device and host time, matrix cores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, join_knowledge, sum_by
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.store.columns import Array, Mask
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.strings import NONE

OperatorGroup = Literal["name", "shape", "stack"]
_SUMS = (
    "calls",
    "device_self",
    "device_total",
    "host_self",
    "host_total",
    "matrix_self",
    "matrix_total",
    "matrix_unknown_self",
    "matrix_unknown_total",
    "kernel_self",
    "kernel_total",
)


@dataclass(frozen=True)
class OperatorRows:
    """One entry per row in each array, all of shape (n,); times int64 ns.

    ``name``, ``dims`` and ``types`` are numbers of strings (dims, types −1: not recorded, or pooled
    by grouping), ``stack`` a row of ``stacks`` (−1: none, or pooled), ``matrix_eligible`` uint8
    ``Knowledge``, the shares float64 fractions (NaN: no kernel, or none that is known). Rows are
    sorted descending by ``device_self`` when the trace has device work, else by ``host_self``.
    """

    name: Array
    dims: Array
    types: Array
    stack: Array
    has_stack: Mask
    calls: Array
    device_self: Array
    device_total: Array
    host_self: Array
    host_total: Array
    matrix_eligible: Array
    matrix_self_share: Array
    matrix_total_share: Array


def operators_have_device_time(facts: Facts) -> bool:
    """Whether device work was followed back to any operator; where it was not, device times of
    operators are unknown, not 0.
    """
    return bool(facts["operator_steps"]["device_self"].any())


def operator_rows(facts: Facts, selection: Selection, group: OperatorGroup) -> OperatorRows:
    """Operators of the selected steps, grouped by name, name + shapes, or name + shapes + stack."""
    return _rows(facts, selection, group, np.ones(facts["operators"].n, np.bool_))


def operator_signatures(
    facts: Facts, selection: Selection, *, stacks: bool = False
) -> OperatorRows:
    """Operators of the selected steps by name, input shapes and input types, and with ``stacks`` by
    call stack.
    """
    return _rows(
        facts,
        selection,
        "signature and stack" if stacks else "signature",
        np.ones(facts["operators"].n, np.bool_),
    )


def operator_stacks(
    facts: Facts, selection: Selection, name: int, dims: int | None
) -> OperatorRows:
    """One operator (of one shape, unless ``dims`` is None) by call stack; the calls without a stack
    have stack −1.
    """
    table = facts["operators"]
    wanted = table["name"] == name
    if dims is not None:
        wanted &= table["dims"] == dims
    return _rows(facts, selection, "stack" if dims is not None else "name and stack", wanted)


def frames(facts: Facts, stack: int) -> list[int]:
    """The frames of a call stack as numbers of strings, innermost first; empty for −1."""
    parent, frame = facts["stacks"]["parent"], facts["stacks"]["frame"]
    found: list[int] = []
    while stack >= 0:
        found.append(int(frame[stack]))
        stack = int(parent[stack])
    return found


def _rows(facts: Facts, selection: Selection, group: str, wanted: Mask) -> OperatorRows:
    table = facts["operators"]
    per_operator = _sums_per_operator(facts, selection)
    row = np.flatnonzero((per_operator["calls"] > 0) & wanted)
    none = np.full(len(row), NONE, np.int32)
    name = table["name"][row]
    dims = none if group in ("name", "name and stack") else table["dims"][row]
    types = table["types"][row] if group.startswith("signature") else none
    stack = table["stack"][row] if group.endswith("stack") else none
    first, of = group_rows((name, dims, types, stack))
    n = len(first)
    total = {key: sum_by(of, n, per_operator[key][row]) for key in _SUMS}
    order_key = total["device_self"] if facts.summary.get("has_device") else total["host_self"]
    order = np.lexsort((-total["host_self"], -order_key))
    columns: dict[str, Array] = {
        "name": name[first],
        "dims": dims[first],
        "types": types[first],
        "stack": stack[first],
        "has_stack": np.bincount(of[table["stack"][row] >= 0], minlength=n) > 0,
        "matrix_eligible": join_knowledge(of, n, table["matrix_eligible"][row]),
        "matrix_self_share": _share(
            total["matrix_self"], total["matrix_unknown_self"], total["kernel_self"]
        ),
        "matrix_total_share": _share(
            total["matrix_total"], total["matrix_unknown_total"], total["kernel_total"]
        ),
        **{key: total[key] for key in _SUMS[:5]},
    }
    return OperatorRows(**{key: column[order] for key, column in columns.items()})


def _sums_per_operator(facts: Facts, selection: Selection) -> dict[str, Array]:
    """Sums over the selected steps for every row of ``operators``. Without sorting: a long
    recording has a million rows of (operator, step).
    """
    sums, n = facts["operator_steps"], facts["operators"].n
    if selection.whole:
        return {key: sum_by(sums["operator"], n, sums[key]) for key in _SUMS}
    taken = np.flatnonzero(mask(selection, sums["step"]))
    operator = sums["operator"][taken]
    return {key: sum_by(operator, n, sums[key][taken]) for key in _SUMS}


def _share(used: Array, unknown: Array, kernels: Array) -> Array:
    share = np.full(len(used), np.nan)
    known = kernels > unknown
    share[known] = used[known] / kernels[known]
    return share
