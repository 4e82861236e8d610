"""Route ``/ranges``."""

from __future__ import annotations

from typing import Annotated, Any

from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.ranges.table import RANGES, range_table
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.display_wire import table_of, wire_columns
from torch_tb_profiler.views.wire import Vocabulary, Wire
from torch_tb_profiler.views.words.vocabulary import vocabulary


class RangesPayload(Wire, frozen=True, kw_only=True):
    """Route ``/ranges``. ``pooled``: ranges that the last row pools; 0 none."""

    vocabulary: Vocabulary
    rows: Annotated[dict[str, Any], table_of(RANGES)]
    pooled: int


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
