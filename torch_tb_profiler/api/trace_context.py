"""One opened trace, the steps that are looked at, and its insight when one is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index

from torch_tb_profiler.analysis.figures.selection import Selection, select
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.runs.single import insight_of
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace

Steps = int | tuple[int, int] | None
"""A step, a first and a last one (both included), or None: all there is, what lies outside all
steps included.
"""


@dataclass(frozen=True)
class TraceContext:
    """``steps`` and ``skip_cold``: what figures are made from, unless an argument says otherwise."""

    opened: Opened
    settings: Settings
    steps: Steps = None
    skip_cold: bool = False

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
        """Made, or read from the cache, when it is first asked for."""
        return self.opened.memoise("insight", lambda: insight_of(self.opened, self.settings))

    def selection(self, steps: Steps = None) -> Selection:
        """The steps that are meant.

        Raises:
            IndexError: there is no such step.
        """
        first, last = bounds(self.steps if steps is None else steps)
        return select(self.facts, first, last, self.skip_cold)


def bounds(steps: Steps) -> tuple[int | None, int | None]:
    """First and last step, both included.

    Raises:
        TypeError: they are neither.
    """
    if steps is None:
        return None, None
    try:
        first, last = steps if isinstance(steps, tuple) else (steps, steps)
        # Rows of a frame hold numpy's integers; a bool is one by accident.
        if not isinstance(first, bool) and not isinstance(last, bool):
            return index(first), index(last)
    except (TypeError, ValueError):
        pass
    raise TypeError(
        f"steps={steps!r}: expected a step, a first and a last one like (2, 4), or None"
    )


__all__ = ["Steps", "TraceContext", "bounds"]
