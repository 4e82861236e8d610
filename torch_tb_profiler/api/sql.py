"""The answer of a statement as a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.sql.engine import Limits, frame
from torch_tb_profiler.sql.readable import Data

if TYPE_CHECKING:
    from pandas import DataFrame

MEMORY = 4 << 30


def data_of(context: TraceContext) -> Data:
    """What statements on a trace are answered from."""
    return Data(context.trace, context.facts, lambda: context.insight)


def answered(context: TraceContext, statement: str, seconds: float) -> DataFrame:
    """The answer to one SELECT over the tables of a trace; ``seconds``: it may take no longer."""
    return frame(data_of(context), statement, Limits(seconds=seconds, memory=MEMORY))
