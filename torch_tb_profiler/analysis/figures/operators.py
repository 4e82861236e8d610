"""Operators of a selection of steps: calls, device and host time, matrix cores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, join_knowledge, scatter, sum_by
from torch_tb_profiler.analysis.arrays.nesting import ancestry
from torch_tb_profiler.analysis.facts.flags import Attribution, Within
from torch_tb_profiler.analysis.facts.unrecorded_work import LEAST_UNKNOWN, unknown_share
from torch_tb_profiler.analysis.figures.selection import Selection, mask, sums_over
from torch_tb_profiler.analysis.figures.spread import shares, spread
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.display import (
    DisplayColumn,
    DisplaySpec,
    DisplayTable,
    Kind,
    Pool,
    display_columns,
    known,
)
from torch_tb_profiler.store.model import Facts

OperatorGroup = Literal["name", "shape", "stack"]
_C = DisplayColumn


def _time(side: str, part: str, doc: str) -> DisplayColumn:
    name, label = f"{side}_{part}", "{Device}" if side == "device" else "Host"
    return _C(f"{name}_ns", "time", f"{label} {part}", doc, name, side == "device", "sum", bar=True)


def _call(key: str, label: str, doc: str) -> DisplayColumn:
    pool: Pool | None = "max" if key == "max" else None
    kind: Kind = "time" if key in ("min", "max") else "mean time"
    return _C(f"host_{key}_ns", kind, f"Call {label}", doc, f"call_{key}", True, pool)


def _matrix_share(part: str, doc: str) -> DisplayColumn:
    name = f"matrix_{part}_share"
    return _C(name, "share", f"{{Matrix_cores}} {part}", doc, name)


_ELIGIBLE = "Whether matrix cores could do its work."
_NAMED = """What names its device work: `launch`, `capture`, `compiled`; of work without an operator \
`annotation`, `replay`, `none`; several with commas."""
_CAN = "{Matrix_cores} eligible"
_FLOPS = """Floating-point operations of one call (mean, where calls differ in strides or other \
arguments); missing where not modelled."""
_BYTES = "Least memory traffic of one call, likewise."
OPERATORS = DisplaySpec(
    "operators",
    'One row per operator (`by="name"`), per operator, input shapes and input types (`"shape"`),'
    ' and per call stack (`"stack"`).',
    (
        *display_columns("""
    name          code   Operator      term=operator width=320               Name, e.g. `aten::mm`.
    input_shapes  code   Input shapes  term=input_shapes optional width=240  `Input Dims` as JSON text; missing where not recorded.
    input_dtypes  code   -             optional unsent                       `Input type` as JSON text.
    stack         texts  Called from   term=call_stack unsent                Tuple of `file(line): function`, innermost first; empty where none was recorded.
    has_stack     flag   -             -
    time_share    share  Share         term=operator_share pool=sum          Share of the device self time of all rows of the selected steps; of the host self
        time where the trace has no device time of operators.
    calls         count  Calls         term=calls pool=sum unit=calls        Number of calls.
"""),
        _time("device", "self", "Device time that the calls launched themselves."),
        _time("device", "total", "The same, including the operators that they call, each once."),
        _time("host", "self", "Host time excluding called operators; runtime calls are its own."),
        _time("host", "total", "Host time from begin to end."),
        _call("median", "median", "Median of the host durations of the calls."),
        _call("mean", "mean", "Their mean."),
        _call("deviation", "std. dev.", "Their standard deviation (of a sample)."),
        _call("min", "min", "The shortest."),
        _call("max", "max", "The longest."),
        _C("matrix_eligible", "knowledge", _CAN, _ELIGIBLE, "matrix_eligible", width=112),
        _matrix_share("self", "Share of its own kernel time that is known to use matrix cores."),
        _matrix_share("total", "The same, including the operators that it calls."),
        _C("flops", "FLOP", "FLOPs/call", _FLOPS, optional=True, page=False),
        _C("bytes", "bytes", "Bytes/call", _BYTES, optional=True, page=False),
        _C("attribution", "text", "Named by", _NAMED, "named_by", width=110, hidden=True),
    ),
)
"""``input_shapes``, ``input_dtypes`` and ``stack`` are absent where the grouping pools them. Rows are sorted descending by
``device_self_ns`` when the trace has device work, else by ``host_self_ns``.
"""


def operators_have_device_time(facts: Facts) -> bool:
    """Whether device work was followed back to any operator; where it was not, device times of
    operators are unknown, not 0.
    """
    return bool(facts["operator_sums"]["device_self"].any())


def operator_rows(
    facts: Facts, selection: Selection, group: OperatorGroup, *, of_calls: bool = False
) -> DisplayTable:
    """Operators of the selected steps, grouped by name, name + shapes, or name + shapes + stack;
    ``of_calls``: with mean, median, deviation, shortest and longest of their calls.
    """
    return _rows(facts, selection, group, of_calls=of_calls)


def operator_signatures(
    facts: Facts, selection: Selection, *, stacks: bool = False
) -> DisplayTable:
    """Operators of the selected steps by name, input shapes and input types, and with ``stacks`` by
    call stack; with the spread of their calls.
    """
    return _rows(facts, selection, "signature and stack" if stacks else "signature", of_calls=True)


def operator_stacks(
    facts: Facts, selection: Selection, name: int, dims: int | None
) -> DisplayTable:
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
    stacks = facts["stacks"]
    return [int(stacks["frame"][one]) for one in ancestry(stacks["parent"], stack)]


def _rows(
    facts: Facts,
    selection: Selection,
    group: str,
    wanted: Mask | bool = True,
    *,
    of_calls: bool = False,
) -> DisplayTable:
    table = facts["operators"]
    per_operator = sums_over(selection, facts["operator_steps"], "operator", facts["operator_sums"])
    row = np.flatnonzero((per_operator["calls"] > 0) & wanted)
    keys = {"name": table["name"][row]}
    if group not in ("name", "name and stack"):
        keys["input_shapes"] = table["dims"][row]
    if group.startswith("signature"):
        keys["input_dtypes"] = table["types"][row]
    if group.endswith("stack"):
        keys["stack"] = table["stack"][row]
    first, group_of = group_rows(tuple(keys.values()))
    n = len(first)
    # What lies within another call of the same row is in that call's total already.
    outermost = table["within"][row] < (Within.SHAPES if "input_shapes" in keys else Within.NAME)
    if "input_dtypes" in keys or "stack" in keys:
        outermost = table["within"][row] < Within.SAME
    total = {
        key: sum_by(
            group_of, n, per_operator[key][row] * (outermost | (not key.endswith("_total")))
        )
        for key in per_operator
    }
    total["host_self"] += total.pop("runtime")
    has_device = operators_have_device_time(facts)
    columns: dict[str, Array] = {
        **{key: column[first] for key, column in keys.items()},
        "has_stack": np.bincount(group_of[table["stack"][row] >= 0], minlength=n) > 0,
        "attribution": _kinds(group_of, n, table["attribution"][row]),
        "calls": total["calls"],
        **{f"device_{part}_ns": _device_time(facts, selection, total, part) for part in _PARTS},
        "host_self_ns": total["host_self"],
        "host_total_ns": total["host_total"],
        "matrix_eligible": join_knowledge(group_of, n, table["matrix_eligible"][row]),
        "matrix_self_share": _share(total, "self"),
        "matrix_total_share": _share(total, "total"),
    }
    if of_calls:
        columns |= _spread(facts, selection, row, group_of, n)
    if wanted is True:
        rest = _unnamed(facts, selection, columns)
        columns = {key: np.concatenate((column, rest[key])) for key, column in columns.items()}
    by = "device_self_ns" if facts.summary.has_device else "host_self_ns"
    order = np.lexsort((-columns["host_self_ns"], -columns[by]))
    columns["time_share"] = shares(columns["device_self_ns" if has_device else "host_self_ns"])
    texts = [_KINDS[kinds] for kinds in columns.pop("attribution").tolist()]
    return OPERATORS.build(facts.strings, attribution=texts, **columns).take(order)


_PARTS = ("self", "total")


def _device_time(
    facts: Facts, selection: Selection, total: Mapping[str, Array], part: str
) -> Array:
    """Device time of rows, ns; −1 unknown. Of little that is unknown the defect tells, and what was recorded stands."""
    much = unknown_share(facts, selection.steps) > LEAST_UNKNOWN
    lacks = (total[f"lacking_{part}"] > 0) & (much | (total[f"device_{part}"] == 0))
    of_device = known(total[f"device_{part}"], operators_have_device_time(facts))
    return np.where(lacks, -1, of_device)


def _spread(
    facts: Facts, selection: Selection, row: Ints, group_of: Ints, n: int
) -> dict[str, Array]:
    """Columns of the calls of each of ``n`` groups of rows of ``operators``."""
    steps = facts["operator_steps"]
    group = scatter(facts["operators"].n, row, group_of)
    of_cell = np.where(mask(selection, steps["step"]), group[steps["operator"]], -1)
    calls = spread(facts["operator_calls"], of_cell, n)
    shown = ("mean", "median", "deviation", "min", "max")
    return {f"host_{key}_ns": calls[key] for key in shown}


_KINDS = [
    ", ".join(kind.name.lower() for kind in Attribution if kinds >> kind & 1)
    for kinds in range(1 << len(Attribution))
]
"""The words for a set of kinds, which is a bit per kind."""


def _kinds(group: Array, groups: int, kind: Array) -> Array:
    """The set of kinds of each group."""
    kinds = np.zeros(groups, np.int64)
    np.bitwise_or.at(kinds, group, 1 << kind.astype(np.int64))
    return kinds


def _unnamed(facts: Facts, selection: Selection, like: dict[str, Array]) -> dict[str, Array]:
    """Rows of device work without an operator, with the columns of ``like``."""
    table = facts["unnamed_steps"]
    taken = np.flatnonzero(mask(selection, table["step"]))
    first, group = group_rows((table["name"][taken], table["attribution"][taken]))
    n = len(first)
    device = sum_by(group, n, table["device"][taken])
    rows = {
        "name": table["name"][taken][first],
        "attribution": 1 << table["attribution"][taken][first].astype(np.int64),
        "calls": sum_by(group, n, table["events"][taken]),
        "device_self_ns": device,
        "device_total_ns": device,
        "matrix_eligible": np.full(n, Knowledge.UNKNOWN, np.uint8),
        "matrix_self_share": np.full(n, np.nan),
        "matrix_total_share": np.full(n, np.nan),
    }
    absent = {"has_stack": np.False_, "host_self_ns": 0, "host_total_ns": 0}
    return {
        key: rows[key]
        if key in rows
        else np.full(n, absent.get(key, np.nan if column.dtype.kind == "f" else -1), column.dtype)
        for key, column in like.items()
    }


def _share(total: dict[str, Array], part: str) -> Array:
    used, unknown, kernels = (
        total[f"{key}_{part}"] for key in ("matrix", "matrix_unknown", "kernel")
    )
    share: Array = np.divide(used, kernels, out=np.full(len(used), np.nan), where=kernels > unknown)
    return share
