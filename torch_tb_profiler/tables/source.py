"""What tables are computed from, and how one is declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.store.display import DisplaySpec, DisplayTable
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace

if TYPE_CHECKING:
    from torch_tb_profiler.runs.fleet import Fleet

FleetPlace: TypeAlias = "tuple[Fleet, int]"
"""A fleet and a trace's place among its ranks; −1: not among them."""


class TableSource(msgspec.Struct, frozen=True):
    """A trace with its selected steps. ``derive``: gives the insight, and is called once a table needs it. ``peaks``: file
    of the user's own peaks, empty: none. ``opened``: the trace in its place, None where a process knows only its content.
    ``member``: its place among the ranks that were recorded together with it, None where they are not asked.
    """

    trace: Trace
    facts: Facts
    derive: Callable[[], Insight]
    selection: Selection
    peaks: str = ""
    opened: Opened | None = None
    member: FleetPlace | None = None

    @property
    def in_fleet(self) -> FleetPlace | None:
        """``member``; None also where the fleet does not hold the trace."""
        return None if self.member is None or self.member[1] < 0 else self.member

    @property
    def insight(self) -> Insight:
        """The tables of modules, memory, communication and work."""
        return self.derive()


class Computed(msgspec.Struct, frozen=True):
    """A table's columns, and the function that computes it: called with a ``TableSource`` (of a table of all ranks with a
    ``Fleet``) and options by name.
    """

    spec: DisplaySpec
    function: Callable[..., DisplayTable]

    def __call__(self, of: TableSource | Fleet, **options: Any) -> DisplayTable:
        return self.function(of, **options)


def computes(spec: DisplaySpec) -> Callable[[Callable[..., DisplayTable]], Computed]:
    """Declares that a function computes the table of these columns."""
    return lambda function: Computed(spec, function)
