"""Pairs of recordings on one axis: each is aligned once, and kept for the requests that look at parts of it."""

from __future__ import annotations

from torch_tb_profiler.analysis.diff.aligned_recordings import (
    AlignedRecordings,
    RecordedSide,
    align_recordings,
)
from torch_tb_profiler.runs.memo import Memo
from torch_tb_profiler.runs.model import OpenedInsight
from torch_tb_profiler.store.columns import Ints

MOST, MOST_SPANS = 8, 40_000_000
"""Pairs that are kept, and spans of their recordings together; the last one is kept whatever its size."""

Steps = tuple[OpenedInsight, Ints]
"""A recording and rows of its steps."""


class Alignments:
    """Alignments by the content of the recordings. One is made at a time: a large one needs much memory."""

    def __init__(self) -> None:
        self._kept = Memo(MOST, weighed=False, heaviest=MOST_SPANS, one_at_a_time=True)

    def of(self, before: Steps, after: Steps) -> AlignedRecordings:
        """Both recordings, with these steps, on one axis."""
        key = tuple((insight.id, rows.tobytes()) for insight, rows in (before, after))
        sides = [
            RecordedSide(insight.opened.trace, insight.opened.facts, insight.insight, rows)
            for insight, rows in (before, after)
        ]
        spans = sum(side.trace["spans"].n for side in sides)
        return self._kept.get(key, lambda: align_recordings(*sides), spans)
