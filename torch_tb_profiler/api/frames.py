"""``open(path)`` and the DataFrames of an opened trace; times are integer nanoseconds, unknown is missing (``isna()``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from torch_tb_profiler.analysis.breakdown import CATEGORIES
from torch_tb_profiler.analysis.kernels import KernelGroup, NoOperator, kernel_rows
from torch_tb_profiler.analysis.operators import OperatorGroup, operator_rows, operators_have_device_time
from torch_tb_profiler.analysis.selection import Selection, select
from torch_tb_profiler.analysis.steps import StepFlag
from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.runs.single import Unreadable, load_all
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.columns import Array
from torch_tb_profiler.store.model import Facts, Trace

if TYPE_CHECKING:
    from pandas import DataFrame

KNOWLEDGE = (False, True, None)


class TraceFrames:
    """One imported trace.

    ``steps`` arguments are a range ``(first, last)`` of rows of ``steps()``, both included; None means everything, what lies
    outside all steps included.
    """

    def __init__(self, opened: Opened) -> None:
        self._opened = opened

    def __repr__(self) -> str:
        return f"<TraceFrames run={self.run!r} worker={self.worker!r} span={self.span!r}>"

    @property
    def run(self) -> str:
        """Name of the run."""
        return self._opened.run.name

    @property
    def worker(self) -> str:
        """Name of the worker."""
        return self._opened.worker.name

    @property
    def span(self) -> str:
        """Name of the span."""
        return self._opened.span.name

    @property
    def trace(self) -> Trace:
        """The columns of the events."""
        return self._opened.trace

    @property
    def facts(self) -> Facts:
        """The tables derived from them."""
        return self._opened.facts

    def steps(self) -> DataFrame:
        """One row per step: ``name start_ns wall_ns``, the eight categories as ``<category>_ns`` (their sum is ``wall_ns``), ``cold odd cut``."""
        table = self.facts["steps"]
        columns: dict[str, Any] = {
            "name": self.facts.strings.many(table["name"]),
            "start_ns": table["start"],
            "wall_ns": table["end"] - table["start"],
            **{f"{c}_ns": table[c] for c in CATEGORIES},
            **{flag.name.lower(): (table["flags"] & flag) != 0 for flag in (StepFlag.COLD, StepFlag.ODD, StepFlag.CUT) if flag.name},
        }
        return _frame(columns)

    def operators(self, group: OperatorGroup = "name", steps: tuple[int, int] | None = None) -> DataFrame:
        """One row per operator (``group="name"``), per input shape (``"shape"``) or per call stack (``"stack"``), costliest first.

        Raises:
            IndexError: there is no such step.
        """
        rows = operator_rows(self.facts, self._selection(steps), group)
        texts = self.facts.strings
        device = operators_have_device_time(self.facts)
        columns: dict[str, Any] = {"name": texts.many(rows.name)}
        if group != "name":
            columns["shapes"] = [texts[d] if d >= 0 else None for d in rows.dims.tolist()]
        if group == "stack":
            columns["stack"] = [row if row >= 0 else None for row in rows.stack.tolist()]
        columns |= {
            "calls": rows.calls,
            "device_self_ns": _known(rows.device_self, device),
            "device_total_ns": _known(rows.device_total, device),
            "host_self_ns": rows.host_self,
            "host_total_ns": rows.host_total,
            "matrix_eligible": [KNOWLEDGE[k] for k in rows.matrix_eligible.tolist()],
            "matrix_self_share": rows.matrix_self_share,
            "matrix_total_share": rows.matrix_total_share,
        }
        return _frame(columns)

    def kernels(self, group: KernelGroup = "name", steps: tuple[int, int] | None = None) -> DataFrame:
        """One row per kernel name, or per name, operator and launch properties (``group="properties"``), longest total first.

        Raises:
            IndexError: there is no such step.
        """
        rows = kernel_rows(self.facts, self._selection(steps), group)
        texts = self.facts.strings
        columns: dict[str, Any] = {"name": texts.many(rows.name)}
        if group == "properties":
            columns |= {
                "operator": [texts[n] if n >= 0 else None for n in rows.operator.tolist()],
                "no_operator": [NoOperator(r).name.lower() if r else None for r in rows.reason.tolist()],
                "grid": [texts[n] if n >= 0 else None for n in rows.grid.tolist()],
                "block": [texts[n] if n >= 0 else None for n in rows.block.tolist()],
                "registers": _optional(rows.registers),
                "shared_memory_bytes": _optional(rows.shared_memory),
            }
        columns |= {
            "calls": rows.calls,
            "total_ns": rows.total,
            "mean_ns": rows.mean,
            "min_ns": rows.shortest,
            "max_ns": rows.longest,
            "blocks_per_sm": rows.blocks_per_sm,
            "occupancy": rows.occupancy / 100,
            "matrix": [KNOWLEDGE[k] for k in rows.matrix.tolist()],
            "matrix_eligible": [KNOWLEDGE[k] for k in rows.matrix_eligible.tolist()],
            "communication": rows.communication.astype(np.bool_),
        }
        return _frame(columns)

    def _selection(self, steps: tuple[int, int] | None) -> Selection:
        return select(self.facts) if steps is None else select(self.facts, *steps)


def open_trace(path: str, *, use_cache: bool = True) -> TraceFrames:
    """The trace at a path or URL; the first one where there are several (see ``open_all``).

    Raises:
        SourceError: there is nothing at the path.
        NotATrace: nothing there could be read; the reason is in the message.
    """
    return _frames(path, use_cache, first_only=True)[0]


def open_all(path: str, *, use_cache: bool = True) -> list[TraceFrames]:
    """Every trace of a file, a run folder or a logdir, in the order of runs, workers and spans; unreadable files are left out.

    Raises:
        SourceError: there is nothing at the path.
        NotATrace: nothing there could be read; the reason is in the message.
    """
    return _frames(path, use_cache, first_only=False)


def _frames(path: str, use_cache: bool, *, first_only: bool) -> list[TraceFrames]:
    found: list[TraceFrames] = []
    reason = "no file of it claims to be one"
    for item in load_all(str(path), Settings.from_environment(use_cache=None if use_cache else False)):
        if isinstance(item, Unreadable):
            reason = f"{item.path}: {item.message}"
            continue
        found.append(TraceFrames(item))
        if first_only:
            break
    if not found:
        raise NotATrace(f"{path} holds no readable trace: {reason}")
    return found


def _frame(columns: dict[str, Any]) -> DataFrame:
    import pandas

    frame: DataFrame = pandas.DataFrame(columns)
    return frame


def _known(values: Array, known: bool) -> Any:
    import pandas

    return values if known else pandas.array([pandas.NA] * len(values), dtype="Int64")


def _optional(values: Array) -> Any:
    import pandas

    return pandas.array([v if v >= 0 else pandas.NA for v in values.tolist()], dtype="Int64")
