"""Calls that replays stand for, as nodes of paths: beneath the call that launched the graph.

::

    path of the launch         Model_0 ▸ GraphModule_0
    captured around a kernel             aten::linear ▸ aten::addmm
    path of a replayed kernel  Model_0 ▸ GraphModule_0 ▸ aten::linear ▸ aten::addmm
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.facts.names import name_mask
from torch_tb_profiler.analysis.facts.replayed import ReplayedCalls, replayed_calls
from torch_tb_profiler.analysis.figures.naming import MODULE
from torch_tb_profiler.analysis.module.nodes import Nodes
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role


@dataclass(frozen=True)
class ReplayedNodes:
    """Modules, annotations and operators within replays, callers first; arrays of shape (nodes,).

    calls: the calls.
    kind: uint8 ``PathKind``; name: string number.
    parent: node that encloses it, counted behind those of the host; −1 none.
    """

    calls: ReplayedCalls
    kind: Array
    name: Array
    parent: Ints


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
    kind = np.full(calls.n, -1, np.int8)
    kind[calls["role"] == Role.OPERATOR] = PathKind.OPERATOR
    kind[calls["role"] == Role.ANNOTATION] = PathKind.ANNOTATION
    kind[module[calls["name"]] & (calls["role"] == Role.PYTHON)] = PathKind.MODULE
    return kind
