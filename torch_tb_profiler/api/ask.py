"""The answer to a question as a DataFrame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch_tb_profiler.api.fleets import fleet_places
from torch_tb_profiler.api.table_frame import table_frame
from torch_tb_profiler.api.trace_context import Steps, TraceContext
from torch_tb_profiler.tables.ask import ask

if TYPE_CHECKING:
    from pandas import DataFrame


def asked(
    context: TraceContext, beside: Sequence[TraceContext], question: str, steps: Steps
) -> DataFrame:
    """The rows of ``ASK`` of a trace. ``beside``: all that are open, itself among them.

    Raises:
        IndexError: there is no such step.
    """
    (member,) = (
        place for one, place in zip(beside, fleet_places(beside), strict=True) if one is context
    )
    runs = [one.opened.run for one in beside]
    found = ask(context.source(steps, member), question, runs)
    return table_frame(found.table.with_attributes(sentence=found.sentence, over=found.over))
