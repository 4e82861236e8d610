"""Routes ``/trace/search``, ``/trace/search/heat`` and ``/trace/search/next``."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.timeline.buckets import edges
from torch_tb_profiler.analysis.timeline.detail import Memoise, is_event
from torch_tb_profiler.analysis.timeline.search import Search
from torch_tb_profiler.analysis.timeline.search_texts import LONGEST_QUERY, Query
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.views.event import Refs
from torch_tb_profiler.views.event_arguments import cut
from torch_tb_profiler.views.timeline_wire import (
    HeatPayload,
    HitColumns,
    NextHitPayload,
    SearchName,
    SearchPayload,
)

__all__ = ["LONGEST_QUERY", "Searched"]

MOST_NAMES = 500
MOST_HITS = 1000
LONGEST_NAME = 1000


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
    ) -> None:
        """Raises BadRequest: the text is empty, no valid pattern, or too expensive."""
        self._trace, self._timeline = trace, timeline
        self._search: Search = memoise("timeline search", lambda: Search(trace, timeline))
        self._hits = self._search.find(Query(text, regex, arguments, case))

    def found(self) -> SearchPayload:
        """Names and the first hits."""
        hits, search = self._hits, self._search
        shown = hits.names[:MOST_NAMES]
        columns = zip(
            shown.tolist(),
            search.look(shown).tolist(),
            hits.count.tolist(),
            hits.total.tolist(),
            strict=False,
        )
        names = [
            SearchName(name=self._name(name), look=look, count=count, total_ns=total)
            for name, look, count, total in columns
        ]
        refs, events = Refs(self._trace, self._timeline), search.first(hits, MOST_HITS)
        listed = [refs(event) for event in events]
        columns_of_hits = HitColumns(
            event=events,
            lane=[ref.lane for ref in listed],
            name=[cut(ref.name, LONGEST_NAME) for ref in listed],
            start_ns=[ref.start_ns for ref in listed],
            dur_ns=[ref.dur_ns for ref in listed],
        )
        return SearchPayload(
            total=hits.n, names=names, names_total=len(hits.names), hits=columns_of_hits
        )

    def heat(self, begin: int, end: int, parts: int) -> HeatPayload:
        """Hits that begin in each part of the window."""
        return HeatPayload(
            counts=np.diff(self._search.until(self._hits, edges(begin, end, parts))).tolist()
        )

    def after(self, event: int) -> NextHitPayload:
        """The next hit in time order, wrapping around.

        Raises:
            BadRequest: there is no such event.
        """
        self._must_exist("after", event)
        return self._hit(self._search.before(self._hits, event, included=True))

    def before(self, event: int) -> NextHitPayload:
        """The previous hit in time order, wrapping around.

        Raises:
            BadRequest: there is no such event.
        """
        self._must_exist("before", event)
        return self._hit(self._search.before(self._hits, event, included=False) - 1)

    def from_time(self, time: int, *, forwards: bool) -> NextHitPayload:
        """The first hit from a time on, or the last before it, wrapping around."""
        passed = int(self._search.until(self._hits, np.array([time]))[0])
        return self._hit(passed if forwards else passed - 1)

    def _hit(self, index: int) -> NextHitPayload:
        total = self._hits.n
        if not total:
            return NextHitPayload(hit=None, index=0, total=0)
        index %= total
        return NextHitPayload(
            hit=Refs(self._trace, self._timeline)(self._search.event_at(self._hits, index)),
            index=index,
            total=total,
        )

    def _must_exist(self, name: str, event: int) -> None:
        if not is_event(self._trace, self._timeline, event):
            raise BadRequest(
                f"Parameter {name} is {event}, which is not on the timeline.",
                "Take the numbers from the timeline.",
            )

    def _name(self, row: int) -> str:
        return cut(self._trace.strings[int(self._timeline["names"]["text"][row])], LONGEST_NAME)
