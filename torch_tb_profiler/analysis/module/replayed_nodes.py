"""Calls that replays stand for, as nodes of paths: beneath the call that launched the graph.

::

    path of the launch         Model_0 ▸ GraphModule_0
    captured around a kernel             aten::linear ▸ aten::addmm
    path of a replayed kernel  Model_0 ▸ GraphModule_0 ▸ aten::linear ▸ aten::addmm
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import positions_of
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.names import name_mask
from torch_tb_profiler.analysis.facts.replayed import occurrences
from torch_tb_profiler.analysis.figures.naming import MODULE
from torch_tb_profiler.analysis.module.nodes import Nodes
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role


@dataclass(frozen=True)
class ReplayedNodes:
    """Modules, annotations and operators within replays, callers first; arrays of shape (nodes,).

    row: row of spans of the graph launch.
    kind: uint8 ``PathKind``; name: string number.
    parent: node that encloses it, counted behind those of the host; −1 none.
    step: that of the replay, −1 outside.
    work, of_work: rows of spans of work within these nodes, ascending, and the innermost node of
        each.
    """

    row: Ints
    kind: Array
    name: Array
    parent: Ints
    step: Ints
    work: Ints
    of_work: Ints


def replayed_nodes(trace: Trace, facts: Facts, nodes: Nodes) -> ReplayedNodes:
    """The nodes of all replays whose capture is known."""
    calls, launches = trace["captured_calls"], trace["captured_launches"]
    replays, replayed = facts["replays"], facts["replayed_work"]
    kind = _kinds(trace)
    innermost = np.append(nearest(calls["parent"], kind >= 0), np.int32(-1)).astype(np.int64)
    work = np.flatnonzero(replayed["captured"] >= 0)
    call = innermost[launches["call"][replayed["captured"][work]]]
    work, call = work[call >= 0], call[call >= 0]
    found = occurrences(innermost[calls["parent"]], replayed["replay"][work].astype(np.int64), call)
    launch = replays["launch"][found.replay].astype(np.int64)
    n = len(nodes.row)
    row = replayed["span"][work].astype(np.int64)
    step = np.full(replays.n, -1, np.int64)
    step[replayed["replay"]] = facts["span_links"]["step"][replayed["span"]]
    return ReplayedNodes(
        row=launch,
        kind=kind[found.call].astype(np.uint8),
        name=calls["name"][found.call],
        parent=np.where(found.above >= 0, found.above + n, nodes.around[launch]),
        step=step[found.replay],
        work=row,
        of_work=found.of_work + n,
    )


def node_of(replayed: ReplayedNodes, row: Ints) -> Ints:
    """Of device events (rows) the innermost replayed node, −1 none."""
    return np.asarray(np.append(replayed.of_work, -1)[positions_of(replayed.work, row)])


def _kinds(trace: Trace) -> Array:
    """``PathKind`` of every captured call, int8; −1 for Python frames other than modules."""
    calls = trace["captured_calls"]
    module = name_mask(trace.strings, calls["name"], lambda text: text.startswith(MODULE))
    kind = np.full(calls.n, -1, np.int8)
    kind[calls["role"] == Role.OPERATOR] = PathKind.OPERATOR
    kind[calls["role"] == Role.ANNOTATION] = PathKind.ANNOTATION
    kind[module[calls["name"]] & (calls["role"] == Role.PYTHON)] = PathKind.MODULE
    return kind
