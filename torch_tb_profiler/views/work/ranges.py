"""Route ``/ranges``."""

from __future__ import annotations

from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.ranges.table import range_table
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.display_wire import wire_columns
from torch_tb_profiler.views.words.vocabulary import vocabulary
from torch_tb_profiler.views.work.ranges_wire import RangesPayload


def ranges_payload(
    facts: Facts, insight: Insight, selection: Selection, limit: int
) -> RangesPayload:
    """The ranges of the selected steps, at most ``limit`` and a row that pools the rest."""
    table = range_table(facts, insight, selection)
    return RangesPayload(
        vocabulary=vocabulary(facts),
        rows=wire_columns(table.head(limit)),
        pooled=max(0, table.n - limit),
    )
