"""Statistics of a window against counting every event and every nanosecond."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.timeline.charts import Chart, chart
from tests.analysis.timeline.made_up import traces, windows
from tests.builders.drawn import Event, trace_of
from tests.builders.loop import span
from tests.examples import examples
from torch_tb_profiler.analysis.timeline.area import Area, Overlap, area_of
from torch_tb_profiler.analysis.timeline.kinds import KIND_OF_LOOK, KINDS
from torch_tb_profiler.store.timeline_schema import GroupKind, Look

US = 1000
DEVICE = (Look.KERNEL, Look.MEMCPY, Look.MEMSET, Look.COMMUNICATION)


def times(found: Chart) -> tuple[list[int], list[int]]:
    """Begin and end of every event."""
    trace = found[0]
    start = [*trace["spans"]["start"].tolist(), *np.maximum(trace["instants"]["time"], 0).tolist()]
    return start, [
        begin + dur
        for begin, dur in zip(
            start, [*trace["spans"]["dur"].tolist(), *[0] * trace["instants"].n], strict=True
        )
    ]


def touching(found: Chart, begin: int, end: int, lanes: set[int]) -> list[int]:
    """Events that an area counts, one by one."""
    start, until = times(found)
    lane = found[2]["places"]["lane"].tolist()
    return [
        event
        for event in range(len(lane))
        if lane[event] in lanes
        and start[event] < end
        and (until[event] > begin or start[event] == until[event] >= begin)
    ]


def text_of(found: Chart, event: int) -> int:
    """The number of the name of an event."""
    return int(found[2]["names"]["text"][found[2]["places"]["name"][event]])


def rows(area: Area) -> dict[tuple[int, int], tuple[int, ...]]:
    keys = zip(area.rows["name"].tolist(), area.rows["look"].tolist(), strict=True)
    figures = (
        area.rows[name].tolist() for name in ("count", "total_ns", "shortest_ns", "longest_ns")
    )
    return dict(zip(keys, zip(*figures, strict=True), strict=True))


def counted(
    found: Chart, begin: int, end: int, lanes: set[int]
) -> dict[tuple[int, int], tuple[int, ...]]:
    start, until = times(found)
    places = found[2]["places"]
    parts: dict[tuple[int, int], list[int]] = {}
    for event in touching(found, begin, end, lanes):
        key = text_of(found, event), int(places["look"][event])
        parts.setdefault(key, []).append(min(until[event], end) - max(start[event], begin))
    return {key: (len(p), sum(p), min(p), max(p)) for key, p in parts.items()}


def busy_points(found: Chart, begin: int, end: int, events: list[int]) -> set[int]:
    start, until = times(found)
    return {
        time for event in events for time in range(max(start[event], begin), min(until[event], end))
    }


def lane_choices(found: Chart, draw_value: Any) -> list[int]:
    count = found[2]["lanes"].n
    return (
        sorted(draw_value(st.sets(st.integers(0, count - 1), min_size=1)))
        if draw_value(st.booleans())
        else list(range(count))
    )


@examples(150)
@given(listed=traces, data=st.data())
def test_every_figure_is_that_of_counting(listed: list[Event], data: st.DataObject) -> None:
    example = chart(trace_of(listed))
    lanes = lane_choices(example, data.draw)
    for begin, end in data.draw(st.lists(windows, min_size=1, max_size=3)):
        area = area_of(example[0], example[2], begin, end, lanes)
        assert rows(area) == counted(example, begin, end, set(lanes))
        total, count = area.rows["total_ns"], area.rows["count"]
        check_self(example, area, begin, end, set(lanes))
        assert (np.abs(area.rows["mean_ns"] - total / count) <= 0.5).all()
        order = list(zip((-total).tolist(), (-count).tolist(), strict=True))
        assert order == sorted(order)
        check_longest(example, area, begin, end, set(lanes))
        check_groups(example, area, begin, end, set(lanes))
        check_overlap(example, area, begin, end, set(lanes))


def check_self(found: Chart, area: Area, begin: int, end: int, lanes: set[int]) -> None:
    start, until = times(found)
    timeline = found[2]
    lane, look = (timeline["places"][name].tolist() for name in ("lane", "look"))
    group = timeline["lanes"]["group"].tolist()

    def outer(event: int) -> int:
        """The innermost event of its group and kind around one."""
        around = [
            other
            for other in range(found[0]["spans"].n)
            if lane[other] >= 0
            and group[lane[other]] == group[lane[event]]
            and KIND_OF_LOOK[look[other]] == KIND_OF_LOOK[look[event]]
            and (start[other], -until[other], other) < (start[event], -until[event], event)
            and start[event] < until[other] >= until[event]
        ]
        return max(around, default=-1)

    own: dict[tuple[int, int], int] = {}
    for event in touching(found, begin, end, lanes):
        part = min(until[event], end) - max(start[event], begin)
        key = text_of(found, event), look[event]
        own[key] = own.get(key, 0) + part
        above = outer(event) if event < found[0]["spans"].n else -1
        if above >= 0 and look[event] not in DEVICE and lane[above] in lanes:
            key = text_of(found, above), look[above]
            own[key] = own.get(key, 0) - part
    keys = zip(area.rows["name"].tolist(), area.rows["look"].tolist(), strict=True)
    assert dict(zip(keys, area.rows["self_ns"].tolist(), strict=True)) == own
    kind = KIND_OF_LOOK[area.rows["look"]]
    for name, names, events, busy in area.kinds:
        of_kind = kind == KINDS.index(name)
        assert names == of_kind.sum()
        assert events == area.rows["count"][of_kind].sum()
        assert busy == area.rows["self_ns"][of_kind].sum()
        assert area.rows["share"][of_kind].sum() == pytest.approx(1.0) or not busy
    assert sum(names for _, names, _, _ in area.kinds) == area.rows.n


def check_longest(found: Chart, area: Area, begin: int, end: int, lanes: set[int]) -> None:
    start, until = times(found)
    places, inside = found[2]["places"], set(touching(found, begin, end, lanes))
    columns = (area.rows[name] for name in ("longest_event", "name", "look", "longest_ns"))
    for event, name, look, longest in zip(*columns, strict=True):
        assert event in inside
        assert (text_of(found, event), places["look"][event]) == (name, look)
        assert min(until[event], end) - max(start[event], begin) == longest


def check_groups(found: Chart, area: Area, begin: int, end: int, lanes: set[int]) -> None:
    timeline = found[2]
    group_of = timeline["lanes"]["group"]
    assert [group.group for group in area.groups] == sorted({int(group_of[lane]) for lane in lanes})
    for group in area.groups:
        events = touching(
            found, begin, end, {lane for lane in lanes if group_of[lane] == group.group}
        )
        assert (group.events, group.busy) == (
            len(events),
            len(busy_points(found, begin, end, events)),
        )


def check_overlap(found: Chart, area: Area, begin: int, end: int, lanes: set[int]) -> None:
    timeline = found[2]
    kind = timeline["groups"]["kind"][timeline["lanes"]["group"]]
    working = {lane for lane in lanes if kind[lane] == GroupKind.WORK}
    if not working:
        assert area.overlap is None
        return
    events = touching(found, begin, end, working)
    talks = [event for event in events if timeline["places"]["look"][event] == Look.COMMUNICATION]
    talking = busy_points(found, begin, end, talks)
    computing = busy_points(found, begin, end, sorted(set(events) - set(talks)))
    assert area.overlap == Overlap(
        len(computing - talking),
        len(computing & talking),
        len(talking - computing),
        end - begin - len(computing | talking),
    )


def test_keys_too_many_for_an_array_of_all() -> None:
    example = chart(trace_of(span("cpu_op", f"n{i % 900}", 1, 1, i, 1) for i in range(2000)))
    area = area_of(example[0], example[2], 0, 2000 * US, [0])
    sums = int(area.rows["count"].sum()), int(area.rows["total_ns"].sum())
    assert (area.rows.n, *sums) == (900, 2000, 2000 * US)
