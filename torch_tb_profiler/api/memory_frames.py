"""The tables of memory of one trace or of several."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, get_args

from torch_tb_profiler.analysis.memory.changes import MemoryBy
from torch_tb_profiler.api import memory
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.errors import BadRequest

if TYPE_CHECKING:
    from pandas import DataFrame

Make = Callable[[TraceContext], "DataFrame"]


class OneTrace(Protocol):
    """The frames of one trace."""

    @property
    def context(self) -> TraceContext: ...


class MemoryFrames(ABC):
    """What allocators recorded."""

    @abstractmethod
    def _each(self, make: Make) -> DataFrame:
        """The table of every trace."""

    @property
    def memory(self) -> DataFrame:
        """Every allocator record and the memory after it, in all steps."""
        return self._each(memory.curve)

    @property
    def memory_blocks(self) -> DataFrame:
        """Memory blocks from allocation to release, in all steps."""
        return self._each(memory.blocks)

    def memory_alive(self, time_ns: int | None = None, device: str | None = None) -> DataFrame:
        """What is alive at a time, by default at each device's peak, by where it was allocated.

        Raises:
            NotFound: there is no such device.
        """
        return self._each(lambda context: memory.alive(context, time_ns, device))

    @property
    def memory_categories(self) -> DataFrame:
        """What was allocated after every record, by what it is for: parameters, gradients, activations …"""
        return self._each(memory.categories)

    @property
    def memory_failures(self) -> DataFrame:
        """Allocations that failed for lack of memory."""
        return self._each(memory.failures)

    def memory_segments(self, time_ns: int | None = None, device: str | None = None) -> DataFrame:
        """The segments of a memory snapshot, when it was written or at a time, and how full they are.

        Raises:
            NotFound: there is no such device.
        """
        return self._each(lambda context: memory.segments(context, time_ns, device))

    def memory_changes(
        self,
        before_ns: int | None = None,
        after_ns: int | None = None,
        by: MemoryBy = "line",
        device: str | None = None,
        other: OneTrace | None = None,
    ) -> DataFrame:
        """What grew between two times of a device, by ``"operator"``, ``"parent"``, ``"module"``, ``"line"``,
        ``"stack"`` or ``"category"``, the largest change first; with ``other`` the second time is of that
        trace. Without times: the peaks.

        Raises:
            NotFound: there is no such device.
        """
        one_of(by, get_args(MemoryBy))
        with_other = None if other is None else other.context
        return self._each(
            lambda context: memory.changes(context, before_ns, after_ns, by, device, with_other)
        )


def one_of(given: str, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise BadRequest(f"by={given!r} is not known.", f"Take one of: {', '.join(allowed)}.")
