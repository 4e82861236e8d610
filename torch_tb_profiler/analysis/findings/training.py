"""Which host spans are a program's own training or inference: model, backward, optimizer, input and communication.

What else happens in a step is housekeeping: logging, metrics, checkpoints, averages of weights. An operator
belongs to the model's forward where a backward function has its sequence number, what calls it as
well; where nothing is differentiated, every module does.
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import nearest, with_ancestors
from torch_tb_profiler.analysis.facts.names import spans_named
from torch_tb_profiler.analysis.findings.case import Case
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.roles import Role

_MODULE = re.compile(r"nn\.Module: ")
_BACKWARD = re.compile(
    r"autograd::engine::evaluate_function|<built-in method run_backward |torch/autograd/graph\.py"
)
_NOT_HOUSEKEEPING = re.compile(
    r"torch/(?:optim|profiler|distributed|nn/parallel|utils/data|_dynamo|_inductor)/"
    r"|torch_tb_profiler/|torch/(?:autograd/profiler|_tensor|autograd/__init__)\.py.*: (?:step|backward|_enter|_exit)"
)
_OPTIMIZER = re.compile(r"Optimizer\.")


def differentiated(case: Case) -> Ints:
    """Rows of the operators of the forward pass: the last of each sequence number that a backward function has."""
    arguments = case.trace["operator_args"]
    sequence, thread = arguments["sequence"], arguments["forward_thread"]
    known = sequence >= 0
    backward = np.unique(sequence[known & (thread > 0)])
    forward = np.flatnonzero(known & (thread <= 0) & np.isin(sequence, backward))
    # Spans are in the order of their begin, and the last assignment wins.
    last = np.zeros(len(backward), np.int64)
    last[np.searchsorted(backward, sequence[forward])] = arguments["span"][forward]
    return last[last > 0] if len(forward) else np.zeros(0, np.int64)


def backward_calls(case: Case) -> Mask:
    """Which spans run the backward pass, bool of shape (spans,)."""
    role = case.trace["spans"]["role"]
    return spans_named(case.trace, (role == Role.OPERATOR) | (role == Role.PYTHON), _BACKWARD.match)


def module_frames(case: Case) -> Ints:
    """Rows of the Python frames of modules."""
    python = case.trace["spans"]["role"] == Role.PYTHON
    return np.flatnonzero(spans_named(case.trace, python, _MODULE.match))


def own_work(case: Case) -> Mask:
    """The outermost spans of training or inference, bool of shape (spans,); what is in them is so, too."""
    spans, parent = case.trace["spans"], case.facts["span_links"]["parent"]
    role, name, names = spans["role"], spans["name"], case.names
    host = (role == Role.OPERATOR) | (role == Role.ANNOTATION)
    python = role == Role.PYTHON
    found = host & (names.collective | names.dataloader)[name]
    found |= spans_named(case.trace, host, _OPTIMIZER.match)
    found |= spans_named(case.trace, host | python, _BACKWARD.match)
    found |= spans_named(case.trace, python, _NOT_HOUSEKEEPING.search)
    modules = np.zeros(spans.n, np.bool_)
    modules[module_frames(case)] = True
    forward = np.zeros(spans.n, np.bool_)
    forward[differentiated(case)] = True
    if forward.any():
        above = with_ancestors(parent, forward)
        modules &= above
        found |= above & (role == Role.OPERATOR)
    return np.asarray(found | modules)


def housekeeping(case: Case, own: Mask) -> tuple[Mask, Mask]:
    """Which spans are the loop itself, and which are called there and are neither it nor ``own``; bool of shape
    (spans,). The loop: what holds steps or ``own`` work.
    """
    spans, parent = case.trace["spans"], case.facts["span_links"]["parent"]
    steps = np.append(case.names.step, -1)[spans["name"]] >= 0
    steps &= (spans["role"] == Role.ANNOTATION) | (spans["role"] == Role.OPERATOR)
    inside = nearest(parent, own) >= 0
    loop = with_ancestors(parent, own & ~inside_of(parent, own) | steps) & ~inside
    return loop, ~loop & ~inside


def inside_of(parent: Ints, chosen: Mask) -> Mask:
    """Which spans are within some others of ``chosen``, themselves left out."""
    return np.asarray(np.append(nearest(parent, chosen) >= 0, False)[parent])
