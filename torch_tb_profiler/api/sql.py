"""The answer of a statement as a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.sql.engine import Limits, frame
from torch_tb_profiler.tables.source import TableSource

if TYPE_CHECKING:
    from pandas import DataFrame

MEMORY = 4 << 30


def answered(context: TraceContext, statement: str, seconds: float) -> DataFrame:
    """The answer to one SELECT over the tables of a trace; ``seconds``: it may take no longer."""
    whole = select(context.facts)
    data = TableSource(context.trace, context.facts, lambda: context.insight, whole)
    return frame(data, statement, Limits(seconds=seconds, memory=MEMORY))
