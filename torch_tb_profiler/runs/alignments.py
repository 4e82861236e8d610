"""Pairs of recordings on one axis: each is aligned once, in a thread, and kept for the requests that look at parts of it."""

from __future__ import annotations

import threading
from collections.abc import Hashable

import msgspec

from torch_tb_profiler.analysis.diff.aligned_recordings import (
    AlignedRecordings,
    RecordedSide,
    align_recordings,
)
from torch_tb_profiler.errors import NotReady
from torch_tb_profiler.runs.memo import Memo
from torch_tb_profiler.runs.model import OpenedInsight
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.units import format_share

MOST, MOST_SPANS = 8, 40_000_000
"""Pairs that are kept, and spans of their recordings together; the last one is kept whatever its size."""
WAIT_SECONDS = 2.0
"""How long a request waits before it answers how far the alignment is."""

Steps = tuple[OpenedInsight, Ints]
"""A recording and rows of its steps."""


class _Job(msgspec.Struct):
    """``share`` is done; ``failed``: why it never will be."""

    ended: threading.Event = msgspec.field(default_factory=threading.Event)
    share: float = 0.0
    failed: Exception | None = None

    def report(self, share: float) -> None:
        self.share = share


class Alignments:
    """Alignments by the content of the recordings. One is made at a time: a large one needs much memory."""

    def __init__(self) -> None:
        self._kept = Memo(MOST, weighed=False, heaviest=MOST_SPANS, one_at_a_time=True)
        self._lock = threading.Lock()
        self._jobs: dict[Hashable, _Job] = {}

    def of(self, before: Steps, after: Steps) -> AlignedRecordings:
        """Both recordings, with these steps, on one axis.

        Raises:
            NotReady: it takes long.
        """
        key = tuple((insight.id, rows.tobytes()) for insight, rows in (before, after))
        kept: AlignedRecordings | None = self._kept.kept(key)
        if kept is not None:
            return kept
        sides = [
            RecordedSide(insight.opened.trace, insight.opened.facts, insight.insight, rows)
            for insight, rows in (before, after)
        ]
        with self._lock:
            job = self._jobs.get(key)
            if job is None:
                job = self._jobs[key] = _Job()
                threading.Thread(target=self._work, args=(key, job, *sides), daemon=True).start()
        if not job.ended.wait(WAIT_SECONDS):
            raise NotReady(
                f"The operations of both recordings are being matched: {format_share(job.share)}.",
                "Wait a moment.",
                progress=job.share,
            )
        if job.failed is not None:
            raise job.failed
        return self._aligned(key, job, *sides)

    def _work(self, key: Hashable, job: _Job, before: RecordedSide, after: RecordedSide) -> None:
        try:
            self._aligned(key, job, before, after)
        except Exception as error:  # it is raised where it was asked for
            job.failed = error
        finally:
            with self._lock:
                self._jobs.pop(key, None)
            job.ended.set()

    def _aligned(
        self, key: Hashable, job: _Job, before: RecordedSide, after: RecordedSide
    ) -> AlignedRecordings:
        spans = before.trace["spans"].n + after.trace["spans"].n
        return self._kept.get(key, lambda: align_recordings(before, after, job.report), spans)
