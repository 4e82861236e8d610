"""Route ``/trace/area``."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.timeline.area import GroupBusy, area_of
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.views.event_arguments import with_short_names
from torch_tb_profiler.views.timeline import MOST_GROUPS, group_key
from torch_tb_profiler.views.timeline_wire import AreaGroup, AreaOverlap, AreaPayload

MOST_ROWS = 1000


def _largest(groups: Sequence[GroupBusy]) -> Sequence[GroupBusy]:
    """The groups that the timeline shows of very many: those with the most events, in order."""
    if len(groups) <= MOST_GROUPS:
        return groups
    least = sorted((group.events for group in groups), reverse=True)[MOST_GROUPS - 1]
    return [group for group in groups if group.events >= least][:MOST_GROUPS]


def area_payload(
    trace: Trace, timeline: Timeline, begin: int, end: int, lanes: Sequence[int]
) -> AreaPayload:
    """Statistics of [begin, end), ns, on some lanes (ascending)."""
    area = area_of(trace, timeline, begin, end, lanes)
    return AreaPayload(
        t0_ns=begin,
        t1_ns=end,
        events=int(area.rows["count"].sum()),
        rows=with_short_names(area.rows.take(slice(MOST_ROWS))),
        pooled=max(0, area.rows.n - MOST_ROWS),
        groups=[
            AreaGroup(
                key=group_key(trace, timeline, group.group), busy_ns=group.busy, events=group.events
            )
            for group in _largest(area.groups)
        ],
        overlap=AreaOverlap(**vars(area.overlap)) if area.overlap else None,
    )
