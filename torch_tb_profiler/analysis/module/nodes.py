"""The calls of which paths are made: modules, annotations and operators."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.calltree import CallTree, is_call
from torch_tb_profiler.analysis.facts.names import distinct
from torch_tb_profiler.analysis.figures.naming import MODULE
from torch_tb_profiler.analysis.module.named_modules import LIGHTNING
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role


@dataclass(frozen=True)
class Nodes:
    """Attributes, arrays of shape (nodes,) unless said otherwise; positions count nodes, and what
    is around a node stands before it.

    row: rows of spans, ascending.
    kind: uint8 ``PathKind``.
    parent: position of the innermost node around it on its thread; −1 none.
    around: for every row of spans the position of the innermost node at or around it (for device
        work: −1); int32 of shape (spans,).
    children, runtime: Σ duration of the nodes and of the runtime calls directly beneath, ns.
    """

    row: Ints
    kind: Array
    parent: Array
    around: Array
    children: Ints
    runtime: Ints

    def of_spans(self, row: Array) -> tuple[Mask, Ints]:
        """(which of some rows of spans are nodes, the positions of these)."""
        if not len(self.row):
            return np.zeros(len(row), np.bool_), np.zeros(0, np.int64)
        place = np.minimum(np.searchsorted(self.row, row), len(self.row) - 1)
        own = self.row[place] == row
        return own, place[own]


def host_nodes(trace: Trace, facts: Facts, tree: CallTree) -> Nodes:
    """The calls of all threads, as the Operator view has them, and the modules between them. Steps
    are no calls; other Python frames neither.

    As in the Operator view an operator is one with its only child of the same name.
    """
    spans = trace["spans"]
    role, name = spans["role"], spans["name"]
    module = module_names(trace)
    kind = np.full(spans.n, -1, np.int8)
    calls, runtime = _calls(trace, tree)
    for row, what in calls:
        kind[row] = what
    frames = module[name] & (role == Role.PYTHON)
    kind[frames if frames.any() else module[name] & (kind >= 0)] = PathKind.MODULE
    row = np.flatnonzero(kind >= 0)
    position = np.full(spans.n, -1, np.int32)
    position[row] = np.arange(len(row), dtype=np.int32)
    above = facts["span_links"]["parent"]
    inner = nearest(above, kind >= 0)
    around = np.where(inner >= 0, position[inner], np.int32(-1)) if spans.n else position
    outer = above[row]
    parent = np.where(outer >= 0, around[outer], np.int32(-1)) if spans.n else outer
    dur, n = spans["dur"], len(row)
    return Nodes(
        row,
        kind[row].astype(np.uint8),
        parent,
        around,
        _beneath(parent, dur[row], n),
        _beneath(around[runtime], dur[runtime], n),
    )


def module_names(trace: Trace) -> Mask:
    """Which strings of the trace name a module's call, bool of shape (strings + 1,)."""
    spans = trace["spans"]
    role = spans["role"]
    named = np.zeros(len(trace.strings) + 1, np.bool_)
    used = distinct(spans["name"][(role == Role.PYTHON) | is_call(role)], trace.strings)
    named[[number for number in used if trace.strings[number].startswith((MODULE, LIGHTNING))]] = (
        True
    )
    return named


def _calls(trace: Trace, tree: CallTree) -> tuple[list[tuple[Ints, PathKind]], Ints]:
    """(rows of operators and of annotations with their kinds, rows of the runtime calls that no
    other runtime call makes).
    """
    role, name = trace["spans"]["role"][tree.row], trace["spans"]["name"][tree.row]
    call = role == Role.RUNTIME
    annotation = tree.kept & ~tree.is_operator & ~call & (tree.names.step[name] < 0)
    inside = np.zeros(len(call), np.bool_)
    has = tree.parent >= 0
    inside[has] = call[tree.parent[has]]
    found = [
        (tree.row[tree.is_operator], PathKind.OPERATOR),
        (tree.row[annotation], PathKind.ANNOTATION),
    ]
    return found, tree.row[call & ~inside]


def _beneath(parent: Array, dur: Array, n: int) -> Ints:
    has = parent >= 0
    return sum_by(parent[has], n, dur[has])
