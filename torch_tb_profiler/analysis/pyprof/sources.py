"""Where in the program a kernel comes from: its layer, and the lines of the user's program that
lead to it.

::

    /train.py(9): step                                     /        call trace  train.py:9 -> model.py:5
    (layer:encoder                                        )         layer       encoder, else the nn.Modules around it
      /model.py(5): forward  /  /torch/nn/functional.py(3)/
        [aten::mm] ← kernel       (the line is written where the frame begins)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.names import name_mask
from torch_tb_profiler.analysis.facts.stacks import frames_needed
from torch_tb_profiler.analysis.figures.source_lines import line_ranks
from torch_tb_profiler.analysis.module.frames import MOST_FRAMES
from torch_tb_profiler.analysis.module.modules import module_tree
from torch_tb_profiler.analysis.module.numbering import PathLayout, number_paths
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

LAYER = "layer:"
"""How PyProf's users name a range of their own."""
_USERS, _PYTHON = 2, 1


@dataclass(frozen=True)
class KernelSources:
    """Arrays of shape (kernels,) unless said otherwise; −1 none.

    layer: number of a string of the trace, a ``layer:NAME`` range.
    module: row of the module tree.
    stack: row of ``caller`` and ``frame``: the innermost line.
    written: number of a string of the trace: a ``Call stack`` argument, frames joined by
        semicolons, innermost first.
    caller, frame: the distinct lines as a tree, shape (lines,): what called a line, and its frame,
    a number of a string of the trace. modules, module_names: what is around every module, and the
    number of its name among the strings of the insight, shape (modules,).
    """

    layer: Ints
    module: Ints
    stack: Ints
    written: Ints
    caller: Ints
    frame: Ints
    modules: Ints
    module_names: Ints


def kernel_sources(
    trace: Trace, facts: Facts, insight: Insight, row: Ints, anchor: Ints
) -> KernelSources:
    """The places of kernels.

    Args:
        row: rows of spans of the kernels; of those that replay a graph of what captured them.
        anchor: row of the call that tells where each is: its forward operator, its operator, its
            capture or its launch; −1 unknown.
    """
    tree = module_tree(insight)
    path = insight["span_paths"]["path"][row]
    module = (
        np.where(path >= 0, tree.of_path[path], -1) if len(tree.of_path) else np.full(len(row), -1)
    )
    above = facts["span_links"]["parent"]
    stack, caller, frame = _lines(trace, above, anchor)
    return KernelSources(
        _layers(trace, above, anchor),
        module,
        stack,
        _written(trace, above, anchor),
        caller,
        frame,
        tree.parent,
        tree.name,
    )


def _layers(trace: Trace, above: Array, anchor: Ints) -> Ints:
    """Names of the innermost ``layer:NAME`` ranges."""
    spans = trace["spans"]
    host = (spans["role"] == Role.ANNOTATION) | (spans["role"] == Role.OPERATOR)
    named = name_mask(trace.strings, spans["name"][host], lambda text: text.startswith(LAYER))
    if not named.any():
        return np.full(len(anchor), -1, np.int64)
    around = _at(nearest(above, host & named[spans["name"]]), anchor)
    return np.where(around >= 0, spans["name"][around], -1).astype(np.int64)


def _lines(trace: Trace, above: Array, anchor: Ints) -> tuple[Ints, Ints, Ints]:
    """(line of every kernel, caller of every line, frame of every line): lines of the user's own
    program, where there is none of another Python file.
    """
    spans = trace["spans"]
    python = spans["role"] == Role.PYTHON
    nothing = np.zeros(0, np.int64)
    if not python.any():
        return np.full(len(anchor), -1, np.int64), nothing, nothing
    rank = np.where(python, line_ranks(trace.strings, spans["name"][python])[spans["name"]], 0)
    users = rank == _USERS
    inner = _at(nearest(above, users), anchor)
    inner = np.where(inner >= 0, inner, _at(nearest(above, rank == _PYTHON), anchor))
    used, caller = frames_needed(above.astype(np.int64), users, inner)
    laid = PathLayout(
        caller,
        spans["name"][used].astype(np.int64),
        np.full(len(used), -1),
        np.zeros(len(used), np.bool_),
    )
    tree = number_paths(laid, nothing, nothing, deep=MOST_FRAMES, most=len(used))
    known = inner >= 0
    stack = np.full(len(anchor), -1, np.int64)
    stack[known] = tree.path[np.searchsorted(used, inner[known])]
    return stack, tree.parent, tree.code


def _written(trace: Trace, above: Array, anchor: Ints) -> Ints:
    """``Call stack`` arguments of the innermost operators that have one."""
    arguments = trace["operator_args"]
    told = np.flatnonzero(arguments["stack"] >= 0)
    text = np.full(trace["spans"].n + 1, -1, np.int64)
    text[arguments["span"][told]] = arguments["stack"][told]
    return (
        np.asarray(text[_at(nearest(above, text[:-1] >= 0), anchor)])
        if len(told)
        else np.full(len(anchor), -1, np.int64)
    )


def _at(found: Array, anchor: Ints) -> Ints:
    """What is found for the rows ``anchor``; −1 where that is −1."""
    return (
        np.where(anchor >= 0, found[anchor], -1).astype(np.int64)
        if len(found)
        else np.full(len(anchor), -1, np.int64)
    )
