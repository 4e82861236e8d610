"""Where in the program a kernel comes from: its layer, and the lines of user code that lead to it.

::

    /train.py(9): step                                     /        call trace  train.py:9 -> model.py:5
    (layer:encoder                                        )         layer       encoder, else the nn.Modules around it
      /model.py(5): forward  /  /torch/nn/functional.py(3)/
        [aten::mm] ← kernel       (the line is written where the frame begins)
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.host_names import name_mask
from torch_tb_profiler.analysis.facts.operators import operator_arguments
from torch_tb_profiler.analysis.facts.stacks import frame_stacks
from torch_tb_profiler.analysis.figures.source_lines import frame_ranks
from torch_tb_profiler.analysis.module.modules import module_tree
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

LAYER = "layer:"
"""Prefix of PyProf users' own ranges."""
_USERS, _PYTHON = 2, 1


class KernelSources(msgspec.Struct, frozen=True):
    """Arrays of shape (kernels,) unless said otherwise; −1 none, texts are string numbers of the
    trace.

    layer: a ``layer:NAME`` range.
    module: row of the module tree.
    stack: row of ``caller`` and ``frame``: the innermost line.
    written: a ``Call stack`` argument, frames joined by semicolons, innermost first.
    caller, frame: the distinct lines as a tree, shape (lines,): calling line and frame.
    modules, module_names: parent and name (insight string) of every module, shape (modules,).
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
    """The sources of kernels.

    row: rows of spans of the kernels, or of what captured them.
    anchor: row of the call that locates each: its forward operator, operator, capture or launch; −1
        unknown.
    """
    tree = module_tree(insight)
    path = insight["span_paths"]["path"][row]
    module = np.append(tree.of_path, -1)[path]
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
    """``(stack, caller, frame)``: user code, or without any the other Python frames."""
    spans = trace["spans"]
    nothing = np.zeros(0, np.int64)
    if not (spans["role"] == Role.PYTHON).any():
        return np.full(len(anchor), -1, np.int64), nothing, nothing
    rank = frame_ranks(trace)
    users = rank >= _USERS
    inner = _at(nearest(above, users), anchor)
    inner = np.where(inner >= 0, inner, _at(nearest(above, rank == _PYTHON), anchor))
    caller, frame, stack = frame_stacks(trace, above, inner, users)
    return stack, caller, frame


def _written(trace: Trace, above: Array, anchor: Ints) -> Ints:
    """``Call stack`` arguments of the innermost operators that have one."""
    text = operator_arguments(trace, "stack").astype(np.int64)
    return np.asarray(text[_at(nearest(above, text[:-1] >= 0), anchor)])


def _at(values: Array, anchor: Ints) -> Ints:
    """``values`` at the rows ``anchor``, −1 where that is −1; int64."""
    return np.append(values, -1)[anchor].astype(np.int64)
