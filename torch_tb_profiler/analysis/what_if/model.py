"""What a change may alter, and the events that it chooses."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.critical_path.device import device_causes
from torch_tb_profiler.analysis.efficiency.device import Peaks, device_peaks
from torch_tb_profiler.analysis.facts.names import name_mask
from torch_tb_profiler.analysis.facts.replayed import captured_calls
from torch_tb_profiler.analysis.what_if.graph import Graph
from torch_tb_profiler.analysis.what_if.replay import Durations
from torch_tb_profiler.store.columns import Array, Mask
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathCause, PathKind
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role


@dataclass(frozen=True)
class Scene:
    """A trace, its graph and what is known of it; the same for all changes."""

    trace: Trace
    facts: Facts
    insight: Insight
    graph: Graph
    peaks_file: str = ""

    @cached_property
    def peaks(self) -> Peaks:
        """The device's peaks."""
        return device_peaks(self.facts, self.peaks_file)

    @cached_property
    def work_causes(self) -> Array:
        """``PathCause`` of device work, uint8 of shape (device events,)."""
        return device_causes(self.trace, self.facts, self.graph.work.row)

    def spans_named(self, glob: str, *roles: Role) -> Mask:
        """Which rows of spans have a name like ``glob``, of some roles or of any."""
        spans = self.trace["spans"]
        like = pattern(glob)
        if not roles:
            return name_mask(self.trace.strings, spans["name"], like)[spans["name"]]
        mine = np.isin(spans["role"], roles)
        return mine & name_mask(self.trace.strings, spans["name"][mine], like)[spans["name"]]

    def inside(self, outer: Mask) -> Choice:
        """What happens at or in some spans, and the device work that is launched there."""
        if not outer.any():
            return self.nothing
        under = np.append(nearest(self.facts["span_links"]["parent"], outer) >= 0, False)
        work = self.graph.work
        own = outer[work.row] | under[work.launch] & (work.launch >= 0)
        return Choice(under[self.graph.host.span], own)

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

    def of_cause(self, *causes: PathCause) -> Choice:
        """What is of some causes."""
        return Choice(np.isin(self.graph.host.cause, causes), np.isin(self.work_causes, causes))


@dataclass(frozen=True)
class Choice:
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
