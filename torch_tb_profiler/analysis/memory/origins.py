"""The operator, path and source line that were active at each allocator record.

::

    thread    [aten::linear                    ]        nodes   linear
                 [aten::addmm         ]                          └─ addmm
    records          +512        -512     +64                   addmm, addmm, linear
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of, picked, places_in, scatter
from torch_tb_profiler.analysis.arrays.nesting import (
    climb,
    depths,
    innermost_at,
    nearest,
    with_ancestors,
)
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.analysis.facts.host_names import distinct
from torch_tb_profiler.analysis.facts.links import host_mask
from torch_tb_profiler.analysis.facts.stacks import call_stacks
from torch_tb_profiler.analysis.figures.source_lines import (
    RANKS,
    frame_ranks,
    lines_of_stacks,
    shown_frames,
)
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringBuilder, StringTable

DEEPEST = 256
"""Depth limit of the calls around an allocation; only hostile traces nest deeper."""


class Origins(msgspec.Struct, frozen=True):
    """Arrays of shape (records,), −1 unknown; and the table ``memory_nodes``.

    node: row of ``nodes``: the innermost operator that ran on the record's thread, from its start
        until just before its end.
    path: row of ``paths``.
    line: insight string, see ``figures/source_lines.py``.
    inner: row of spans: the innermost host span or frame then on its thread.
    """

    node: Ints
    path: Ints
    line: Ints
    inner: Ints
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
    """The origins of records, given their rows of tracks and times (int64 ns)."""
    links, paths = facts["span_links"], tables["span_paths"]["path"]
    inner = innermost_spans(trace, links, track, time)
    call = climb(links["parent"], inner, tree.node >= 0)
    operator = _at(tree.operator, picked(tree.node, call))
    nodes_in_tree, parent, depth, node = _with_ancestors(tree, operator)
    stack = _stacks(trace, facts, tree)[nodes_in_tree]
    event = tree.row[nodes_in_tree]
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
    line = _lines(trace, facts, texts, node, nodes, inner)
    return Origins(node, _at(paths, inner), line, inner, nodes)


def innermost_spans(trace: Trace, links: Table, track: Array, time: Ints) -> Ints:
    """Rows of the innermost host spans, or frames, open at times on tracks; −1 none."""
    spans = trace["spans"]
    has_records = mask_of(trace["tracks"].n + 1, track)
    is_candidate = host_mask(trace) & has_records[spans["track"]]
    row = np.flatnonzero(is_candidate)
    position = np.cumsum(is_candidate) - 1
    start, above = spans["start"][row], links["parent"][row]
    parent = np.where(above >= 0, position[above], -1) if len(row) else above
    return _at(
        row,
        innermost_at(spans["track"][row], start, start + spans["dur"][row], parent, track, time),
    )


def outermost(parent: Array, name: Array) -> Mask:
    """Which nodes have no ancestor (of the nearest ``DEEPEST``) of their own name, bool."""
    is_outermost = np.ones(len(parent), np.bool_)
    active = np.flatnonzero(parent >= 0)
    above = parent[active]
    for _ in range(DEEPEST):
        if not len(active):
            break
        same = name[above] == name[active]
        is_outermost[active[same]] = False
        active, above = active[~same], parent[above[~same]]
        active, above = active[above >= 0], above[above >= 0]
    return is_outermost


def _with_ancestors(tree: CallTree, operator: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """``(kept, parent, depth, node)`` of some operators (−1 allowed) and all operators around them,
    by depth.

    kept: positions in the tree.
    parent: position in ``kept`` of the enclosing operator.
    depth: number of operators around it, less than ``DEEPEST``.
    node: position in ``kept`` of each given operator, or of its innermost shallow ancestor.
    """
    above = picked(nearest(tree.parent, tree.is_operator), tree.parent)
    is_given = mask_of(len(tree.row), operator[operator >= 0])
    kept = np.flatnonzero(with_ancestors(above, is_given))
    parent = np.where(above[kept] >= 0, np.searchsorted(kept, above[kept]), -1)
    depth = depths(parent)
    shallow = nearest(parent, depth < DEEPEST)
    order = np.argsort(depth, kind="stable")
    order = order[: int(np.count_nonzero(depth < DEEPEST))]
    position = places_in(len(kept) + 1, order)
    node = np.where(
        operator >= 0, position[np.append(shallow, -1)[np.searchsorted(kept, operator)]], -1
    )
    return kept[order], position[parent[order]], depth[order], node


def _stacks(trace: Trace, facts: Facts, tree: CallTree) -> Ints:
    """Row of ``stacks`` per call tree node: ``call_stacks`` reproduces those of the facts."""
    if not facts["stacks"].n:
        return np.full(len(tree.row), -1, np.int64)
    enclosing, launches = facts["span_links"]["parent"], facts["replays"]["launch"]
    return call_stacks(trace, tree, enclosing, StringBuilder(facts.strings), launches).of_node


def _lines(
    trace: Trace, facts: Facts, texts: StringBuilder, node: Ints, nodes: Table, inner: Ints
) -> Ints:
    """The line of each record, by the stack of its operator, else by the Python frames around it."""
    spans, parent = trace["spans"], facts["span_links"]["parent"]
    stack = _at(nodes["stack"], node)
    frame = _at(lines_of_stacks(facts), stack) if facts["stacks"].n else stack
    outside = np.where(node < 0, inner, -1)
    is_frame = spans["role"] == Role.PYTHON
    if (outside >= 0).any() and is_frame.any():
        rank = frame_ranks(trace)
        for least in (0, *RANKS):
            around = climb(parent, outside, is_frame & (rank >= least))
            frame = np.where(around >= 0, _at(spans["name"], around), frame)
    frame = shown_frames(facts, frame)
    return _own(frame, facts.strings, texts)


def _own(numbers: Array, strings: StringTable, texts: StringBuilder) -> Ints:
    """String numbers of the trace or its facts → insight strings; −1 stays."""
    used = distinct(numbers, strings)
    own = scatter(
        len(strings) + 1, np.asarray(used, np.int64), texts.intern_all(strings.many(used))
    )
    return own[numbers]


def _at(values: Array, position: Ints) -> Ints:
    """``values[position]`` as int64, −1 where the position is −1."""
    return np.append(values, -1).astype(np.int64)[position]
