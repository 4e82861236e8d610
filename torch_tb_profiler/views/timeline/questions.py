"""Answers to questions about a timeline: the routes ``/trace/search``, ``/trace/area``, ``/trace/arrows``, ``/trace/counters`` and those beneath them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import asdict

from torch_tb_profiler.analysis.arrays.grouping import mask_of
from torch_tb_profiler.analysis.timeline.area import GroupBusy, area_of
from torch_tb_profiler.analysis.timeline.area_flame import MOST_EVENTS, area_flame
from torch_tb_profiler.analysis.timeline.arrows import arrows_within, spread
from torch_tb_profiler.analysis.timeline.counters import edges, in_buckets
from torch_tb_profiler.analysis.timeline.detail import Memoise, is_event
from torch_tb_profiler.analysis.timeline.kinds import (
    KIND_OF_LOOK,
    KINDS,
    ChosenKind,
    Kind,
    chosen_kind,
)
from torch_tb_profiler.analysis.timeline.search import Search
from torch_tb_profiler.analysis.timeline.search_texts import LONGEST_QUERY, Query
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.store.columns import Array, Mask
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.views.display_wire import optional_floats
from torch_tb_profiler.views.timeline.event import Refs
from torch_tb_profiler.views.timeline.event_arguments import with_short_names
from torch_tb_profiler.views.timeline.payload import MOST_GROUPS, group_key
from torch_tb_profiler.views.timeline.wire import (
    AreaFlamePayload,
    AreaGroup,
    AreaKind,
    AreaOverlap,
    AreaPayload,
    ArrowsPayload,
    CounterCurve,
    CountersPayload,
    HeatPayload,
    NextHitPayload,
    SearchKind,
    SearchPayload,
)

__all__ = [
    "LONGEST_QUERY",
    "ChosenKind",
    "Kind",
    "Searched",
    "area_flame_payload",
    "area_payload",
    "arrows_payload",
    "counters_payload",
]

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


MOST_ROWS = 1000


def _largest(groups: Sequence[GroupBusy]) -> Sequence[GroupBusy]:
    """The groups that the timeline shows of very many: those with the most events, in order."""
    if len(groups) <= MOST_GROUPS:
        return groups
    least = sorted((group.events for group in groups), reverse=True)[MOST_GROUPS - 1]
    return [group for group in groups if group.events >= least][:MOST_GROUPS]


def area_payload(
    trace: Trace,
    timeline: Timeline,
    begin: int,
    end: int,
    lanes: Sequence[int],
    kind: ChosenKind = "all",
) -> AreaPayload:
    """Statistics of [begin, end), ns, on some lanes (ascending)."""
    area = area_of(trace, timeline, begin, end, lanes)
    chosen = chosen_kind(kind, [each for each, *_ in area.kinds])
    rows = area.rows
    if chosen != "all":
        rows = rows.take(np.flatnonzero(KIND_OF_LOOK[rows["look"]] == KINDS.index(chosen)))
    return AreaPayload(
        t0_ns=begin,
        t1_ns=end,
        kinds=[
            AreaKind(kind=each, names=names, events=events, self_ns=own)
            for each, names, events, own in area.kinds
        ],
        kind=chosen,
        rows=with_short_names(rows.take(slice(MOST_ROWS))),
        pooled=max(0, rows.n - MOST_ROWS),
        groups=[
            AreaGroup(
                key=group_key(trace, timeline, group.group), busy_ns=group.busy, events=group.events
            )
            for group in _largest(area.groups)
        ],
        overlap=AreaOverlap(**asdict(area.overlap)) if area.overlap else None,
    )


def area_flame_payload(
    opened: tuple[Trace, Facts, Timeline],
    begin: int,
    end: int,
    lanes: Sequence[int],
    kind: Kind,
) -> AreaFlamePayload:
    """The frames of [begin, end), ns, on some lanes (ascending)."""
    flame = area_flame(opened, begin, end, np.array(lanes, np.int64), kind)
    return AreaFlamePayload(
        rows=with_short_names(flame.rows) if flame.rows else None,
        pooled=flame.pooled,
        most_events=MOST_EVENTS,
    )


def arrows_payload(
    timeline: Timeline,
    begin: int,
    end: int,
    *,
    kinds: Sequence[str] | None,
    lanes: Sequence[int] | None,
    cap: int,
) -> ArrowsPayload:
    """Arrows that touch [begin, end), ns; ``kinds`` and ``lanes`` None for all. More than ``cap``
    are thinned evenly.

    Raises:
        BadRequest: the timeline has no arrows of a kind.
    """
    arrows, lane = timeline["arrows"], timeline["places"]["lane"]
    known = [kind["kind"] for kind in timeline.about["arrow_kinds"]]
    chosen = None if kinds is None else np.array(_rows_of(kinds, known), np.int64)
    rows = arrows_within(arrows, begin, end, chosen, _on_lanes(timeline, lanes))
    shown = spread(rows, cap)
    source, target = arrows["source"][shown], arrows["target"][shown]
    return ArrowsPayload(
        total=len(rows),
        kind=[known[row] for row in arrows["kind"][shown].tolist()],
        source=source.tolist(),
        target=target.tolist(),
        source_lane=lane[source].tolist(),
        target_lane=lane[target].tolist(),
        source_ns=arrows["source_time"][shown].tolist(),
        target_ns=arrows["target_time"][shown].tolist(),
    )


def _rows_of(kinds: Sequence[str], known: Sequence[str]) -> list[int]:
    for kind in kinds:
        if kind not in known:
            raise BadRequest(
                f"Parameter kinds holds {kind[:100]!r}, expected some of:"
                f" {', '.join(known) or 'none, this trace has no arrows'}."
            )
    return [known.index(kind) for kind in kinds]


def _on_lanes(timeline: Timeline, lanes: Sequence[int] | None) -> tuple[Array, Mask] | None:
    if lanes is None or len(lanes) == timeline["lanes"].n:
        return None
    chosen = mask_of(timeline["lanes"].n, list(lanes))
    return timeline["places"]["lane"], chosen


def counters_payload(
    timeline: Timeline, series: Sequence[int], begin: int, end: int, parts: int
) -> CountersPayload:
    """Some counter series (rows of ``about["series"]``) in equal parts of [begin, end), ns."""
    borders = edges(begin, end, parts)
    buckets = [
        in_buckets(timeline["samples"], timeline.about["series"][number], borders)
        for number in series
    ]
    curves = [
        CounterCurve(**{name: optional_floats(values) for name, values in asdict(curve).items()})
        for curve in buckets
    ]
    return CountersPayload(t0_ns=begin, t1_ns=end, curves=curves)
