"""Routes ``/trace/area`` and ``/trace/area/flame``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import asdict

from torch_tb_profiler.analysis.timeline.area import GroupBusy, area_of
from torch_tb_profiler.analysis.timeline.area_flame import MOST_EVENTS, area_flame
from torch_tb_profiler.analysis.timeline.kinds import (
    KIND_OF_LOOK,
    KINDS,
    ChosenKind,
    Kind,
    chosen_kind,
)
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.views.timeline.event_arguments import with_short_names
from torch_tb_profiler.views.timeline.payload import MOST_GROUPS, group_key
from torch_tb_profiler.views.timeline.wire import (
    AreaFlamePayload,
    AreaGroup,
    AreaKind,
    AreaOverlap,
    AreaPayload,
)

__all__ = ["ChosenKind", "Kind", "area_flame_payload", "area_payload"]

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
