"""Routes ``/trace/search``, ``/trace/search/heat`` and ``/trace/search/next``."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.timeline.counters import edges
from torch_tb_profiler.analysis.timeline.detail import Memoise, is_event
from torch_tb_profiler.analysis.timeline.kinds import KINDS, ChosenKind
from torch_tb_profiler.analysis.timeline.search import Search
from torch_tb_profiler.analysis.timeline.search_texts import LONGEST_QUERY, Query
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.views.timeline.event import Refs
from torch_tb_profiler.views.timeline.event_arguments import with_short_names
from torch_tb_profiler.views.timeline.wire import (
    HeatPayload,
    NextHitPayload,
    SearchKind,
    SearchPayload,
)

__all__ = ["LONGEST_QUERY", "Searched"]

MOST_NAMES = 500


class Searched:
    """A query on a timeline; its hits are kept with the trace for further questions."""

    def __init__(
        self,
        trace: Trace,
        timeline: Timeline,
        memoise: Memoise,
        text: str,
        *,
        regex: bool,
        arguments: bool,
        case: bool,
        kind: ChosenKind = "all",
    ) -> None:
        """Raises BadRequest: the text is empty, no valid pattern, or too expensive."""
        self._trace, self._timeline = trace, timeline
        self._search: Search = memoise("timeline search", lambda: Search(trace, timeline))
        self._hits = self._search.find(Query(text, regex, arguments, case, kind))

    def found(self) -> SearchPayload:
        """How many hits there are, and their names."""
        hits = self._hits
        return SearchPayload(
            total=hits.n,
            kind=hits.kind,
            kinds=[
                SearchKind(kind=kind, count=n)
                for kind, n in zip(KINDS, hits.kinds, strict=True)
                if n
            ],
            names=with_short_names(self._search.matches(hits, MOST_NAMES)),
            names_total=len(hits.names),
        )

    def heat(self, begin: int, end: int, parts: int) -> HeatPayload:
        """Hits that begin in each part of the window."""
        until = np.searchsorted(self._hits.start, edges(begin, end, parts))
        return HeatPayload(counts=np.diff(until).tolist())

    def beside(self, event: int, *, forwards: bool) -> NextHitPayload:
        """The next hit after an event in time order, or the previous one, wrapping around.

        Raises:
            BadRequest: there is no such event.
        """
        if not is_event(self._trace, self._timeline, event):
            raise BadRequest(
                f"Parameter {'after' if forwards else 'before'} is {event}, which is not on the timeline.",
                "Take the numbers from the timeline.",
            )
        passed = self._search.before(self._hits, event, included=forwards)
        return self._hit(passed if forwards else passed - 1)

    def from_time(self, time: int, *, forwards: bool) -> NextHitPayload:
        """The first hit from a time on, or the last before it, wrapping around."""
        passed = int(np.searchsorted(self._hits.start, time))
        return self._hit(passed if forwards else passed - 1)

    def _hit(self, index: int) -> NextHitPayload:
        total = self._hits.n
        if not total:
            return NextHitPayload(hit=None, index=0)
        index %= total
        hit = Refs(self._trace, self._timeline)(int(self._hits.event[index]))
        return NextHitPayload(hit=hit, index=index)
