"""The evidence that rules share, computed on first use."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    costliest,
    group_rows,
    mask_of,
    picked,
    positions_of,
)
from torch_tb_profiler.analysis.arrays.intervals import (
    Intervals,
    intersect,
    measure,
    subtract,
    union,
    window_at,
)
from torch_tb_profiler.analysis.arrays.nesting import climb, nearest, nest_rows
from torch_tb_profiler.analysis.compiled.compilations import Compilations, compilations
from torch_tb_profiler.analysis.efficiency.device import Peaks
from torch_tb_profiler.analysis.facts.calltree import is_call
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.facts.devices import device_of
from torch_tb_profiler.analysis.facts.earlier_work import left_out, stretches
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.facts.host_names import (
    HostNames,
    host_names,
    is_engine_call,
    name_mask,
    named,
)
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.facts.launches import WAITS
from torch_tb_profiler.analysis.figures.event_kinds import looks
from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.analysis.figures.selection import judged_steps
from torch_tb_profiler.analysis.figures.source_lines import frame_ranks
from torch_tb_profiler.analysis.figures.step_kinds import doing_no_less
from torch_tb_profiler.analysis.findings.backward_calls import BackwardCalls
from torch_tb_profiler.analysis.findings.candidate import Pieces
from torch_tb_profiler.analysis.findings.edits import host_takes_each, thread_time_gone, work_scaled
from torch_tb_profiler.analysis.findings.gaps import Gaps, Work, find_gaps
from torch_tb_profiler.analysis.findings.training import Training
from torch_tb_profiler.analysis.what_if.changes import DRIVER
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.simulation import Edit
from torch_tb_profiler.hardware.call import Call, read_call
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table, is_one_of, unique_values
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role
from torch_tb_profiler.store.timeline_schema import Look

_NO_WORK = (Role.ANNOTATION, Role.PYTHON, Role.PROFILER, Role.DEVICE_ANNOTATION)
_MASKS = regex(r"aten::(?:bernoulli_?|native_dropout|_fused_dropout)$")
_DROPOUT = regex(
    r"aten::(?:(?:feature_|alpha_|feature_alpha_)?dropout_?|native_dropout|_fused_dropout)$"
)
ARGUMENTS = ("dims", "types", "strides", "concrete")
"""What was recorded of the arguments of operators."""


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
    def spans(self) -> Table:
        """The events, in the order of their begin."""
        return self.scene.trace["spans"]

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
        spans = self.spans
        return host_names(self.trace.strings, spans["name"][is_call(spans["role"])])

    @cached_property
    def work(self) -> Work:
        """The work of the busiest device."""
        spans = self.spans
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
    def kernels(self) -> Work:
        """Its kernels, without communication."""
        return self.work.take(self.work.kernel & ~self.work.communication)

    @cached_property
    def launches(self) -> Ints:
        """Rows of the calls that launched its work, ascending."""
        return unique_values(self.work.launch[self.work.launch >= 0])

    def operator_of(self, rows: Ints) -> Ints:
        """The operator around the launch of device work, or around a call; −1 none."""
        return self.facts["span_links"]["operator"][rows].astype(np.int64)

    @cached_property
    def updates(self) -> Ints:
        """Rows of the steps of optimizers."""
        return self.rows_named(self.calls, lambda text: text.startswith("Optimizer.step"))

    def begun(self, rows: Ints, time: Ints) -> Ints:
        """How many of some spans begin before each of some times, ns."""
        return np.searchsorted(np.sort(self.spans["start"][rows]), time)

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
        return self.rows_named(self.operators, is_engine_call)

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
        gaps = find_gaps(self.work, self.spans, self.judged)
        return gaps.during(subtract(gaps.time, self.unrecorded))

    @cached_property
    def unrecorded(self) -> Intervals:
        """When what that device did is unknown: launches lack their work."""
        table = self.facts["unrecorded_work"]
        return subtract(union(table["start"], table["end"]), self.work.time)

    @property
    def main_track(self) -> int:
        """The program's thread; -1 none."""
        return self.scene.graph.main

    @cached_property
    def operators(self) -> Ints:
        """Rows of operators that compute: no regions, no collectives."""
        spans, names = self.spans, self.names
        rows = self.of_role(Role.OPERATOR)
        other = names.region | names.collective | names.hidden | names.dataloader
        return np.asarray(rows[~(other | (names.step >= 0))[spans["name"][rows]]])

    @cached_property
    def program_calls(self) -> Ints:
        """Rows of operators that the program's thread calls within the windows, neither from another one nor from an
        optimizer, the DataLoader or another region.
        """
        spans, names = self.spans, self.names
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
            return np.flatnonzero(is_one_of(self.spans["role"], roles))

        # Of several roles together one rule asks.
        return rows() if len(roles) > 1 else self.scene.rows(roles, rows)

    def on_main(self, rows: Ints) -> Ints:
        """Those of some rows of spans that are on the program's thread."""
        return np.asarray(rows[self.spans["track"][rows] == self.main_track])

    @cached_property
    def waits(self) -> Ints:
        """Rows of runtime calls in which the host waits for recorded work of the device."""
        row = self.runtime_calls(WAITS)
        return np.asarray(row[measure(self.unrecorded, *self.times(row)) == 0])

    def alone(self, some: Work) -> Pieces:
        """When of all device work only ``some`` ran, piece by piece."""
        others = self.work.take(~np.isin(self.work.row, some.row)).time
        return some.during(subtract(some.time, others))

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
        return self.trace.strings[int(self.spans["name"][row])]

    def mask(self, rows: Ints) -> Mask:
        """Which spans are among some, bool of shape (spans,)."""
        return mask_of(self.spans.n, rows)

    def home(self, rows: Array, among: Ints) -> Ints:
        """The innermost span ``among`` some that each of ``rows`` (−1 allowed) is or lies in; −1 none."""
        return climb(self.parent, rows.astype(np.int64), self.mask(among))

    def within(self, rows: Ints) -> Ints:
        """Those of some rows of spans that begin within what is judged of the windows."""
        return np.asarray(rows[self._begins_judged[rows]])

    @cached_property
    def _begins_judged(self) -> Mask:
        start = self.spans["start"]
        return np.asarray(window_at(self.judged.start, self.judged.end, start) >= 0)

    def mark_of(self, step: int) -> Ints:
        """Row of the span that marks a step, shape (1,); empty where none does."""
        spans, table = self.spans, self.facts["steps"]
        same = (spans["start"] == table["host_start"][step]) & (
            spans["name"] == table["name"][step]
        )
        return np.flatnonzero(same)[:1]

    def when(self, rows: Ints) -> Intervals:
        """The time that any of some spans takes."""
        return union(*self.times(rows))

    def runs_modules(self, rows: Ints) -> bool:
        """Whether modules take at least half of the time of some spans: of work without a backward pass it is evaluation."""
        inside = self.beneath(rows)[self.training.modules]
        return 2 * self.when(self.training.modules[inside]).length >= self.when(rows).length

    def pieces(self, rows: Ints) -> Pieces:
        """Some spans, and when they happen."""
        return Pieces(rows, *self.times(rows))

    def times(self, rows: Ints) -> tuple[Ints, Ints]:
        """Begin and end of some spans, ns."""
        spans = self.spans
        return spans["start"][rows], spans["start"][rows] + spans["dur"][rows]

    def per_step(self, rows: Ints) -> float:
        """How many of some spans begin in a step, on average."""
        return len(self.within(rows)) / len(self.steps)

    def idle_in(self, rows: Ints, gaps: Gaps) -> Pieces:
        """The parts of some spans in ``gaps``, on a host alone all of them."""
        found = self.pieces(rows)
        return found.during(gaps.time) if self.has_device else found

    def lifted(self, pieces: Pieces, among: Mask) -> Pieces:
        """Those of some pieces that lie in spans of a mask, each as a piece of the innermost of these."""
        row = climb(self.parent, pieces.row, among).astype(np.int64)
        return Pieces(row, pieces.start, pieces.end).take(row >= 0)

    def time_gone(self, pieces: Pieces) -> Edit:
        """The time of some pieces of threads is gone."""
        track = self.spans["track"][pieces.row]
        return thread_time_gone(track, pieces.start, pieces.end)

    @cached_property
    def host_busy(self) -> Intervals:
        """When an operator or a runtime call was running on a thread that launches device work,
        waiting left out.
        """
        spans = self.spans
        mine = mask_of(self.trace["tracks"].n + 1, spans["track"][self.launches])
        mine[self.main_track] = True
        mine[-1] = False
        counted = spans["role"] == Role.RUNTIME
        counted[self.waits] = False
        counted[self.operators] = True
        return self.when(np.flatnonzero(counted & mine[spans["track"]]))

    @cached_property
    def collectives(self) -> Ints:
        """Rows of host calls that are collectives."""
        is_collective = self.names.collective[self.spans["name"][self.calls]]
        return np.asarray(self.calls[is_collective])

    @cached_property
    def rank(self) -> Array:
        """Of each span what its frame of Python tells a reader (``source_lines.OTHERS``, ``PACKAGE``, ``OWN``); 0 of what is none."""
        return frame_ranks(self.trace)

    def step_of(self, rows: Ints) -> Ints:
        """The step in which each of some spans begins, −1 outside; rows of steps."""
        table = self.facts["steps"]
        start = self.spans["start"][rows]
        return window_at(table["host_start"], table["host_end"], start).astype(np.int64)

    @property
    def main_calls(self) -> Ints:
        """Rows of operators, annotations and frames on the program's thread, steps themselves aside."""

        def calls() -> Ints:
            row = self.on_main(self.of_role(Role.OPERATOR, Role.ANNOTATION, Role.PYTHON))
            return np.asarray(row[self.names.step[self.spans["name"][row]] < 0])

        return self.scene.rows("main calls", calls)

    def on_path(self, *causes: PathCause) -> Pieces:
        """The stretches of the critical path of some causes, of all where none is given, within the steps; where nothing was
        recorded of a host thread the row is −1.
        """
        path = self.insight["critical_path"]
        chosen = np.isin(path["step"], self.steps)
        if causes:
            chosen &= is_one_of(path["cause"], causes)
        chosen &= (path["event"] >= 0) != (path["cause"] == PathCause.NOT_RECORDED)
        event = path["event"].astype(np.int64)
        return Pieces(event, path["start"], path["end"]).take(chosen)

    def gaps_after(self, row: Ints) -> Pieces:
        """Of each gap that waited for the host, the call of ``row`` that held it up, and the end of the gap, no longer
        than the call. That is the longest of those that returned between the same two launches
        as the last one before the launch that ended the gap::

            host   <launch a> [cudaMemcpyAsync      ][cudaStreamSynchronize] <launch b>
            gpu       {a                          }                             {b  }
        """
        none = np.zeros(0, np.int64)
        gaps = self.gaps.take(self.gaps.for_host & (self.gaps.launch >= 0))
        if not len(row) or not len(gaps.start):
            return Pieces(none, none, none)
        begin, end = self.times(row)
        order = np.argsort(end, kind="stable")
        starts = self.spans["start"]
        last = np.searchsorted(end[order], starts[gaps.launch], side="right") - 1
        after = last >= 0
        launches = mask_of(len(starts) + 1, self.work.launch)
        launches[row] = False
        others = np.flatnonzero(launches[:-1])
        between = np.searchsorted(np.sort(starts[others], kind="stable"), end)
        longest = np.zeros(len(others) + 1, np.int64)
        by_length = np.argsort(end - begin, kind="stable")
        longest[between[by_length]] = by_length
        call = longest[between[order[last[after]]]]
        length = np.minimum(gaps.lengths[after], (end - begin)[call])
        return Pieces(row[call], gaps.end[after] - length, gaps.end[after])

    def overhead(self, loading: bool) -> Ints:
        """Rows of overhead records: of the driver that loads kernels, or of the profiler."""
        row = self.of_role(Role.OVERHEAD)
        return np.asarray(row[self.named(row, DRIVER.match) == loading])

    @cached_property
    def silent_end(self) -> Intervals:
        """From what was recorded last to the end of the last step, less what other steps end with without a record, too."""
        steps = self.facts["steps"]
        if not self.has_device or self.is_whole or self.steps[-1] != steps.n - 1:
            return union(steps["end"][:0], steps["end"][:0])
        # An old version's operators hold its steps, too.
        role, start, dur = (self.spans[key] for key in ("role", "start", "dur"))
        does = ~is_one_of(role, _NO_WORK) & (self.names.step[self.spans["name"]] < 0)
        python, last = role == Role.PYTHON, []
        for begin, end in pairwise([0, *np.searchsorted(start, steps["end"]).tolist()]):
            own = slice(begin, end)
            until = (start[own] + dur[own])[does[own]].max(initial=0)
            last.append(max(until, start[own][python[own]].max(initial=0)))
        last_of = np.maximum(steps["start"], np.maximum.accumulate(last))
        quiet = np.maximum(steps["end"] - last_of, 0)
        usual = int(np.median(quiet[self.steps[:-1]])) if len(self.steps) > 1 else 0
        return union(steps["end"][-1:] - max(int(quiet[-1]) - usual, 0), steps["end"][-1:])

    def neighbours(self, start: Ints, end: Ints) -> tuple[Ints, Ints]:
        """Rows of what the program's thread did last before some stretches and first after them, marks of steps left out; −1
        nothing.
        """
        own = (self.spans["track"] == self.main_track) & (self.spans["dur"] > 0)
        row = np.flatnonzero(own & (self.names.step[self.spans["name"]] < 0))
        begin, until = self.times(row)
        # Of what ends at one time, the outermost is the last.
        order = np.lexsort((-begin, until))
        before = np.searchsorted(until[order], start, side="right") - 1
        after = np.searchsorted(begin, end)
        return np.append(row[order], -1)[before], np.append(row, -1)[after]

    def shown(self, row: Ints, step: Ints) -> Ints:
        """Rows of spans that show pieces of steps: the given ones, and for −1 the mark of the step, where it has one."""
        marks = [self.mark_of(one) for one in step.tolist()]
        mark = np.array([int(one[0]) if len(one) else -1 for one in marks], np.int64)
        return np.where(row >= 0, row, mark)

    @cached_property
    def active_dropout(self) -> Ints:
        """The outermost operators of dropout that make a mask, rows of spans."""
        dropout = self.rows_named(self.operators, _DROPOUT.match)
        if not len(dropout):
            return dropout
        masks = self.rows_named(self.operators, _MASKS.match)
        makes = unique_values(self.home(masks, dropout))
        return self.within(self.outermost(makes[makes >= 0]))

    def beneath(self, outer: Ints) -> Mask:
        """Which spans are among ``outer`` or lie within one of them, on the same thread; bool of shape (spans,)."""
        return np.asarray(nearest(self.parent, self.mask(outer)) >= 0)

    def outermost(self, rows: Ints) -> Ints:
        """Those of some spans that lie in no other of them."""
        return self.outside(rows, rows)

    def outside(self, rows: Ints, others: Ints) -> Ints:
        """Those of some spans that lie in none of ``others``, themselves aside."""
        return rows[self.home(self.parent[rows], others) < 0]

    @cached_property
    def own_times(self) -> Ints:
        """Of each span, the time that no span beneath it takes, ns; int64 of shape (spans,)."""
        own = self.spans["dur"].astype(np.int64)
        inner = np.flatnonzero(self.parent >= 0)
        np.subtract.at(own, self.parent[inner], self.spans["dur"][inner])
        return np.maximum(own, 0)

    def most_named(self, rows: Ints, time: Ints | None = None) -> str:
        """The name of most of some spans by ``time``, ns (None: their length); of a kernel without its types."""
        time = self.spans["dur"][rows] if time is None else time
        most, _ = costliest(self.spans["name"][rows], time)
        first = rows[most][0]
        text = self.name_of(first)
        return short_name(text) if self.spans["role"][first] in DEVICE_ROLES else text

    def copies(self, pattern: re.Pattern[str]) -> Work:
        """The device's copies whose name begins like a pattern."""
        chosen = self.spans["role"][self.work.row] == Role.MEMCPY
        chosen[chosen] = self.named(self.work.row[chosen], pattern.match)
        return self.work.take(chosen)

    def copy_rate(self, copies: Work) -> float | None:
        """At how many bytes per second some copies run; None where the trace does not say how much they copy."""
        size = device_arguments(self.trace, copies.row, ("bytes",))["bytes"]
        time = int((copies.end - copies.start)[size > 0].sum())
        return float(size[size > 0].sum()) * 1e9 / time if time else None

    def launched_in(self, calls: Ints) -> tuple[Work, Ints]:
        """The device work that was launched in some calls, and the position of its call among them (ascending)."""
        home = self.home(self.work.launch, calls)
        return self.work.take(home >= 0), positions_of(np.sort(calls), home[home >= 0])

    def stretch_of(self, rows: Ints, track: Array, start: Ints, end: Ints) -> Ints:
        """In which stretch of a thread each of some spans (−1 allowed) begins, −1 none; those of a thread do not overlap."""
        width = int(self.spans["start"][-1]) + 1
        first = track.astype(np.int64) * width
        order = np.argsort(first + start, kind="stable")
        begin, until = (first + start)[order], (first + np.minimum(end, width))[order]
        called = self.spans["track"][rows].astype(np.int64) * width + self.spans["start"][rows]
        return np.where(rows >= 0, picked(order, window_at(begin, until, called)), -1)

    def launched_during(self, track: Array, start: Ints, end: Ints) -> Mask:
        """Which of the device's work was launched in stretches of threads; those of a thread do not overlap."""
        return np.asarray(self.stretch_of(self.work.launch, track, start, end) >= 0)

    def last_begin(self, rows: Ints) -> Ints:
        """When the last of some spans begins in each step, ns, int64.max where none does; of shape (steps + 1,), the last for none."""
        step = self.facts["span_links"]["step"][rows]
        last = np.full(self.facts["steps"].n + 1, np.iinfo(np.int64).max)
        last[unique_values(step)] = 0
        np.maximum.at(last, step, self.spans["start"][rows])
        return last

    def times_of_calls(self, calls: Ints) -> Array:
        """ns of each of some calls (ascending): of the device work that they launched, where there is none their own."""
        work, call = self.launched_in(calls)
        if len(work.row):
            return np.bincount(call, weights=work.end - work.start, minlength=len(calls))
        return self.spans["dur"][calls].astype(np.float64)

    def calls_take(self, calls: Ints, factor: Array) -> Edit:
        """Each of some calls (ascending), none within another, takes ``factor`` times as long: the device work that they
        launched, where there is none they themselves.
        """
        work, call = self.launched_in(calls)
        if len(work.row):
            return work_scaled(work.row, factor[call])
        return host_takes_each(calls, factor)

    def calls_where(
        self, mentions: Callable[[str], object], says: Callable[[Call], object]
    ) -> Ints:
        """Rows of operators whose recorded types are a text that ``mentions`` something, and whose arguments
        satisfy ``says``; asked once per distinct arguments.
        """
        table = self.trace["operator_args"]
        if not table.n:
            return np.zeros(0, np.int64)
        told = name_mask(self.trace.strings, table["types"], mentions)
        place = np.flatnonzero(told[table["types"]])
        calls, group = self.read_calls(np.full(len(place), -1), place, ("dims", "types"))
        chosen = np.array([call is not None and bool(says(call)) for call in calls], np.bool_)
        return np.asarray(table["span"][place[chosen[group]]].astype(np.int64))

    def read_arguments(self, rows: Ints) -> dict[int, Call]:
        """What some operators were called with, by row of spans; those whose shapes were not recorded are left out."""
        place = positions_of(self.trace["operator_args"]["span"], rows)
        rows, place = rows[place >= 0], place[place >= 0]
        calls, group = self.read_calls(self.spans["name"][rows], place)
        found = zip(rows.tolist(), (calls[number] for number in group.tolist()), strict=True)
        return {row: call for row, call in found if call is not None}

    def read_calls(
        self, name: Array, place: Ints, keys: Sequence[str] = ARGUMENTS, most: int = 1 << 60
    ) -> tuple[list[Call | None], Ints]:
        """Distinct calls of names (numbers, −1 any) with the arguments at places of their table (−1 none; then None), and which of these
        each is; no call where there are more than ``most``.
        """
        table, texts = self.trace["operator_args"], self.trace.strings
        columns = [name, *(picked(table[key], place) for key in keys)]
        first, group = group_rows(columns)
        if len(first) > most:
            return [], group
        numbers = zip(*(column[first].tolist() for column in columns), strict=True)
        return [read_call(*(texts[n] if n >= 0 else "" for n in one)) for one in numbers], group
