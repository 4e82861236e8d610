"""The critical path of some steps in words: how long what of it takes, and where most of that is."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.arrays.intervals import measure, union
from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS
from torch_tb_profiler.analysis.figures.callers import class_of
from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.analysis.figures.source_lines import package_of
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Table, unique_values
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.python_frames import PythonFrame

MOST, NOTABLE = 0.5, 0.1
"""Shares from which on a place is most, or a notable part, of something."""
_INPUT = regex(r"enumerate\(Data(?:Loader|Pipe)\)")
_OPERATOR = regex(r"\w+::\w+(?:\.\w+)?")
_TELLS = regex(r"(?!__|<)[^\s…]+")
_MODULE = "nn.Module: "
_FORWARD = "forward"
"""What the function of every module is called: its class says more."""
_FIRST_WORD = regex(r"[\s<(\[]")
_LONGEST_NAME = 60
"""Characters of a name beyond which its first word stands for it: half a name says nothing."""


class Place(msgspec.Struct, frozen=True):
    """Where time goes: ``what``, a name; ``at``: `` at train.py:12``, `` in main of train.py``, or nothing; ``line``: that line
    with its folders, or nothing;
    ``time``: its mean per step, ns. ``called``: whether it is what is called there. ``package``: whose Python calls what is
    written in C, or nothing.
    """

    what: str
    at: str
    time: float
    called: bool = False
    line: str = ""
    package: str = ""

    @property
    def tells(self) -> bool:
        """Whether the name alone says what takes the time: neither the function around the whole recording does nor
        ``<module>`` or ``__call__``.
        """
        around = not self.called and self.at.startswith(" of ")
        return not around and _TELLS.fullmatch(self.what) is not None

    def __str__(self) -> str:
        whose = f"{self.package}'s " if self.package else ""
        return f"{whose}{self.what}{self.at}"


class Path(msgspec.Struct, frozen=True):
    """The critical path of some steps: rows of ``critical_path_steps``, and the mean time of each per
    step, ns. ``spans``: those of the trace.
    """

    facts: Facts
    insight: Insight
    spans: Table
    row: Ints
    time: Array

    @classmethod
    def of(cls, facts: Facts, insight: Insight, spans: Table, steps: Sequence[int]) -> Path:
        """The path of some rows of steps."""
        table = insight["critical_path_steps"]
        row = np.flatnonzero(np.isin(table["step"], np.array(steps, np.int64)))
        return cls(facts, insight, spans, row, table["time"][row] / max(len(steps), 1))

    def of_steps(self, steps: Sequence[int]) -> Path:
        """The path of other rows of steps."""
        return Path.of(self.facts, self.insight, self.spans, steps)

    def column(self, name: str) -> Array:
        """A column of the table for its rows."""
        return self.insight["critical_path_steps"][name][self.row]

    def take(self, causes: Collection[PathCause]) -> Path:
        """The part of some causes."""
        return self.part(np.isin(self.column("cause"), list(causes)))

    def part(self, chosen: Array) -> Path:
        """The rows of a mask."""
        return replace(self, row=self.row[chosen], time=self.time[chosen])

    @property
    def total(self) -> float:
        """Its mean time per step, ns."""
        return float(self.time.sum())

    def without_record(self) -> Path:
        """The part of which the path tells nothing: not recorded, or nothing but the mark of the step."""
        names, texts = self.column("name"), self.facts.strings
        marks = [n for n in unique_values(names).tolist() if n >= 0 and is_step(texts[n])]
        marked = np.isin(names, marks) & (self.column("line") < 0)
        nothing = np.isin(self.column("cause"), GROUPS["not_recorded"])
        return self.part(nothing | marked & (self.column("cause") == PathCause.ANNOTATION))

    def empty(self) -> float:
        """Of its mean time per step that in which no event is recorded anywhere but marks of steps, ns."""
        path, name = self.insight["critical_path"], self.spans["name"]
        own = np.isin(path["group"], self.row)
        start, end = path["start"][own], path["end"][own]
        marks = self.facts["steps"]["name"]
        there = ~np.isin(name, marks) & (self.spans["start"] < end.max(initial=0))
        begin = self.spans["start"][there]
        covered = measure(union(begin, begin + self.spans["dur"][there]), start, end)
        whole = int((end - start).sum())
        return self.total * (1 - int(covered.sum()) / whole) if whole else 0.0

    def place(self) -> Place | None:
        """The line, else the operator, else the event with most of its time, and what is called there if that
        takes most of it: the time is that of both. None without one.
        """
        line, operator, name = (self.column(key) for key in ("line", "operator", "name"))
        known = (operator >= 0) & (self.column("cause") != PathCause.COMMUNICATION)
        where = np.where(line >= 0, line, np.where(known, operator, name))
        number = self._largest(where)
        if number < 0:
            return None
        text = self.facts.strings[number]
        here = self.part(where == number)
        frame = PythonFrame.of(text)
        if frame is None or not frame.is_source:
            return None if _is_mark(text) else Place(bare_name(text), "", here.total, True)
        called = here._largest(here.column("name"))
        of_call = here.part(here.column("name") == called)
        # A frame that was open when the recording began says little: what it calls says more.
        least = NOTABLE if frame.line is None else MOST
        if called < 0 or of_call.total < least * self.total or called == number:
            what = here._module(number) if frame.function == _FORWARD else ""
            return Place(
                what or bare_name(frame.function), at_line(text, ""), here.total, line=text
            )
        what = self.facts.strings[called]
        if _is_mark(what):
            return None
        package = of_call._package() if _written_in_c(what) else ""
        return Place(bare_name(what), at_line(text), of_call.total, True, text, package)

    def _module(self, frame: int) -> str:
        """The class of the module whose function a frame is, by the longest event in it that is not of the backward pass."""
        parent, names = self.facts["span_links"]["parent"], self.spans["name"]
        for event in self.column("event")[np.argsort(-self.time, kind="stable")].tolist():
            inside = False
            while event >= 0:
                number = int(names[event])
                inside = inside or number == frame
                text = self.facts.strings[number]
                if inside and text.startswith(_MODULE):
                    return class_of(bare_name(text))
                event = int(parent[event])
        return ""

    def _package(self) -> str:
        """The package whose Python is nearest around the longest event; empty of the user's own, of PyTorch and of Python."""
        parent = self.facts["span_links"]["parent"]
        event = int(self.column("event")[self.time.argmax()])
        while event >= 0:
            frame = PythonFrame.of(self.facts.strings[int(self.spans["name"][event])])
            if frame is not None and frame.is_source:
                return package_of(frame.file)
            event = int(parent[event])
        return ""

    def _largest(self, keys: Array) -> int:
        """The key with most time; −1 for an empty path."""
        if not len(keys) or not self.total:
            return -1
        each, group = np.unique(keys, return_inverse=True)
        time = sum_by(group, len(each), np.rint(self.time).astype(np.int64))
        return int(each[time.argmax()])


def _written_in_c(name: str) -> bool:
    frame = PythonFrame.of(name)
    return frame is not None and not frame.file


def at_line(text: str, function: str | None = None) -> str:
    """`` at train.py:12`` of ``file(line): function``; without a line `` in main of train.py``, or `` of train.py``
    where ``function`` is empty.
    """
    frame = PythonFrame.of(text)
    if frame is None or not frame.is_source:
        return ""
    if frame.line is not None:
        return f" at {frame.place}"
    return (
        f" in {bare_name(frame.function)} of {frame.place}"
        if function is None
        else f" of {frame.place}"
    )


def of_line(text: str) -> str:
    """``main at train.py:12``, ``main of train.py``."""
    frame = PythonFrame.of(text)
    if frame is None or not frame.is_source:
        return bare_name(text)
    return f"{bare_name(frame.function)}{at_line(text, '')}"


def bare_name(name: str) -> str:
    """The name of an operator as it is, of a call without where it is defined, of a kernel without its types."""
    frame = PythonFrame.of(name)
    if frame is not None and (frame.is_source or not frame.file):
        name = frame.function
    elif not _OPERATOR.fullmatch(name):
        name = short_name(name.removeprefix(_MODULE))
    return name if len(name) <= _LONGEST_NAME else _FIRST_WORD.split(name, maxsplit=1)[0] or name


def is_step(name: str) -> bool:
    """Whether a name is the annotation of a step itself, which says nothing of what takes its time."""
    return name.startswith("ProfilerStep")


def _is_mark(name: str) -> bool:
    return is_step(name) or _INPUT.match(name) is not None
