"""Routes ``/operator`` and ``/operator/stacks``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from torch_tb_profiler.analysis.figures.absent import absent
from torch_tb_profiler.analysis.figures.operators import (
    OperatorRows,
    frames,
    operator_rows,
    operator_stacks,
    operators_have_device_time,
)
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.errors import NotFound
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.nullable import OTHER, UNKNOWN, optional_floats
from torch_tb_profiler.views.texts import missing
from torch_tb_profiler.views.vocabulary import vocabulary
from torch_tb_profiler.views.wire import (
    FrameTree,
    OperatorColumns,
    OperatorGroup,
    OperatorPayload,
    OperatorStacksPayload,
    StackItem,
)

_WANTED: dict[OperatorGroup, tuple[str, ...]] = {
    "name": ("host", "device", "operators_of_device"),
    "shape": ("host", "device", "operators_of_device", "shapes"),
    "stack": ("host", "device", "operators_of_device", "shapes", "stack"),
}


def operator_payload(
    facts: Facts, selection: Selection, group: OperatorGroup, limit: int
) -> OperatorPayload:
    """Operators of the selected steps; the ``limit`` costliest have rows of their own, the rest is
    pooled in the last row.
    """
    rows = operator_rows(facts, selection, group)
    has_device = operators_have_device_time(facts)
    kept = min(len(rows.name), limit)
    tree, numbers = (
        _frame_tree(facts, rows.stack[:kept])
        if group == "stack"
        else (FrameTree(parent=[], frame=[]), {})
    )
    return OperatorPayload(
        group=group,
        has_device=has_device,
        vocabulary=vocabulary(facts),
        rows=_columns(facts, rows, kept, has_device, numbers),
        frames=tree,
        pooled=len(rows.name) - kept,
        missing=missing(absent(facts), _WANTED[group]),
    )


def _columns(
    facts: Facts, rows: OperatorRows, kept: int, has_device: bool, numbers: dict[int, int]
) -> OperatorColumns:
    texts = facts.strings
    rest = len(rows.name) > kept

    def sums(values: NDArray[Any]) -> list[Any]:
        return [*values[:kept].tolist(), *([int(values[kept:].sum())] if rest else [])]

    def shares(values: NDArray[Any]) -> list[float | None]:
        return [*optional_floats(values[:kept]), *([None] if rest else [])]

    blank: list[Any] = [None] if rest else []
    nothing: list[Any] = [None] * (kept + rest)
    return OperatorColumns(
        name=[*texts.many(rows.name[:kept]), *([OTHER] if rest else [])],
        shapes=[*(texts[d] if d >= 0 else None for d in rows.dims[:kept].tolist()), *blank],
        stack=[*(numbers.get(s) for s in rows.stack[:kept].tolist()), *blank],
        has_stack=[*rows.has_stack[:kept].tolist(), *([False] if rest else [])],
        calls=sums(rows.calls),
        device_self_ns=sums(rows.device_self) if has_device else nothing,
        device_total_ns=sums(rows.device_total) if has_device else nothing,
        host_self_ns=sums(rows.host_self),
        host_total_ns=sums(rows.host_total),
        matrix_eligible=[*rows.matrix_eligible[:kept].tolist(), *([UNKNOWN] if rest else [])],
        matrix_self_share=shares(rows.matrix_self_share) if has_device else nothing,
        matrix_total_share=shares(rows.matrix_total_share) if has_device else nothing,
    )


def _frame_tree(facts: Facts, used: NDArray[Any]) -> tuple[FrameTree, dict[int, int]]:
    """The part of the tree of stacks that the rows need, and where each of its rows went."""
    parents = facts["stacks"]["parent"]
    needed: set[int] = set()
    for stack in np.unique(used[used >= 0]).tolist():
        row = int(stack)
        while row >= 0 and row not in needed:
            needed.add(row)
            row = int(parents[row])
    order = sorted(needed)
    numbers = {row: i for i, row in enumerate(order)}
    names = facts["stacks"]["frame"]
    return (
        FrameTree(
            parent=[numbers.get(int(parents[r]), -1) for r in order],
            frame=[facts.strings[int(names[r])] for r in order],
        ),
        numbers,
    )


def operator_stacks_payload(
    facts: Facts, selection: Selection, name: str, shapes: str | None, limit: int
) -> OperatorStacksPayload:
    """Call stacks of one operator (of one set of input shapes, when given), the costliest first, at
    most ``limit``.

    Raises:
        NotFound: the selected steps have no such operator.
    """
    number = facts.strings.number(name)
    dims = None if shapes is None else facts.strings.number(shapes)
    rows = operator_stacks(facts, selection, number, dims) if number >= 0 and dims != -1 else None
    if rows is None or not len(rows.name):
        wanted = f"operator {name!r}" + ("" if shapes is None else f" with input shapes {shapes}")
        raise NotFound(
            f"The selected steps hold no {wanted}.",
            "Take the name and the shapes from /operator, with the same steps.",
        )
    has_device = operators_have_device_time(facts)
    stacked = [i for i in range(len(rows.name)) if rows.stack[i] >= 0]
    return OperatorStacksPayload(
        name=name,
        shapes=shapes,
        stacks=[_stack(facts, rows, i, has_device) for i in stacked[:limit]],
        without=int(rows.calls[rows.stack < 0].sum()),
        missing=missing(absent(facts), ("stack",)),
    )


def _stack(facts: Facts, rows: OperatorRows, i: int, has_device: bool) -> StackItem:
    return StackItem(
        frames=facts.strings.many(frames(facts, int(rows.stack[i]))),
        calls=int(rows.calls[i]),
        device_self_ns=int(rows.device_self[i]) if has_device else None,
        device_total_ns=int(rows.device_total[i]) if has_device else None,
        host_self_ns=int(rows.host_self[i]),
        host_total_ns=int(rows.host_total[i]),
    )
