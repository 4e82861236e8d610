"""The tables of traces and runs in Python. Generated from ``tables/registry.py`` by ``python -m tests.generate --write``;
do not edit it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal, Protocol

from torch_tb_profiler.api.trace_context import Steps, TraceContext

if TYPE_CHECKING:
    from pandas import DataFrame


class OneTrace(Protocol):
    """The tables of one trace."""

    @property
    def context(self) -> TraceContext: ...


class Tables(ABC):
    """Those of one trace or of several."""

    @abstractmethod
    def _table(self, name: str, steps: Steps = None, **options: Any) -> DataFrame:
        """The table of a name, of ``steps`` or of those that are selected."""

    @property
    def steps(self) -> DataFrame:
        """Steps with their times by category."""
        return self._table("steps")

    @property
    def scalars(self) -> DataFrame:
        """What a curve over the steps of a program shows, a row per step."""
        return self._table("scalars")

    @property
    def iterations(self) -> DataFrame:
        """Iterations of an inference server: phase, requests and tokens of each kind, batch, times, and the part of
        the recording (``ramp-up``, ``steady``, ``ramp-down``).
        """
        return self._table("iterations")

    def critical_path(self, steps: Steps = None) -> DataFrame:
        """What the end of each step waited for, segment by segment; the segments of a step add up to its wall time.

        Raises:
            IndexError: there is no such step.
        """
        return self._table("critical_path", steps)

    def operators(
        self, by: Literal["name", "shape", "stack"] = "name", steps: Steps = None
    ) -> DataFrame:
        """Operators by ``"name"``, input ``"shape"`` (and type, with FLOPs and bytes of a call) or call ``"stack"``, the most
        expensive first.

        Raises:
            IndexError: there is no such step.
        """
        return self._table("operators", steps, by=by)

    def kernels(
        self, by: Literal["name", "operator", "properties"] = "name", steps: Steps = None
    ) -> DataFrame:
        """Kernels by ``"name"``, by name and ``"operator"``, or by name, operator and launch ``"properties"`` (grid, block, registers,
        shared memory), the largest total first. By name, behind these a column per hardware counter under its own name where any
        were measured: its mean over the measured launches.

        Raises:
            IndexError: there is no such step.
        """
        return self._table("kernels", steps, by=by)

    def lines(self, by: Literal["own", "package"] = "own", steps: Steps = None) -> DataFrame:
        """Source lines of the user's own program, or by ``"package"`` of that and of packages: time on the critical path, in
        Python, in operators and on the device. Needs ``with_stack=True``.

        Raises:
            IndexError: there is no such step.
        """
        return self._table("lines", steps, by=by)

    def line_ladder(self, steps: Steps = None) -> DataFrame:
        """Time on the critical path by call chain: where it splits, a chain that keeps 95 % of its time being one row. Of Python
        lines; without ``with_stack=True`` of modules, annotations and operators.

        Raises:
            IndexError: there is no such step.
        """
        return self._table("line_ladder", steps)

    def ranges(self, steps: Steps = None) -> DataFrame:
        """Annotated ranges (``record_function``, NVTX, ``gpu_user_annotation``) by name, the busiest on the device first.

        Raises:
            IndexError: there is no such step.
        """
        return self._table("ranges", steps)

    def api_calls(self, steps: Steps = None) -> DataFrame:
        """Calls of the accelerator's runtime and driver by name, the largest total first.

        Raises:
            IndexError: there is no such step.
        """
        return self._table("api_calls", steps)

    def long_calls(self, steps: Steps = None) -> DataFrame:
        """The longest runtime and driver calls with why they took long.

        Raises:
            IndexError: there is no such step.
        """
        return self._table("long_calls", steps)

    def launches(self, short_ns: int = 10000, steps: Steps = None) -> DataFrame:
        """Kernels by name with launch delays and the calls shorter than ``short_ns``.

        Raises:
            IndexError: there is no such step.
        """
        return self._table("launches", steps, short_ns=short_ns)

    def copies(self, steps: Steps = None) -> DataFrame:
        """Copies and memsets by kind, host memory and size.

        Raises:
            IndexError: there is no such step.
        """
        return self._table("copies", steps)

    def compiled(self, steps: Steps = None) -> DataFrame:
        """What torch.compile made and called: the operators that each kernel fuses, its graph and region.
        ``attrs["compilations"]``: what was compiled, and how long that took.

        Raises:
            IndexError: there is no such step.
        """
        return self._table("compiled", steps)

    @property
    def modules(self) -> DataFrame:
        """The tree of ``nn.Module``s with host and device time, forward and backward."""
        return self._table("modules")

    @property
    def memory(self) -> DataFrame:
        """Every allocator record and the memory after it, in all steps."""
        return self._table("memory")

    @property
    def memory_blocks(self) -> DataFrame:
        """Memory blocks from allocation to release, in all steps."""
        return self._table("memory_blocks")

    def memory_alive(self, time_ns: int | None = None, device: str | None = None) -> DataFrame:
        """What is alive at a time, by default at each device's peak, by where it was allocated.

        Raises:
            NotFound: there is no such device.
            TypeError: the time is no integer.
        """
        return self._table("memory_alive", time_ns=time_ns, device=device)

    @property
    def memory_categories(self) -> DataFrame:
        """What was allocated after every record, by what it is for: parameters, gradients, activations …"""
        return self._table("memory_categories")

    def memory_changes(
        self,
        before_ns: int | None = None,
        after_ns: int | None = None,
        by: Literal["operator", "parent", "module", "line", "stack", "category"] = "line",
        device: str | None = None,
        other: OneTrace | None = None,
    ) -> DataFrame:
        """What grew between two times of a device, by default the first, by ``"operator"``, ``"parent"``, ``"module"``, ``"line"``,
        ``"stack"`` or ``"category"``, the largest change first; with ``other`` the second time is of that
        trace. Without times: the peaks.

        Raises:
            NotFound: there is no such device.
            TypeError: a time is no integer.
        """
        return self._table(
            "memory_changes",
            before_ns=before_ns,
            after_ns=after_ns,
            by=by,
            device=device,
            other=other,
        )

    def memory_segments(self, time_ns: int | None = None, device: str | None = None) -> DataFrame:
        """The segments of a memory snapshot, when it was written or at a time, and how full they are.

        Raises:
            NotFound: there is no such device.
            TypeError: the time is no integer.
        """
        return self._table("memory_segments", time_ns=time_ns, device=device)

    @property
    def memory_failures(self) -> DataFrame:
        """Allocations that failed for lack of memory."""
        return self._table("memory_failures")

    @property
    def collectives(self) -> DataFrame:
        """Collectives and point-to-point transfers; of a run matched, with waiting separated from transfer."""
        return self._table("collectives")

    @property
    def counters(self) -> DataFrame:
        """Hardware counters of profiled kernels, one column per counter. ``attrs["matching"]`` says how the ranges were tied
        to their launches.
        """
        return self._table("counters")

    @property
    def counter_samples(self) -> DataFrame:
        """Sampled hardware counters per step."""
        return self._table("counter_samples")

    def efficiency(
        self, by: Literal["operator", "kernel"] = "operator", steps: Steps = None
    ) -> DataFrame:
        """Rates of operators or kernels and their shares of the device's peaks, and recoverable time. ``attrs``: ``device`` (its peaks and their
        sources), ``mfu`` (model FLOPs utilization of the steps), ``notes`` on the figures,
        such as why a rate is above a peak.

        Raises:
            IndexError: there is no such step.
        """
        return self._table("efficiency", steps, by=by)

    def pyprof(self) -> DataFrame:
        """PyProf's kernel table, in all steps."""
        return self._table("pyprof")

    @property
    def findings(self) -> DataFrame:
        """What costs recoverable time, in all steps; of a run stragglers included. ``attrs["headline"]`` is the answer in one
        sentence, ``attrs["detail"]`` what follows it, ``attrs["subject"]`` what all figures are of.
        """
        return self._table("findings")


class RunTables(ABC):
    """Those of all ranks of a run."""

    @abstractmethod
    def _table(self, name: str, steps: Steps = None, **options: Any) -> DataFrame:
        """The table of a name, of ``steps`` or of those that are selected."""

    @property
    def process_groups(self) -> DataFrame:
        """Process groups, of one run: members, nodes, collectives, bytes, time, bus bandwidth beside the peak of NVLink or xGMI
        where it is known.
        """
        return self._table("process_groups")
