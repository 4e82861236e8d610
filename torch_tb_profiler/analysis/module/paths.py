"""Paths of calls: the merged call trees of all threads and steps, with modules and backward pass.

::

    [aten::linear      ] [aten::linear ]           Linear_0             calls 2
      [aten::addmm    ]    [aten::addmm]             aten::linear       calls 2
    /nn.Module: Linear_0             /                 aten::addmm      calls 2
                           [AddmmBackward0]          AddmmBackward0     calls 1, backward
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by, sum_rows
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.arrays.numbering import (
    REST,
    NumberedPaths,
    PathLayout,
    number_paths,
)
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.analysis.facts.host_names import distinct
from torch_tb_profiler.analysis.facts.operators import DEEP
from torch_tb_profiler.analysis.facts.replay_calls import captured_operators, joined
from torch_tb_profiler.analysis.facts.stacks import frame_stacks
from torch_tb_profiler.analysis.figures.event_kinds import MODULE
from torch_tb_profiler.analysis.module.backward import attribute_backward
from torch_tb_profiler.analysis.module.named_modules import (
    LIGHTNING,
    NamedModules,
    compiled_names,
    compiled_title,
    hierarchy_names,
    lightning_names,
)
from torch_tb_profiler.analysis.module.nodes import Nodes, ReplayedNodes, host_nodes, replayed_nodes
from torch_tb_profiler.analysis.module.sums import (
    LaunchedWork,
    launched_work,
    name_steps,
    path_steps,
)
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringBuilder

_REST_NAME = "further calls"


class _Written(msgspec.Struct, frozen=True):
    """Modules named in texts: their tree; per node, of shape (nodes,), −1 none, the module it is
    in, or is a call of.
    """

    tree: NamedModules
    inside: Array
    itself: Array


def build_paths(
    trace: Trace, facts: Facts, tables: dict[str, Table], texts: StringBuilder, tree: CallTree
) -> tuple[dict[str, Table], dict[str, object]]:
    """All tables of paths, lines and operator sums."""
    nodes = host_nodes(trace, facts, tree)
    written = _written(trace, nodes)
    collective = tree.names.collective[trace["spans"]["name"][nodes.row]]
    backward = attribute_backward(trace, nodes, written.inside, collective)
    replayed = replayed_nodes(trace, facts, nodes)
    kinds, code, modules = _codes(trace, nodes, replayed, written, backward.backward, texts)
    settled = written.itself >= 0
    given = np.where(settled, written.itself, backward.given)
    none = np.full(len(replayed.calls), -1)
    layout = PathLayout(
        joined(backward.parent, replayed.parent),
        code,
        joined(given, none),
        joined(settled, none >= 0),
    )
    numbered = number_paths(layout, np.array(written.tree.parent, np.int64), modules, DEEP)
    work = launched_work(trace, facts, nodes, replayed)
    steps, of_spans = path_steps(trace, facts, nodes, replayed, numbered, work)
    lines, line_steps = _launch_lines(trace, facts, work)
    row = joined(nodes.row, replayed.calls.launch)
    paths = _paths(trace, row, numbered, kinds, texts, len(modules))
    about = {
        "module_source": _source(trace, nodes, replayed, written),
        "backward": backward.counts,
        "paths_pooled": int(numbered.pooled.sum()),
    }
    tables = {
        "paths": paths,
        "path_steps": steps,
        "path_sums": sum_rows(schema.PATH_SUMS, steps, "path", paths.n),
        "span_paths": of_spans,
        "backward_functions": backward.functions,
        "lines": lines,
        "line_steps": line_steps,
        "name_steps": name_steps(facts),
    }
    return tables, about


def _source(trace: Trace, nodes: Nodes, replayed: ReplayedNodes, written: _Written) -> str:
    """Where modules come from: ``module_source`` of ``Insight.about``."""
    if (written.inside >= 0).any():
        return "hierarchy"
    module = nodes.kind == PathKind.MODULE
    again = (replayed.kind == PathKind.MODULE).any()
    if not module.any() and not again:
        return ""
    if not again and compiled_names(trace)[trace["spans"]["name"][nodes.row[module]]].all():
        return "compiled"
    return "lightning" if (written.itself >= 0).any() else "python"


def _written(trace: Trace, nodes: Nodes) -> _Written:
    tree = NamedModules()
    none = np.full(len(nodes.row), -1, np.int64)
    module_of_text = np.full(len(trace.strings) + 1, -1, np.int64)
    module = nodes.kind == PathKind.MODULE
    module &= ~compiled_names(trace)[trace["spans"]["name"][nodes.row]]
    if module.any():
        called = [
            trace.strings[number]
            for number in distinct(trace["spans"]["name"][nodes.row[module]], trace.strings)
        ]
        for text, names in lightning_names(
            [text for text in called if text.startswith(LIGHTNING)]
        ).items():
            module_of_text[trace.strings.number(text)] = tree.add(names)
        return _Written(
            tree, none, np.where(module, module_of_text[trace["spans"]["name"][nodes.row]], -1)
        )
    arguments = trace["operator_args"]
    for number in distinct(arguments["hierarchy"], trace.strings):
        module_of_text[number] = tree.add(hierarchy_names(trace.strings[number]))
    inside = none.copy()
    own, position = nodes.of_spans(arguments["span"])
    inside[position] = module_of_text[arguments["hierarchy"][own]]
    return _Written(tree, inside, none)


def _codes(
    trace: Trace,
    nodes: Nodes,
    replayed: ReplayedNodes,
    written: _Written,
    backward: Array,
    texts: StringBuilder,
) -> tuple[tuple[Array, ...], Ints, Ints]:
    """``(kinds, code, modules)``: distinct (kind, name, backward); codes of nodes and modules."""
    name = joined(trace["spans"]["name"][nodes.row], replayed.name)
    used = distinct(name, trace.strings)
    own = np.full(len(trace.strings) + 1, texts.intern(""), np.int64)
    own[used] = texts.intern_all(
        [compiled_title(trace.strings[number].removeprefix(MODULE).lstrip()) for number in used]
    )
    modules = np.array(texts.intern_all(written.tree.name), np.int64)
    kind = np.concatenate((nodes.kind, replayed.kind, np.full(len(modules), PathKind.MODULE)))
    both = (
        kind,
        np.concatenate((own[name], modules)),
        np.concatenate((backward, np.zeros(len(replayed.calls) + len(modules), np.bool_))),
    )
    first, code = group_rows(both)
    return tuple(column[first] for column in both), code[: len(name)], code[len(name) :]


def _paths(
    trace: Trace,
    row_of: Ints,
    numbered: NumberedPaths,
    kinds: tuple[Array, ...],
    texts: StringBuilder,
    written: int,
) -> Table:
    """The table ``paths``; its first ``written`` rows are named modules without calls. ``row_of``: of
    every call its row of spans, of replayed ones that of the graph launch.
    """
    start, dur = trace["spans"]["start"], trace["spans"]["dur"]
    n = len(numbered.parent)
    own = np.flatnonzero(~numbered.pooled)
    path, row = numbered.path[own], row_of[own]
    longest = np.full(n, -1, np.int64)
    np.maximum.at(longest, path, dur[row])
    # Rows are in time order; assigned in reverse, the earliest wins.
    earliest, example = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    earliest[path[::-1]] = row[::-1]
    most = dur[row] == longest[path]
    example[path[most][::-1]] = row[most][::-1]
    _of_beneath(numbered.parent, earliest, written)
    example = np.where(example >= 0, example, earliest)
    rest = numbered.code == REST
    kind, name, backward = (
        np.where(rest, instead, column[numbered.code]) if n else column[:0]
        for column, instead in zip(
            kinds,
            (int(PathKind.ANNOTATION), texts.intern(_REST_NAME) if rest.any() else 0, 0),
            strict=True,
        )
    )
    first = np.where(earliest >= 0, start[earliest], 0) if len(start) else earliest
    return schema.PATHS.build(
        parent=numbered.parent, kind=kind, name=name, backward=backward, event=example, first=first
    )


def _of_beneath(parent: Ints, earliest: Ints, written: int) -> None:
    """Give the first ``written`` paths without a call their descendants' earliest call."""
    lowest = np.where(earliest >= 0, earliest, np.iinfo(np.int64).max)
    beneath = np.flatnonzero(
        (parent >= 0) & (parent < written) & (np.arange(len(parent)) >= written)
    )
    np.minimum.at(lowest, parent[beneath], lowest[beneath])
    for module in range(written - 1, -1, -1):
        above = int(parent[module])
        if above >= 0:
            lowest[above] = min(lowest[above], lowest[module])
    missing = np.flatnonzero(earliest[:written] < 0)
    earliest[missing] = np.where(lowest[missing] == np.iinfo(np.int64).max, -1, lowest[missing])


def _launch_lines(trace: Trace, facts: Facts, work: LaunchedWork) -> tuple[Table, Table]:
    """The tables ``lines`` and ``line_steps``, which complete the facts' operator stacks."""
    spans, links = trace["spans"], facts["span_links"]
    is_frame = spans["role"] == Role.PYTHON
    unnamed = (links["operator"][work.row] < 0) & (captured_operators(trace, facts, work.row) < 0)
    outside = np.flatnonzero(unnamed & (links["launch"][work.row] >= 0))
    if not len(outside) or not is_frame.any():
        return schema.LINES.empty(), schema.LINE_STEPS.empty()
    frame = nearest(links["parent"], is_frame)[links["launch"][work.row[outside]]].astype(np.int64)
    outside, frame = outside[frame >= 0], frame[frame >= 0]
    callers, frames, line = frame_stacks(trace, links["parent"], frame, is_frame)
    step = work.step[outside]
    first, group = group_rows((step, line))
    n = len(first)
    return schema.LINES.build(parent=callers, frame=frames), schema.LINE_STEPS.build(
        line=line[first],
        step=step[first],
        device=sum_by(group, n, spans["dur"][work.row[outside]]),
        launched=np.bincount(group, minlength=n),
    )
