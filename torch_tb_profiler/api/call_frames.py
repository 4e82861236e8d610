"""The DataFrames of calls of the accelerator's runtime, of what they launch and copy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from torch_tb_profiler.analysis.api_calls.launches import SHORT_NS
from torch_tb_profiler.analysis.api_calls.queues import FULL
from torch_tb_profiler.analysis.api_calls.sequences import LONGEST
from torch_tb_profiler.api import tables
from torch_tb_profiler.api.frame import table_frame
from torch_tb_profiler.api.memory_frames import Make
from torch_tb_profiler.api.trace_context import Steps

if TYPE_CHECKING:
    from pandas import DataFrame


class CallFrames(ABC):
    """The part of ``Frames`` that is about these calls."""

    @abstractmethod
    def _each(self, make: Make) -> DataFrame:
        """The table of every trace."""

    def api_calls(self, steps: Steps = None) -> DataFrame:
        """Calls of the accelerator's runtime and driver by name, the largest total first.

        Raises:
            IndexError: there is no such step.
        """
        return self._each(lambda context: table_frame(tables.api_calls(context, steps)))

    def long_calls(self, queue_limit: int = FULL, steps: Steps = None) -> DataFrame:
        """The longest runtime and driver calls with why they took long. Raises as ``api_calls`` does."""
        return self._each(
            lambda context: table_frame(tables.long_api_calls(context, steps, queue_limit))
        )

    def launches(self, short_ns: int = SHORT_NS, steps: Steps = None) -> DataFrame:
        """Kernels by name with launch delays and the calls shorter than ``short_ns``. Raises as ``api_calls`` does."""
        return self._each(lambda context: table_frame(tables.launches(context, steps, short_ns)))

    def queues(self, limit: int = FULL, steps: Steps = None) -> DataFrame:
        """Waiting launches of each stream; ``limit`` of them fill its queue. Raises as ``api_calls`` does."""
        return self._each(lambda context: table_frame(tables.queues(context, steps, limit)))

    def copies(self, steps: Steps = None) -> DataFrame:
        """Copies and memsets by kind, host memory and size. Raises as ``api_calls`` does."""
        return self._each(lambda context: table_frame(tables.copies(context, steps)))

    def kernel_sequences(
        self, operator: str = "", longest: int = LONGEST, steps: Steps = None
    ) -> DataFrame:
        """Kernels that follow each other on a stream more than once, 3 to ``longest`` of them; with ``operator`` all that
        each call of an operator with this in its name launched. Raises as ``api_calls`` does.
        """
        return self._each(
            lambda context: table_frame(tables.kernel_sequences(context, longest, operator, steps))
        )
