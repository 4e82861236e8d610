"""Which operator ran when the allocator wrote a record, where in the model, and from which line.

::

    thread    [aten::linear                    ]        nodes   linear
                 [aten::addmm         ]                          └─ addmm
    records          +512        -512     +64                   addmm, addmm, linear
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import (
    climb,
    depths,
    innermost_at,
    nearest,
    with_ancestors,
)
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.analysis.facts.links import host_mask
from torch_tb_profiler.analysis.facts.names import distinct
from torch_tb_profiler.analysis.facts.stacks import call_stacks
from torch_tb_profiler.analysis.figures.source_lines import line_ranks, lines_of_stacks
from torch_tb_profiler.analysis.memory.forest import DEEPEST, outermost
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringBuilder, StringTable


@dataclass(frozen=True)
class Origins:
    """Of every record, arrays of shape (records,), −1 unknown; and the table ``memory_nodes``.

    node: row of ``nodes``: the innermost operator that ran then on its thread; an operator is
        running from its begin, and until just before its end.
    path: row of ``paths``.
    line: number of an own text, see ``analysis/figures/source_lines.py``.
    """

    node: Ints
    path: Ints
    line: Ints
    nodes: Table


def origins(
    trace: Trace,
    facts: Facts,
    tables: dict[str, Table],
    texts: StringBuilder,
    tree: CallTree,
    track: Array,
    time: Ints,
) -> Origins:
    """Where records (int64 ns of shape (records,) and their rows of tracks) come from. ``tables``
    hold ``span_paths``.
    """
    links, paths = facts["span_links"], tables["span_paths"]["path"]
    inner = _innermost(trace, links, track, time)
    call = climb(links["parent"], inner, tree.node >= 0)
    operator = (
        np.where(call >= 0, tree.operator[tree.node[call]], -1)
        if len(tree.row)
        else np.full(len(inner), -1)
    )
    kept, parent, depth, node = _with_ancestors(tree, operator)
    stack = _stacks(trace, facts, tree)[kept]
    event = tree.row[kept]
    name = _own(trace["spans"]["name"][event], trace.strings, texts)
    nodes = schema.MEMORY_NODES.build(
        parent=parent,
        depth=depth,
        outermost=outermost(parent, name),
        event=event,
        name=name,
        path=paths[event],
        stack=stack,
    )
    return Origins(node, _at(paths, inner), _lines(trace, facts, texts, node, nodes, inner), nodes)


def _innermost(trace: Trace, links: Table, track: Array, time: Ints) -> Ints:
    """Rows of the innermost host spans, Python frames included, that are open at some times on
    their tracks.
    """
    spans = trace["spans"]
    asked = np.zeros(trace["tracks"].n + 1, np.bool_)
    asked[track] = True
    is_asked = host_mask(trace) & asked[spans["track"]]
    row = np.flatnonzero(is_asked)
    place = np.cumsum(is_asked) - 1
    start, above = spans["start"][row], links["parent"][row]
    parent = np.where(above >= 0, place[above], -1) if len(row) else above
    return _at(
        row,
        innermost_at(spans["track"][row], start, start + spans["dur"][row], parent, track, time),
    )


def _with_ancestors(tree: CallTree, operator: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """``(kept, parent, depth, node)`` of some operators (−1 allowed) and all operators around them,
    by depth.

    Their positions in the tree, place among them of each one's parent, number of operators around
    each; and the place of each operator that was given. One with ``DEEPEST`` operators or more
    around it counts as the last of these.
    """
    above = np.append(nearest(tree.parent, tree.is_operator), np.int32(-1))[tree.parent]
    asked = np.zeros(len(tree.row), np.bool_)
    asked[operator[operator >= 0]] = True
    kept = np.flatnonzero(with_ancestors(above, asked))
    parent = np.where(above[kept] >= 0, np.searchsorted(kept, above[kept]), -1)
    depth = depths(parent)
    shallow = nearest(parent, depth < DEEPEST)
    order = np.argsort(depth, kind="stable")
    order = order[: int(np.count_nonzero(depth < DEEPEST))]
    place = np.full(len(kept) + 1, -1, np.int64)
    place[order] = np.arange(len(order))
    node = np.where(
        operator >= 0, place[np.append(shallow, -1)[np.searchsorted(kept, operator)]], -1
    )
    return kept[order], place[parent[order]], depth[order], node


def _stacks(trace: Trace, facts: Facts, tree: CallTree) -> Ints:
    """Row of ``facts["stacks"]`` of every node of the tree: the facts were made by the same rules
    in the same order.
    """
    if not facts["stacks"].n:
        return np.full(len(tree.row), -1, np.int64)
    return call_stacks(
        trace, tree, facts["span_links"]["parent"].astype(np.int64), StringBuilder(facts.strings)
    ).of_node


def _lines(
    trace: Trace, facts: Facts, texts: StringBuilder, node: Ints, nodes: Table, inner: Ints
) -> Ints:
    """The line of each record by the stack of its operator; outside operators by the Python frames
    around it, by the same rule.
    """
    spans, parent = trace["spans"], facts["span_links"]["parent"]
    stack = _at(nodes["stack"], node)
    frame = _at(lines_of_stacks(facts), stack) if facts["stacks"].n else stack
    outside = np.where(node < 0, inner, -1)
    is_frame = spans["role"] == Role.PYTHON
    if (outside >= 0).any() and is_frame.any():
        rank = line_ranks(trace.strings, spans["name"][is_frame])[spans["name"]]
        for least in (0, 1, 2):
            found = climb(parent, outside, is_frame & (rank >= least))
            frame = np.where(found >= 0, _at(spans["name"], found), frame)
    return _own(frame, facts.strings, texts)


def _own(numbers: Array, strings: StringTable, texts: StringBuilder) -> Ints:
    """Numbers of strings of the trace or its facts → numbers of the insight's own texts; −1 stays."""
    used = distinct(numbers, strings)
    found = np.full(len(strings) + 1, -1, np.int64)
    found[used] = texts.intern_all(strings.many(used))
    return found[numbers]


def _at(values: Array, place: Ints) -> Ints:
    """``values[place]`` as int64, −1 where the place is −1."""
    return np.append(values, -1).astype(np.int64)[place]
