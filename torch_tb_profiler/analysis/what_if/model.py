"""What a change may alter, and the events that it chooses."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec.structs import astuple

from torch_tb_profiler.analysis.arrays.grouping import picked, positions_of
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.critical_path.device import device_causes
from torch_tb_profiler.analysis.efficiency.device import Peaks, device_peaks
from torch_tb_profiler.analysis.facts.calltree import is_call
from torch_tb_profiler.analysis.facts.host_names import host_names, name_mask, spans_named
from torch_tb_profiler.analysis.facts.launches import GIVES_WORK
from torch_tb_profiler.analysis.facts.replay_calls import captured_calls
from torch_tb_profiler.analysis.what_if.graph import Graph
from torch_tb_profiler.analysis.what_if.replay import Durations
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask, is_one_of
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathCause, PathKind
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

_OF_PROFILER = regex(r"torch/(?:autograd/)?profiler|torch_tb_profiler/|contextlib\.py|_profiler\b")
_KEPT_BYTES = 128 << 20
"""Of choices that are kept."""
_T = TypeVar("_T")


class Scene(msgspec.Struct, frozen=True, dict=True):
    """A trace, its graph and what is known of it; the same for all changes."""

    trace: Trace
    facts: Facts
    insight: Insight
    graph: Graph
    peaks_file: str = ""
    _chosen: dict[Hashable, Any] = msgspec.field(default_factory=dict)

    def once(self, key: Hashable, choose: Callable[[], _T]) -> _T:
        """What ``choose`` returns, kept under a key: what an edit chooses does not depend on what else is changed, and
        changes that are made together are first made one by one.
        """
        if key in self._chosen:
            chosen: _T = self._chosen[key]
            return chosen
        chosen = choose()
        # Copies of the dictionary: rules of another thread may choose at the same time.
        for oldest in list(self._chosen):
            if sum(map(_bytes, list(self._chosen.values()))) + _bytes(chosen) <= _KEPT_BYTES:
                break
            self._chosen.pop(oldest, None)
        self._chosen[key] = chosen
        return chosen

    def rows(self, key: Hashable, choose: Callable[[], Ints]) -> Ints:
        """Rows of spans, chosen ``once``; kept at half their size."""
        return self.once(key, lambda: choose().astype(np.int32)).astype(np.int64)

    @cached_property
    def peaks(self) -> Peaks:
        """The device's peaks."""
        return device_peaks(self.facts, self.peaks_file)

    @cached_property
    def work_causes(self) -> Array:
        """``PathCause`` of device work, uint8 of shape (device events,)."""
        return device_causes(self.trace, self.facts, self.graph.work.row)

    @cached_property
    def waiting(self) -> Array:
        """How long each piece of device work waits for another rank on the path, ns, float64 of shape (device events,): no change
        of the transfer takes that. 0 where the other ranks are not known.
        """
        time = np.zeros(len(self.graph.work.row))
        # While an insight is made its path is not there yet, nor are other ranks.
        if (path := self.insight.tables.get("critical_path")) is None:
            return time
        row = np.flatnonzero(path["cause"] == PathCause.WAITING)
        at = positions_of(self.graph.work.row, path["event"][row].astype(np.int64))
        np.add.at(time, at[at >= 0], (path["end"] - path["start"])[row[at >= 0]])
        return time

    @cached_property
    def _names(self) -> Mask:
        """Which names spans of each role have, bool of shape (roles, strings + 1)."""
        spans, width = self.trace["spans"], len(self.trace.strings) + 1
        found = np.zeros((max(Role) + 1) * width, np.bool_)
        found[spans["role"].astype(np.int64) * width + spans["name"]] = True
        return found.reshape(-1, width)

    def spans_named(self, glob: str, *roles: Role) -> Mask:
        """Which rows of spans have a name like ``glob``, of some roles or of any."""
        spans, like = self.trace["spans"], pattern(glob)
        mine = np.isin(np.arange(len(self._names)), roles or list(Role))
        numbers = np.flatnonzero(np.any(self._names[mine], axis=0)[:-1])
        named = name_mask(self.trace.strings, numbers, like)
        if not named.any():
            return np.zeros(spans.n, np.bool_)
        return named.take(spans["name"]) & mine.take(spans["role"])

    def inside(self, outer: Mask) -> Choice:
        """What happens at or in some spans, and the device work that is launched there."""
        nothing = self.nothing
        if not outer.any():
            return nothing

        def bits() -> tuple[Array, Array]:
            under = np.append(nearest(self.facts["span_links"]["parent"], outer) >= 0, False)
            work = self.graph.work
            own = outer[work.row] | under[work.launch] & (work.launch >= 0)
            return np.packbits(under.take(self.graph.host.span)), np.packbits(own)

        key = ("inside", np.packbits(outer).tobytes())
        masks = zip(self.once(key, bits), astuple(nothing), strict=True)
        return Choice(*(np.unpackbits(bits, count=len(of)).view(np.bool_) for bits, of in masks))

    def within(self, glob: str, *roles: Role) -> Choice:
        """What happens in spans of a name, and replayed work whose capture lay within calls of it."""
        calls, work = self.trace["captured_calls"], self.graph.work.row
        named = name_mask(self.trace.strings, calls["name"], pattern(glob))[calls["name"]]
        if roles:
            named &= np.isin(calls["role"], roles)
        chosen = self.inside(self.spans_named(glob, *roles))
        again = captured_calls(self.trace, self.facts, work, named) >= 0
        return Choice(chosen.segment, chosen.work | again)

    @property
    def nothing(self) -> Choice:
        """Chooses nothing."""
        segment, work = len(self.graph.host.span), len(self.graph.work.row)
        return Choice(np.zeros(segment, np.bool_), np.zeros(work, np.bool_))

    def in_module(self, glob: str) -> Choice:
        """What happens in modules with a name like ``glob``, in their backward too."""
        paths = self.insight["paths"]
        names, like = self.insight.strings, pattern(glob)
        module = np.flatnonzero(paths["kind"] == PathKind.MODULE)
        named = np.zeros(paths.n, np.bool_)
        named[module] = [like(text) is not None for text in names.many(paths["name"][module])]
        under = np.append(nearest(paths["parent"], named) >= 0, False)
        path = np.append(self.insight["span_paths"]["path"], np.int32(-1))
        return Choice(under[path[self.graph.host.span]], under[path[self.graph.work.row]])

    @cached_property
    def waits(self) -> tuple[Ints, Ints]:
        """Host points that blocking calls end in, and segments of host threads in which such a call waits."""
        host = self.graph.host
        waiting = (host.cause == PathCause.SYNCHRONIZATION) & (host.span >= 0)
        return np.flatnonzero(self.graph.points.call >= 0), np.flatnonzero(waiting)

    @cached_property
    def silent(self) -> Mask:
        """Segments of host threads in which nothing was recorded but marks of steps."""
        spans, span = self.trace["spans"], self.graph.host.span
        steps = host_names(self.trace.strings, spans["name"][is_call(spans["role"])]).step >= 0
        return np.asarray((span < 0) | steps[picked(spans["name"], span)])

    @cached_property
    def has_program(self) -> bool:
        """Whether anything is the program's: an operator, device work, a frame, a region, or a call that gives the device
        work. A profiler records calls and frames of its own.
        """
        spans, role = self.trace["spans"], self.trace["spans"]["role"]
        called = is_one_of(role, (Role.OPERATOR, Role.ANNOTATION, Role.RUNTIME, Role.PYTHON))
        own = ~is_one_of(role, (Role.PROFILER, Role.OVERHEAD, Role.SYNC, Role.DEVICE_ANNOTATION))
        if (own & ~called).any():
            return True
        steps = host_names(self.trace.strings, spans["name"][called])
        rest = called & (steps.step < 0)[spans["name"]] & ~steps.hidden[spans["name"]]
        rest &= ~spans_named(self.trace, role == Role.PYTHON, _OF_PROFILER.search)
        gives = spans_named(self.trace, role == Role.RUNTIME, GIVES_WORK.match)
        return bool((rest & ((role != Role.RUNTIME) | gives)).any())

    def of_cause(self, *causes: PathCause) -> Choice:
        """What is of some causes."""
        return Choice(is_one_of(self.graph.host.cause, causes), is_one_of(self.work_causes, causes))


def _bytes(chosen: Any) -> int:
    """Of an array, or of those of a tuple or structure."""
    parts = astuple(chosen) if isinstance(chosen, msgspec.Struct) else chosen
    each = parts if isinstance(parts, tuple) else (parts,)
    return sum(part.nbytes for part in each if isinstance(part, np.ndarray))


class Choice(msgspec.Struct, frozen=True):
    """Which segments of host threads, and which pieces of device work."""

    segment: Mask
    work: Mask

    def __and__(self, other: Choice) -> Choice:
        return Choice(self.segment & other.segment, self.work & other.work)

    def scale(self, durations: Durations, factor: float) -> None:
        """All of it takes ``factor`` times as long."""
        if self.segment.any():
            durations.segment[self.segment] *= factor
        if self.work.any():
            durations.work[self.work] *= factor


def pattern(glob: str) -> Callable[[str], object]:
    """A matcher of whole names: ``*`` stands for anything, ``?`` for one character."""
    # Its expressions do not backtrack, whatever the number of asterisks. Names hold brackets.
    return re.compile(fnmatch.translate(glob.replace("[", "[[]"))).match
