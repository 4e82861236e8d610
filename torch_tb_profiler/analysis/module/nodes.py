"""The calls that paths consist of: modules, annotations and operators."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import places_in, positions_of, scatter, sum_by
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.calltree import CallTree, is_call
from torch_tb_profiler.analysis.facts.host_names import name_mask
from torch_tb_profiler.analysis.facts.replay_calls import ReplayedCalls, replayed_calls
from torch_tb_profiler.analysis.figures.event_kinds import MODULE
from torch_tb_profiler.analysis.module.named_modules import LIGHTNING, compiled_names
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role


class ReplayedNodes(msgspec.Struct, frozen=True):
    """Modules, annotations and operators within replays, callers first; arrays of shape (nodes,).

    Calls that replays stand for, as nodes of paths: beneath the call that launched the graph.

    ::

        path of the launch         Model_0 ▸ GraphModule_0
        captured around a kernel             aten::linear ▸ aten::addmm
        path of a replayed kernel  Model_0 ▸ GraphModule_0 ▸ aten::linear ▸ aten::addmm

    calls: the calls.
    kind: uint8 ``PathKind``; name: string number.
    parent: node that encloses it, counted behind those of the host; −1 none.
    """

    calls: ReplayedCalls
    kind: Array
    name: Array
    parent: Ints


class Nodes(msgspec.Struct, frozen=True):
    """Arrays of shape (nodes,) unless said otherwise; positions count nodes, ancestors come first.

    row: rows of spans, ascending.
    kind: uint8 ``PathKind``.
    parent: position of the innermost enclosing node on its thread; −1 none.
    around: per row of spans the position of the innermost node at or around it (−1 for device
        work); int32.
    children, runtime: Σ duration of the nodes, and of the runtime calls, directly beneath, ns.
    """

    row: Ints
    kind: Array
    parent: Array
    around: Array
    children: Ints
    runtime: Ints

    def of_spans(self, row: Array) -> tuple[Mask, Ints]:
        """``(is_node, positions)``: which of some rows of spans are nodes, and their positions."""
        position = positions_of(self.row, row)
        return position >= 0, position[position >= 0]


def host_nodes(trace: Trace, facts: Facts, tree: CallTree) -> Nodes:
    """The call tree's calls of all threads, with modules, without steps and other frames."""
    spans = trace["spans"]
    role, name = spans["role"], spans["name"]
    module = module_names(trace)
    kind, runtime = _calls(trace, tree)
    frames = module[name] & (role == Role.PYTHON)
    kind[frames if frames.any() else module[name] & (kind >= 0)] = PathKind.MODULE
    kind[compiled_names(trace)[name] & (kind >= 0)] = PathKind.MODULE
    row = np.flatnonzero(kind >= 0)
    position = places_in(spans.n, row, np.int32)
    above = facts["span_links"]["parent"]
    inner = nearest(above, kind >= 0)
    around = np.where(inner >= 0, position[inner], np.int32(-1)) if spans.n else position
    outer = above[row]
    parent = np.where(outer >= 0, around[outer], np.int32(-1)) if spans.n else outer
    dur, n = spans["dur"], len(row)
    children = _beneath(parent, dur[row], n)
    in_runtime = _beneath(around[runtime], dur[runtime], n)
    return Nodes(row, kind[row].astype(np.uint8), parent, around, children, in_runtime)


def module_names(trace: Trace) -> Mask:
    """Which strings of the trace name a module's call, bool of shape (strings + 1,)."""
    spans = trace["spans"]
    role = spans["role"]
    used = spans["name"][(role == Role.PYTHON) | is_call(role)]
    return name_mask(trace.strings, used, lambda text: text.startswith((MODULE, LIGHTNING)))


def _calls(trace: Trace, tree: CallTree) -> tuple[Array, Ints]:
    """``(kind, runtime)``: int8 ``PathKind`` of every row of spans, −1 neither operator nor
    annotation; rows of the outermost runtime calls.
    """
    role, name = trace["spans"]["role"][tree.row], trace["spans"]["name"][tree.row]
    call = role == Role.RUNTIME
    annotation = tree.kept & ~tree.is_operator & ~call & (tree.names.step[name] < 0)
    kind = scatter(trace["spans"].n, tree.row[tree.is_operator], PathKind.OPERATOR, -1, np.int8)
    kind[tree.row[annotation]] = PathKind.ANNOTATION
    return kind, tree.row[call & ~np.append(call, np.False_)[tree.parent]]


def _beneath(parent: Array, dur: Array, n: int) -> Ints:
    has_parent = parent >= 0
    return sum_by(parent[has_parent], n, dur[has_parent])


def replayed_nodes(trace: Trace, facts: Facts, nodes: Nodes) -> ReplayedNodes:
    """The nodes of all replays whose capture is known."""
    kind = _kinds(trace)
    step = facts["span_links"]["step"][facts["replayed_work"]["span"]]
    calls = replayed_calls(trace, facts.tables, step, kind >= 0)
    outer = nodes.around[calls.launch]
    return ReplayedNodes(
        calls,
        kind[calls.call].astype(np.uint8),
        trace["captured_calls"]["name"][calls.call],
        np.where(calls.above >= 0, calls.above + len(nodes.row), outer),
    )


def _kinds(trace: Trace) -> Array:
    """``PathKind`` of every captured call, int8; −1 for Python frames other than modules."""
    calls = trace["captured_calls"]
    module = name_mask(trace.strings, calls["name"], lambda text: text.startswith(MODULE))
    kind = scatter(calls.n, calls["role"] == Role.OPERATOR, PathKind.OPERATOR, -1, np.int8)
    kind[calls["role"] == Role.ANNOTATION] = PathKind.ANNOTATION
    kind[module[calls["name"]] & (calls["role"] == Role.PYTHON)] = PathKind.MODULE
    return kind
