"""The parts of a program's own work: model, backward, optimizer, input and communication."""

from __future__ import annotations

from functools import cached_property

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import nearest, with_ancestors
from torch_tb_profiler.analysis.facts.host_names import HostNames, spans_named
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, Mask, unique_values
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

_MODULE = regex(r"nn\.Module: ")

_BACKWARD = regex(
    r"autograd::engine::evaluate_function|<built-in method run_backward |torch/autograd/graph\.py"
)

_NOT_HOUSEKEEPING = regex(
    r"torch/(?:optim|profiler|distributed|nn/parallel|utils/data|_dynamo|_inductor)/"
    r"|torch_tb_profiler/|torch/(?:autograd/profiler|_tensor|autograd/__init__)\.py.*: (?:step|backward|_enter|_exit)"
)

_OPTIMIZER = regex(r"Optimizer\.")


class Training(msgspec.Struct, frozen=True, dict=True):
    """The parts of a program's own work; masks are bool of shape (spans,).

    Which host spans are a program's own training or inference: model, backward, optimizer, input and communication.

    What else happens in a step is housekeeping: logging, metrics, checkpoints, averages of weights. An operator
    belongs to the model's forward where a backward function has its sequence number, what calls it as
    well; where nothing is differentiated, every module does.
    """

    trace: Trace
    facts: Facts
    names: HostNames

    @cached_property
    def differentiated(self) -> Ints:
        """Rows of the operators of the forward pass: the last of each sequence number that a backward function has."""
        arguments = self.trace["operator_args"]
        sequence, thread = arguments["sequence"], arguments["forward_thread"]
        known = sequence >= 0
        backward = unique_values(sequence[known & (thread > 0)])
        forward = np.flatnonzero(known & (thread <= 0) & np.isin(sequence, backward))
        # Spans are in the order of their begin, and the last assignment wins.
        last = np.zeros(len(backward), np.int64)
        last[np.searchsorted(backward, sequence[forward])] = arguments["span"][forward]
        return last[last > 0] if len(forward) else np.zeros(0, np.int64)

    @cached_property
    def backward(self) -> Mask:
        """Which spans run the backward pass."""
        role = self.trace["spans"]["role"]
        calls = (role == Role.OPERATOR) | (role == Role.PYTHON)
        return spans_named(self.trace, calls, _BACKWARD.match)

    @cached_property
    def modules(self) -> Ints:
        """Rows of the Python frames of modules."""
        python = self.trace["spans"]["role"] == Role.PYTHON
        return np.flatnonzero(spans_named(self.trace, python, _MODULE.match))

    @cached_property
    def own(self) -> Mask:
        """The outermost spans of training or inference; what is in them is so, too."""
        spans, parent = self.trace["spans"], self.facts["span_links"]["parent"]
        role, name, names = spans["role"], spans["name"], self.names
        host = (role == Role.OPERATOR) | (role == Role.ANNOTATION)
        python = role == Role.PYTHON
        found = host & (names.collective | names.dataloader)[name]
        found |= spans_named(self.trace, host, _OPTIMIZER.match)
        found |= spans_named(self.trace, host | python, _BACKWARD.match)
        found |= spans_named(self.trace, python, _NOT_HOUSEKEEPING.search)
        modules, forward = np.zeros(spans.n, np.bool_), np.zeros(spans.n, np.bool_)
        modules[self.modules] = True
        forward[self.differentiated] = True
        if forward.any():
            above = with_ancestors(parent, forward)
            modules &= above
            found |= above & (role == Role.OPERATOR)
        return np.asarray(found | modules)

    @cached_property
    def inside(self) -> Mask:
        """Which spans are ``own`` or within."""
        return np.asarray(nearest(self.facts["span_links"]["parent"], self.own) >= 0)

    @cached_property
    def loop(self) -> Mask:
        """Which spans are the loop itself: what holds steps or ``own`` work."""
        spans, parent = self.trace["spans"], self.facts["span_links"]["parent"]
        steps = self.names.step[spans["name"]] >= 0
        steps &= (spans["role"] == Role.ANNOTATION) | (spans["role"] == Role.OPERATOR)
        outermost = self.own & ~np.append(self.inside, False)[parent]
        return with_ancestors(parent, outermost | steps) & ~self.inside

    @property
    def housekeeping(self) -> Mask:
        """Which spans are neither the loop nor ``own``."""
        return ~self.loop & ~self.inside
