"""Route ``/trace/area``."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.timeline.area import Area, Areas
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.views.event_arguments import cut
from torch_tb_profiler.views.timeline import group_key
from torch_tb_profiler.views.timeline_wire import AreaColumns, AreaGroup, AreaOverlap, AreaPayload

MOST_ROWS = 1000
LONGEST_NAME = 1000


def area_payload(
    trace: Trace, timeline: Timeline, begin: int, end: int, lanes: Sequence[int]
) -> AreaPayload:
    """Statistics of [begin, end), ns, on some lanes (ascending)."""
    area = Areas(timeline).area(begin, end, lanes)
    overlap = area.overlap
    return AreaPayload(
        t0_ns=begin,
        t1_ns=end,
        events=int(area.count.sum()),
        rows=_columns(trace, timeline, area),
        pooled=max(0, len(area.name) - MOST_ROWS),
        groups=[
            AreaGroup(
                key=group_key(trace, timeline, group.group), busy_ns=group.busy, events=group.events
            )
            for group in area.groups
        ],
        overlap=None
        if overlap is None
        else AreaOverlap(
            computation_ns=overlap.computation,
            overlap_ns=overlap.both,
            communication_ns=overlap.communication,
            idle_ns=overlap.idle,
        ),
    )


def _columns(trace: Trace, timeline: Timeline, area: Area) -> AreaColumns:
    shown = slice(MOST_ROWS)
    names = trace.strings.many(timeline["names"]["text"][area.name[shown]])
    count, total = area.count[shown], area.total[shown]
    return AreaColumns(
        name=[cut(name, LONGEST_NAME) for name in names],
        look=area.look[shown].tolist(),
        count=count.tolist(),
        total_ns=total.tolist(),
        mean_ns=((2 * total + count) // (2 * count)).tolist(),
        shortest_ns=area.shortest[shown].tolist(),
        longest_ns=area.longest[shown].tolist(),
        longest_event=area.event[shown].tolist(),
    )
