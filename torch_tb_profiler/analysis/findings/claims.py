"""Claims: what a rule or a question found, what its change acts on, and what that saves; and the laws that hold for each, whatever
found it.

::

    step      |■■■■■■■■■■■■■■■■■■■■|   0 <= low <= saved <= acted on <= step, saved <= high <= step
    acted on    |■■■■■■■■■|            on the critical path, of each step
    saved       |■■■■■|

- Nobody calls a claim certain unless nine of ten of the steps that it speaks of show half of what it saves, something that was
  recorded says so, and the least that it may save is above half of the most.
- What a program is there for is no loss: a place without a cause is not taken away where it is the work itself.
- A claim about time that one before it is about stays and says so (``holds``); it stands behind that one.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, mask_of, picked, sum_by
from torch_tb_profiler.analysis.arrays.intervals import measure
from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS, groups_of_causes
from torch_tb_profiler.analysis.findings.candidate import Candidate, Certainty
from torch_tb_profiler.analysis.findings.rule_context import RuleContext
from torch_tb_profiler.analysis.what_if.replay import Durations
from torch_tb_profiler.analysis.what_if.simulation import Edit, Simulation
from torch_tb_profiler.store.columns import Array, Ints, Mask, is_one_of, unique_values
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.python_frames import PythonFrame
from torch_tb_profiler.store.roles import Role

MOST = 0.5
WHOLE = 0.95
"""Share of what was recorded of the steps from which on it is all that they do."""
LEAST_SHOWN = 0.9
"""Share of the steps that a claim speaks of which show half of what it saves, if it is certain."""
NOTHING = 0.01
_LAUNCHED = -2
_PROTOCOL = ("forward", "__call__", "_call_impl", "_wrapped_call_impl")
"""Functions that are called to compute what the program is there for."""
_DEVICE = (PathCause.KERNEL, PathCause.MEMCPY, PathCause.MEMSET, PathCause.COMMUNICATION)
_DEVICE_WAITS = (PathCause.LAUNCH, PathCause.WAITING)
_SILENT = (PathCause.NOT_RECORDED, PathCause.BEFORE_RECORDING)
_BY_NAME = ("compute", "host_code")
"""Groups of causes that hold many kinds of work."""


class Claim(msgspec.Struct):
    """A candidate, and what its change acts on and saves per step, ns, arrays of shape (steps,); a total where it has no key.

    certainty: how sure it may be called. behind: it saves that once the changes of the others are made, and too little before. holds: position
    of the claim before it that most of what it removes is told of, -1 none.
    """

    key: str
    candidate: Candidate
    edit: Edit | None
    saved: Array
    acted: Array
    certainty: Certainty = "certain"
    behind: bool = False
    holds: int = -1


class Removed:
    """How much of each piece of device work and each segment of a host thread claims say to go, ns."""

    def __init__(self, unchanged: Durations) -> None:
        self._unchanged = unchanged
        self._gone = np.zeros(0)
        self._each: list[tuple[int, Ints, Array]] = []

    def _removes(self, changed: Durations) -> tuple[Ints, Array]:
        """Positions of what a change shortens, and by how much: of device work, and behind it of segments."""
        rows, times, before = [np.zeros(0, np.int32)], [np.zeros(0, np.float32)], 0
        for part in ("work", "segment"):
            for row, gone in self._unchanged.less(changed, part):
                rows.append(row[gone > 0] + np.int32(before))
                times.append(gone[gone > 0].astype(np.float32))
            before += len(getattr(self._unchanged, part))
        return np.concatenate(rows), np.concatenate(times)

    def told(self, changed: Durations) -> int:
        """Which claim says most of what a change removes, where claims together say half of it; -1 none."""
        row, more = self._removes(changed)
        if not self._each or not more.any():
            return -1
        again = np.minimum(self._gone[row], more).sum(dtype=np.float64)
        if again < MOST * more.sum(dtype=np.float64):
            return -1
        full = np.zeros_like(self._gone)
        full[row] = more
        shared = [np.minimum(full[own], gone).sum(dtype=np.float64) for _, own, gone in self._each]
        return self._each[int(np.argmax(shared))][0]

    def add(self, number: int, changed: Durations) -> None:
        """Notes what the change of a claim removes."""
        row, more = self._removes(changed)
        if not self._each:
            self._gone = np.zeros(
                len(self._unchanged.work) + len(self._unchanged.segment), np.float32
            )
        self._each.append((number, row, more))
        self._gone[row] = np.maximum(self._gone[row], more)


class PathTime:
    """The critical path of all steps, and what claims act on of it."""

    def __init__(self, context: RuleContext, simulation: Simulation) -> None:
        self._context, self._simulation = context, simulation
        path = context.insight["critical_path"]
        self._step, self._cause, self._event = path["step"], path["cause"], path["event"]
        self._start, self._end, self._group = path["start"], path["end"], path["group"]
        self._time = self._end - self._start
        table, spans = context.facts["steps"], context.spans
        self.steps, self._spans = table.n, spans.n
        self._track = picked(spans["track"], self._event)
        self._of_device = is_one_of(self._cause, (*_DEVICE, *_DEVICE_WAITS)) & (self._event >= 0)
        # Inside the mark of a step alone nothing of the program was recorded.
        begin = picked(spans["start"], self._event)
        self._marked = (self._event >= 0) & (begin == table["host_start"][self._step])
        self._silent = is_one_of(self._cause, _SILENT)
        self._silent |= (self._cause == PathCause.ANNOTATION) & self._marked
        self._said = np.zeros(len(self._time), np.int64)

    def acted_on(self, changed: Durations) -> Ints:
        """Of each piece of the path, how much a change acts on, ns."""
        graph, before = self._simulation.scene.graph, self._simulation.measured
        differs = changed.differs
        # A host that waits no longer runs ahead: all that it does then counts.
        if "waits" in differs:
            return self._time
        acted = np.zeros(len(self._time), np.int64)
        device = self._of_device
        if "work" in differs:
            row = differs["work"]
            row = graph.work.row[row[changed.work[row] < before.work[row]]]
            at = mask_of(self._spans + 1, row)[self._event] & device
            acted[at] = self._time[at]
        if {"lead", "latency", "after", "floor"} & set(differs):
            at = is_one_of(self._cause, _DEVICE_WAITS)
            acted[at] = self._time[at]
        if "segment" in differs:
            shorter = np.zeros(len(before.segment), np.bool_)
            for row, less in before.less(changed, "segment"):
                shorter[row] = less > 0
            for thread, periods in graph.host.periods(shorter).items():
                own = np.flatnonzero(((self._track == thread) | (self._track < 0)) & ~device)
                reached = measure(periods, self._start[own], self._end[own])
                acted[own] = np.maximum(acted[own], reached)
        return acted

    def of_steps(self, time: Ints) -> Ints:
        """Sums of the times of its pieces, of shape (steps,)."""
        return sum_by(self._step, self.steps, time)

    def silent(self, acted: Ints) -> bool:
        """Whether most of what is acted on is time in which nothing was recorded."""
        return bool(acted[self._silent].sum() > MOST * acted.sum())

    def unknown(self) -> Mask:
        """Of which steps next to nothing was recorded, or nothing on the program's thread, where others may work for it or not."""
        told = np.where(self._silent, 0, self._time)
        bare = mask_of(
            self.steps, self._step[(self._cause == PathCause.NOT_RECORDED) & self._marked]
        )
        return np.asarray(bare | (self.of_steps(told) < NOTHING * self.of_steps(self._time)))

    def computes(self, acted: Ints) -> bool:
        """Whether most of what is acted on are operators and work of a device."""
        own = is_one_of(self._cause, (PathCause.OPERATOR, *_DEVICE))
        return bool(acted[own].sum() > MOST * acted.sum())

    def all_recorded(self, acted: Ints, steps: Ints) -> bool:
        """Whether what is acted on is all that was recorded of some steps."""
        told = np.isin(self._step, steps) & ~self._silent
        whole = int(self._time[told].sum())
        return bool(whole and acted[told].sum() >= WHOLE * whole)

    def say(self, acted: Ints) -> None:
        """Notes what a claim acts on."""
        np.maximum(self._said, acted, out=self._said)

    def unclaimed(self) -> list[list[int]]:
        """Of each step more than half of which is one kind of work that no claim is about: row of the step,
        position in ``GROUPS``, number of its name (-1: the whole group), and its time, ns. A kind is an operator or a function, or a
        group of causes that hold but one.
        """
        if not len(self._time):
            return []
        table = self._context.insight["critical_path_steps"]
        rest = sum_by(self._group, table.n, self._time - self._said)
        group = groups_of_causes(self._context.has_device)[table["cause"]]
        name = np.where(table["operator"] >= 0, table["operator"], table["name"])
        many = np.isin(group, [list(GROUPS).index(key) for key in _BY_NAME])
        name = np.where(table["cause"] == PathCause.LAUNCH, _LAUNCHED, np.where(many, name, -1))
        first, kind = group_rows((table["step"], group, name))
        each = np.stack((table["step"], group, name))[:, first]
        time = sum_by(kind, len(first), rest)
        wall = self.of_steps(self._time)
        # How long launched work waits is a matter of launches, not of what it is.
        large = np.flatnonzero((time > MOST * wall[each[0]]) & (each[2] != _LAUNCHED))
        found: list[list[int]] = np.stack((*each[:, large], time[large])).T.tolist()
        return found


def is_the_work(context: RuleContext, path: PathTime, candidate: Candidate, acted: Ints) -> bool:
    """Whether a place is what the program is there for: all that its steps do, the forward of a module or of a program without
    modules, or what holds most of the operators of a program that trains nothing.
    """
    # Of a program that trains, what is neither model nor optimizer is not its work, however long it takes.
    beside = len(context.training.differentiated) and len(candidate.shown.row)
    if beside and context.training.housekeeping[candidate.shown.row].all():
        return False
    if path.all_recorded(acted, context.steps):
        # What a known fix avoids is not what a model runs for, even if next to nothing else is left.
        return not (candidate.words.get("source") and context.training.own.any())
    # Python of a module's own, without its operators, is not what it is there for.
    if not path.computes(acted):
        return False
    spans = context.spans
    row, group = np.unique(candidate.shown.row, return_inverse=True)
    taken = sum_by(group, len(row), candidate.shown.end - candidate.shown.start)
    # What takes a part of a call alone leaves the call.
    row = row[(spans["role"][row] == Role.PYTHON) & (taken >= WHOLE * spans["dur"][row])]
    if not len(row):
        return False
    texts = context.trace.strings.many(unique_values(spans["name"][row]))
    functions = [frame.function if (frame := PythonFrame.of(text)) else "" for text in texts]
    if any(name in _PROTOCOL for name in functions):
        return True
    if len(context.training.differentiated):
        return False
    inside = context.beneath(row)[context.operators]
    whole = context.when(context.operators).length
    return context.when(context.operators[inside]).length > MOST * whole > 0


def certainty_of(certainty: Certainty, low: float, high: float, shows: float) -> Certainty:
    """What a claim may be called by what it saves at least, and at most of what it acts on, and the share of its steps that show it."""
    if certainty == "certain" and (shows < LEAST_SHOWN or low <= MOST * high):
        return "likely"
    return certainty
