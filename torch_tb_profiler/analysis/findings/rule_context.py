"""The evidence that rules share, computed on first use."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

import msgspec
import numpy as np
from msgspec.structs import astuple

from torch_tb_profiler.analysis.arrays.grouping import costliest, mask_of
from torch_tb_profiler.analysis.arrays.intervals import (
    Intervals,
    intersect,
    measure,
    shared,
    subtract,
    union,
    window_at,
)
from torch_tb_profiler.analysis.arrays.nesting import climb, nearest, nest_rows, with_ancestors
from torch_tb_profiler.analysis.compiled.compilations import Compilations, compilations
from torch_tb_profiler.analysis.efficiency.device import Peaks
from torch_tb_profiler.analysis.facts.calltree import is_call
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.facts.devices import device_of
from torch_tb_profiler.analysis.facts.earlier_work import left_out, stretches
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.facts.host_names import HostNames, host_names, named, spans_named
from torch_tb_profiler.analysis.facts.launches import WAITS
from torch_tb_profiler.analysis.figures.event_kinds import looks
from torch_tb_profiler.analysis.figures.selection import judged_steps
from torch_tb_profiler.analysis.figures.step_kinds import doing_no_less
from torch_tb_profiler.analysis.findings.backward_calls import BackwardCalls
from torch_tb_profiler.analysis.findings.gaps import Gaps, find_gaps
from torch_tb_profiler.analysis.module.forwards import EVALUATE
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask, is_one_of, unique_values
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.timeline_schema import Look

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


class Work(msgspec.Struct, frozen=True):
    """What the main device did, in time order; arrays of shape (n,).

    row: rows of spans, those of no length left out. start, end: ns. launch: row of the call that
        launched it, -1 unknown.
    communication, kernel: what it is, bool (communication is a kernel, too).
    """

    row: Ints
    start: Ints
    end: Ints
    launch: Ints
    communication: Mask
    kernel: Mask

    def take(self, chosen: Mask) -> Work:
        """Those of a mask."""
        return Work(*(column[chosen] for column in astuple(self)))

    @property
    def busy(self) -> Intervals:
        """When any of it ran."""
        return union(self.start, self.end)


class RuleContext(msgspec.Struct, frozen=True, dict=True):
    """What a rule is given: the trace, its facts, and the evidence that rules share. ``only``: rows of the steps to look at; empty: those
    that recur.
    """

    scene: Scene
    only: tuple[int, ...] = ()

    @property
    def trace(self) -> Trace:
        """The columns of the events."""
        return self.scene.trace

    @property
    def facts(self) -> Facts:
        """The tables derived from them."""
        return self.scene.facts

    @property
    def insight(self) -> Insight:
        """What was derived besides."""
        return self.scene.insight

    @property
    def has_device(self) -> bool:
        """Whether a device did anything."""
        return len(self.work.row) > 0

    @property
    def parent(self) -> Array:
        """Of each span the one that it lies in, a row of spans; −1 none."""
        return self.facts["span_links"]["parent"]

    @cached_property
    def steps(self) -> Ints:
        """Rows of the steps, without cold and cut ones if there are others."""
        if self.only:
            return np.array(self.only, np.int64)
        return judged_steps(self.facts)

    @cached_property
    def comparable(self) -> Ints:
        """Of those steps the ones that do what the commonest do, and perhaps more."""
        return self.steps if self.is_whole else doing_no_less(self.facts, self.steps)

    @cached_property
    def windows(self) -> Intervals:
        """The time of those steps, work from before the recording left out; without steps the whole recording, as
        everywhere on the page.
        """
        table = self.facts["steps"]
        whole = union(table["start"][self.steps], table["end"][self.steps])
        return subtract(whole, left_out(self.facts))

    @cached_property
    def judged(self) -> Intervals:
        """What of ``windows`` the rules look at: no silent start, and without steps only from the first to the last device
        work, because what the device waited for at the edges lies outside the recording.
        """
        work = self.work
        told = subtract(self.windows, stretches(self.facts["earlier_work"], silent=True))
        if not self.is_whole or not len(work.row):
            return told
        return intersect(told, union(work.start[:1], work.end.max(keepdims=True)))

    @cached_property
    def is_whole(self) -> bool:
        """Whether the recording has no steps and counts as one."""
        return bool((self.facts["steps"]["flags"] & StepFlag.WHOLE).any())

    @cached_property
    def names(self) -> HostNames:
        """What the names of host calls say."""
        spans = self.trace["spans"]
        return host_names(self.trace.strings, spans["name"][is_call(spans["role"])])

    @cached_property
    def work(self) -> Work:
        """The work of the busiest device."""
        spans = self.trace["spans"]
        row = device_rows(self.trace)
        row = row[spans["dur"][row] > 0]
        if len(row):
            row = row[costliest(device_of(self.trace, row), spans["dur"][row])[0]]
        start = spans["start"][row]
        look = looks(self.trace, self.facts)[row]
        return Work(
            row,
            start,
            start + spans["dur"][row],
            self.facts["span_links"]["launch"][row].astype(np.int64),
            look == Look.COMMUNICATION,
            spans["role"][row] == Role.KERNEL,
        )

    @cached_property
    def compilations(self) -> Compilations:
        """What was compiled, traced, tuned or captured."""
        return compilations(self.trace, self.facts)

    @cached_property
    def training(self) -> Training:
        """Which spans are the program's own training or inference."""
        return Training(self.trace, self.facts, self.names)

    @cached_property
    def backward_functions(self) -> Ints:
        """Rows of the engine's calls of backward functions."""
        return self.rows_named(self.operators, lambda text: text.startswith(EVALUATE))

    @cached_property
    def backward_calls(self) -> BackwardCalls:
        """Which backward functions belong to which stretch of the forward pass."""
        return BackwardCalls.of(self.trace, self.backward_functions)

    @property
    def peaks(self) -> Peaks:
        """The device's peaks."""
        return self.scene.peaks

    @cached_property
    def device(self) -> int:
        """Row of ``facts["devices"]`` of that device; -1 without one."""
        if not len(self.work.row):
            return -1
        number = device_of(self.trace, self.work.row[:1])
        return int(np.flatnonzero(self.facts["devices"]["id"] == number)[0])

    @cached_property
    def gaps(self) -> Gaps:
        """When that device had nothing to do within the windows, and what it waited for; where what it did is unknown, it had."""
        spans, work = self.trace["spans"], self.work
        end = spans["start"] + spans["dur"]
        gaps = find_gaps(
            work.row, work.start, work.end, work.launch, spans["start"], end, self.judged
        )
        return gaps.free(self.unrecorded) if len(self.unrecorded.start) else gaps

    @cached_property
    def unrecorded(self) -> Intervals:
        """When what that device did is unknown: launches lack their work."""
        table = self.facts["unrecorded_work"]
        return subtract(union(table["start"], table["end"]), self.work.busy)

    @property
    def main_track(self) -> int:
        """The program's thread; -1 none."""
        return self.scene.graph.main

    @cached_property
    def operators(self) -> Ints:
        """Rows of operators that compute: no regions, no collectives."""
        spans, names = self.trace["spans"], self.names
        rows = self.of_role(Role.OPERATOR)
        other = names.region | names.collective | names.hidden | names.dataloader
        return np.asarray(rows[~(other | (names.step >= 0))[spans["name"][rows]]])

    @cached_property
    def program_calls(self) -> Ints:
        """Rows of operators that the program's thread calls within the windows, neither from another one nor from an
        optimizer, the DataLoader or another region.
        """
        spans, names = self.trace["spans"], self.names
        computes = self.mask(self.operators)
        row = self.on_main(self.calls)
        row = row[computes[row] | (names.region & (names.step < 0))[spans["name"][row]]]
        row = row[nest_rows(spans, row).parent < 0]
        return self.within(row[computes[row]])

    @cached_property
    def calls(self) -> Ints:
        """Rows of operators and annotations, regions and collectives among them."""
        return self.of_role(Role.OPERATOR, Role.ANNOTATION)

    def of_role(self, *roles: Role) -> Ints:
        """Rows of the spans of some roles."""

        def rows() -> Ints:
            return np.flatnonzero(is_one_of(self.trace["spans"]["role"], roles))

        # Of several roles together one rule asks.
        return rows() if len(roles) > 1 else self.scene.rows(roles, rows)

    def on_main(self, rows: Ints) -> Ints:
        """Those of some rows of spans that are on the program's thread."""
        return np.asarray(rows[self.trace["spans"]["track"][rows] == self.main_track])

    @cached_property
    def waits(self) -> Ints:
        """Rows of runtime calls in which the host waits for recorded work of the device."""
        row = self.runtime_calls(WAITS)
        return np.asarray(row[measure(self.unrecorded, *self.times(row)) == 0])

    def alone(self, some: Work) -> tuple[Ints, Ints, Ints]:
        """When of all device work only ``some`` ran, piece by piece: ``(row, start, end)``."""
        others = self.work.take(~np.isin(self.work.row, some.row)).busy
        piece, start, end = shared(some.start, some.end, subtract(some.busy, others))
        return some.row[piece], start, end

    def runtime_calls(self, pattern: re.Pattern[str]) -> Ints:
        """Rows of runtime calls whose name begins like ``pattern``, within what is judged."""
        return self.within(self.rows_named(self.of_role(Role.RUNTIME), pattern.match))

    def named(self, rows: Ints, says: Callable[[str], object]) -> Mask:
        """Which rows of spans have a name of which ``says`` is true; asked once per distinct name."""
        return named(self.trace, rows, says)

    def rows_named(self, rows: Ints, says: Callable[[str], object]) -> Ints:
        """Those of some rows of spans that have a name of which ``says`` is true."""
        return rows[self.named(rows, says)]

    def name_of(self, row: int) -> str:
        """The name of a span."""
        return self.trace.strings[int(self.trace["spans"]["name"][row])]

    def mask(self, rows: Ints) -> Mask:
        """Which spans are among some, bool of shape (spans,)."""
        return mask_of(self.trace["spans"].n, rows)

    def home(self, rows: Array, among: Ints) -> Ints:
        """The innermost span ``among`` some that each of ``rows`` (−1 allowed) is or lies in; −1 none."""
        return climb(self.parent, rows.astype(np.int64), self.mask(among))

    def within(self, rows: Ints) -> Ints:
        """Those of some rows of spans that begin within what is judged of the windows."""
        return np.asarray(rows[self._begins_judged[rows]])

    @cached_property
    def _begins_judged(self) -> Mask:
        start = self.trace["spans"]["start"]
        return np.asarray(window_at(self.judged.start, self.judged.end, start) >= 0)

    def mark_of(self, step: int) -> Ints:
        """Row of the span that marks a step, shape (1,); empty where none does."""
        spans, table = self.trace["spans"], self.facts["steps"]
        same = (spans["start"] == table["host_start"][step]) & (
            spans["name"] == table["name"][step]
        )
        return np.flatnonzero(same)[:1]

    def when(self, rows: Ints) -> Intervals:
        """The time that any of some spans takes."""
        return union(*self.times(rows))

    def times(self, rows: Ints) -> tuple[Ints, Ints]:
        """Begin and end of some spans, ns."""
        spans = self.trace["spans"]
        return spans["start"][rows], spans["start"][rows] + spans["dur"][rows]

    def per_step(self, rows: Ints) -> float:
        """How many of some spans begin in a step, on average."""
        return len(self.within(rows)) / len(self.steps)

    def idle_in(self, rows: Ints, gaps: Gaps) -> tuple[Ints, Ints, Ints]:
        """The parts of some spans in ``gaps``, on a host alone all of them: ``(row, start, end)``."""
        start, end = self.times(rows)
        if not len(self.work.row):
            return rows, start, end
        piece, start, end = shared(start, end, union(gaps.start, gaps.end))
        return rows[piece], start, end

    @cached_property
    def host_busy(self) -> Intervals:
        """When an operator or a runtime call was running on a thread that launches device work,
        waiting left out.
        """
        spans = self.trace["spans"]
        mine = mask_of(
            self.trace["tracks"].n + 1, spans["track"][self.work.launch[self.work.launch >= 0]]
        )
        mine[self.main_track] = True
        mine[-1] = False
        counted = spans["role"] == Role.RUNTIME
        counted[self.waits] = False
        counted[self.operators] = True
        return self.when(np.flatnonzero(counted & mine[spans["track"]]))

    @cached_property
    def collectives(self) -> Ints:
        """Rows of host calls that are collectives."""
        is_collective = self.names.collective[self.trace["spans"]["name"][self.calls]]
        return np.asarray(self.calls[is_collective])
