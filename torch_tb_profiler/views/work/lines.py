"""Route ``/lines``."""

from __future__ import annotations

from typing import Annotated, Any

from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.figures.source_lines import LineGroup as LineGroup
from torch_tb_profiler.analysis.module.own_lines import LINES, own_lines
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.python_frames import PythonFrame
from torch_tb_profiler.units import format_ns
from torch_tb_profiler.views.display_wire import table_of, wire_columns
from torch_tb_profiler.views.steps import summed_over
from torch_tb_profiler.views.wire import Missing, Vocabulary, Wire
from torch_tb_profiler.views.words.texts import missing
from torch_tb_profiler.views.words.vocabulary import vocabulary


class LinesPayload(Wire, frozen=True, kw_only=True):
    """Route ``/lines``. ``sentences``: the line that the steps waited for longest, and which steps the sums are of; empty
    without lines. ``pooled``: lines that the last row pools; 0 none.
    """

    vocabulary: Vocabulary
    sentences: list[str]
    rows: Annotated[dict[str, Any], table_of(LINES)]
    pooled: int
    missing: list[Missing]


def lines_payload(
    trace: Trace,
    facts: Facts,
    insight: Insight,
    selection: Selection,
    group: LineGroup,
    limit: int,
) -> LinesPayload:
    """The lines of the selected steps, at most ``limit`` and a row that pools the rest."""
    table = own_lines(trace, facts, insight, selection, group)
    return LinesPayload(
        vocabulary=vocabulary(facts),
        sentences=[*_first(table), summed_over(facts, selection)] if table.n else [],
        rows=wire_columns(table.head(limit)),
        pooled=max(0, table.n - limit),
        missing=missing(absent(facts), ("host", "stack")),
    )


def _first(table: DisplayTable) -> list[str]:
    """``main at train.py:12 takes 1.21 s of the 1.22 s on the path.``, or that none of it has a line."""
    whole = int(table["path_ns"].sum())
    for text, time in zip(table.texts("line"), table["path_ns"].tolist(), strict=True):
        frame = PythonFrame.of(text or "")
        if frame is not None and time:
            return [f"{frame.short} takes {format_ns(time)} of the {format_ns(whole)} on the path."]
    return [f"No line is known for the {format_ns(whole)} on the path."]
