"""An opened trace with its selected steps."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.analysis.figures.selection import Selection, select
from torch_tb_profiler.runs.loading import insight_of
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.columns import Mask
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.tables.source import FleetPlace, TableSource

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.what_if.simulation import Simulation

Steps = int | tuple[int, int] | None
"""A step, a first and a last step (both included), or None: everything, also outside all steps."""


class TraceContext(msgspec.Struct, frozen=True):
    """``steps`` and ``skip_cold`` select what figures are made from. ``cold``: which steps are cold in the job of the trace,
    where its ranks were asked.
    """

    opened: Opened
    settings: Settings
    steps: Steps = None
    skip_cold: bool = False
    cold: Mask | None = None

    @property
    def trace(self) -> Trace:
        """The columns of the events."""
        return self.opened.trace

    @property
    def facts(self) -> Facts:
        """The tables derived from them."""
        return self.opened.facts

    @property
    def insight(self) -> Insight:
        """Derived or read from the cache on first use."""
        return self.opened.memoise("insight", lambda: insight_of(self.opened, self.settings))

    def simulation(self, member: FleetPlace | None = None) -> Simulation:
        """The trace's graph, for replays with changes; made on first use. ``member``: its place in a run, whose other ranks tell how
        long it waits for them.
        """
        from torch_tb_profiler.analysis.efficiency.device import usable
        from torch_tb_profiler.analysis.what_if.simulation import Simulation

        return self.opened.memoise(
            ("simulation", member and member[0].id),
            lambda: Simulation(
                self.trace, self.facts, self.insight_beside(member), usable(self.settings.peaks)
            ),
        )

    def insight_beside(self, member: FleetPlace | None) -> Insight:
        """The insight; of a member of a run waiting for its other ranks is told apart on the path."""
        from torch_tb_profiler.tables.ranks import path_insight

        return path_insight(self.source(member=member))

    def selection(self, steps: Steps = None) -> Selection:
        """``steps``, else those of the context.

        Raises:
            IndexError: there is no such step.
        """
        first, last = bounds(self.steps if steps is None else steps)
        return select(self.facts, first, last, self.skip_cold, self.cold)

    def source(self, steps: Steps = None, member: FleetPlace | None = None) -> TableSource:
        """What tables of ``steps``, else of the steps of the context, are computed from. ``member``: the place of the trace
        among the ranks that were recorded together with it.

        Raises:
            IndexError: there is no such step.
        """
        return TableSource(
            self.trace,
            self.facts,
            lambda: self.insight,
            self.selection(steps),
            self.settings.peaks,
            self.opened,
            member,
        )


def job_contexts(contexts: Sequence[TraceContext]) -> list[TraceContext]:
    """The traces, each with what is cold in its job: in the recordings that were made together with it."""
    from torch_tb_profiler.analysis.facts.flags import StepFlag
    from torch_tb_profiler.analysis.figures.step_kinds import agreed

    jobs: dict[object, list[int]] = {}
    for at, context in enumerate(contexts):
        opened = context.opened
        members = frozenset((worker.name, span.name) for worker, span in opened.beside)
        jobs.setdefault((opened.run.name, members), []).append(at)
    told = list(contexts)
    for rows in jobs.values():
        masks = agreed([contexts[at].facts for at in rows], StepFlag.COLD)
        for at, cold in zip(rows, masks, strict=True):
            told[at] = replace(contexts[at], cold=cold)
    return told


def bounds(steps: Steps) -> tuple[int | None, int | None]:
    """First and last step, both included.

    Raises:
        TypeError: they are neither.
    """
    if steps is None:
        return None, None
    try:
        first, last = steps if isinstance(steps, tuple) else (steps, steps)
        # DataFrames hold numpy integers; a bool is an int by accident.
        if not isinstance(first, bool) and not isinstance(last, bool):
            return index(first), index(last)
    except (TypeError, ValueError):
        pass
    raise TypeError(
        f"steps={steps!r}: expected a step, a first and a last one like (2, 4), or None"
    )
