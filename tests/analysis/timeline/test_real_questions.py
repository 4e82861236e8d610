"""Questions about public traces, answered by the tables a second way."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.analysis.figures import trace_files
from tests.analysis.timeline.charts import Chart, chart_of_file
from tests.conftest import REAL_TRACES
from torch_tb_profiler.analysis.arrays.intervals import measure, union
from torch_tb_profiler.analysis.timeline.area import area_of
from torch_tb_profiler.analysis.timeline.arrows import ArrowIndex
from torch_tb_profiler.analysis.timeline.counters import in_buckets
from torch_tb_profiler.analysis.timeline.search import Search
from torch_tb_profiler.analysis.timeline.search_texts import Query
from torch_tb_profiler.store.timeline_schema import GroupKind

PARAMETERS: list[Path | None] = [*trace_files(REAL_TRACES)] or [None]


@pytest.fixture(
    scope="module",
    params=PARAMETERS,
    ids=lambda path: f"{path.parent.name}-{path.name[:24]}" if path else "absent",
)
def found(request: pytest.FixtureRequest, real_traces: Path) -> Chart:
    return chart_of_file(request.param)


def test_an_area_of_everything_counts_every_event_once(found: Chart) -> None:
    trace, _, timeline = found
    spans = trace["spans"]
    area = area_of(trace, timeline, 0, timeline.about["span_ns"] + 1, range(timeline["lanes"].n))
    assert (
        int(area.rows["count"].sum())
        == timeline["slices"].n
        == sum(group.events for group in area.groups)
    )
    assert int(area.rows["total_ns"].sum()) == int(spans["dur"].sum())
    assert sum(group.events for group in area.groups) == spans.n + int(
        (trace["instants"]["phase"] != ord("C")).sum()
    )
    table = timeline["names"]
    row_of_name = dict(zip(table["text"].tolist(), range(table.n), strict=True))
    name = np.array([row_of_name[text] for text in area.rows["name"].tolist()])
    order = np.argsort(name, kind="stable")
    first = np.flatnonzero(np.diff(name[order], prepend=-1))
    assert np.add.reduceat(area.rows["count"][order], first).tolist() == table["events"].tolist()
    assert np.add.reduceat(area.rows["total_ns"][order], first).tolist() == table["total"].tolist()


def test_areas_side_by_side_add_up(found: Chart) -> None:
    trace, _, timeline = found
    lanes, span = range(timeline["lanes"].n), timeline.about["span_ns"] + 1
    whole = area_of(trace, timeline, 0, span, lanes)
    borders = [span * part // 7 for part in range(8)]
    stretches = [(begin, end) for begin, end in pairwise(borders) if end > begin]
    parts = [area_of(trace, timeline, begin, end, lanes) for begin, end in stretches]
    total = int(whole.rows["total_ns"].sum())
    assert sum(int(part.rows["total_ns"].sum()) for part in parts) == total
    for place, group in enumerate(whole.groups):
        assert sum(part.groups[place].busy for part in parts) == group.busy
    if whole.overlap is not None:
        for name in ("computation_ns", "overlap_ns", "communication_ns", "idle_ns"):
            assert sum(getattr(part.overlap, name) for part in parts) == getattr(
                whole.overlap, name
            )


def test_device_lanes_are_busy_as_long_as_the_union_of_their_work(found: Chart) -> None:
    trace, _, timeline = found
    spans, groups = trace["spans"], timeline["groups"]
    area = area_of(trace, timeline, 0, timeline.about["span_ns"] + 1, range(timeline["lanes"].n))
    for group in area.groups:
        mine = timeline["lanes"]["group"][timeline["places"]["lane"][: spans.n]] == group.group
        start = spans["start"][mine]
        assert group.busy == union(start, start + spans["dur"][mine]).length
    working = {int(row) for row in np.flatnonzero(groups["kind"] == GroupKind.WORK)}
    assert (area.overlap is None) == (not working)


def test_everything_matches_a_point(found: Chart) -> None:
    trace, _, timeline = found
    search = Search(trace, timeline)
    everything = search.find(Query("(?s)^.*$", regex=True))
    assert everything.n == timeline["slices"].n
    assert sorted(everything.names.tolist()) == list(range(timeline["names"].n))
    with_arguments = search.find(Query("(?s)^.*$", regex=True, arguments=True))
    assert (with_arguments.n, with_arguments.total.tolist()) == (
        everything.n,
        everything.total.tolist(),
    )


def test_every_hit_of_the_rarest_name_is_walked_to_and_back(found: Chart) -> None:
    trace, _, timeline = found
    search = Search(trace, timeline)
    row = timeline["names"].n - 1
    hits = (
        search.find(Query(trace.strings[int(timeline["names"]["text"][row])], case=True))
        if row >= 0
        else None
    )
    if hits is None or not hits.n:
        return
    events = [search.event_at(hits, index) for index in range(min(hits.n, 200))]
    assert events == search.first(hits, 200)["event"].tolist()
    for index, number in enumerate(events):
        assert search.before(hits, number, included=False) == index
        assert search.before(hits, number, included=True) == index + 1


def test_mean_utilization_of_a_step_is_that_of_the_overview(found: Chart) -> None:
    _, facts, timeline = found
    steps, devices = facts["steps"], facts["device_steps"]
    series = {s["key"]: s for s in timeline.about["series"]}
    for row in range(devices.n):
        step, number = (
            int(devices["step"][row]),
            int(facts["devices"]["id"][devices["device"][row]]),
        )
        window = np.array([steps["start"][step], steps["end"][step]])
        length = float(window[1] - window[0])
        if f"utilization:{number}" in series and length:
            mean = in_buckets(timeline["samples"], series[f"utilization:{number}"], window).mean[0]
            assert mean * length == pytest.approx(devices["busy"][row], abs=1)
        if f"sm_efficiency:{number}" in series and np.isfinite(devices["sm_integral"][row]):
            mean = in_buckets(timeline["samples"], series[f"sm_efficiency:{number}"], window).mean[
                0
            ]
            assert mean * length == pytest.approx(devices["sm_integral"][row], rel=1e-9, abs=1)


def test_arrows_are_the_launches_and_the_flows(found: Chart) -> None:
    trace, facts, timeline = found
    arrows, kinds = timeline["arrows"], [kind["kind"] for kind in timeline.about["arrow_kinds"]]
    launched = np.flatnonzero(facts["span_links"]["launch"] >= 0)
    mine = (
        arrows["kind"] == kinds.index("launch")
        if "launch" in kinds
        else np.zeros(arrows.n, np.bool_)
    )
    assert sorted(arrows["target"][mine].tolist()) == launched.tolist()
    assert (arrows["source"][mine] == facts["span_links"]["launch"][arrows["target"][mine]]).all()
    assert (np.diff(arrows["source_time"]) >= 0).all()
    for kind in timeline.about["arrow_kinds"]:
        assert kind["total"] == int((arrows["kind"] == kinds.index(kind["kind"])).sum())
    # Both ends of a flow lie on its own threads.
    flows, spans = trace["flows"], trace["spans"]
    for row in np.flatnonzero(~mine).tolist():
        for event, time in (
            (arrows["source"][row], arrows["source_time"][row]),
            (arrows["target"][row], arrows["target_time"][row]),
        ):
            assert spans["start"][event] <= time <= spans["start"][event] + spans["dur"][event]
            assert ((flows["time"] == time) & (flows["track"] == spans["track"][event])).any()
    index = ArrowIndex(arrows)
    span = timeline.about["span_ns"]
    low, high = (
        np.minimum(arrows["source_time"], arrows["target_time"]),
        np.maximum(arrows["source_time"], arrows["target_time"]),
    )
    for begin, end in ((0, span + 1), (span // 3, span // 2), (span // 2, span // 2 + 1000)):
        assert (
            index.within(begin, end).tolist()
            == np.flatnonzero((low < end) & (high >= begin)).tolist()
        )


def test_the_queue_holds_what_is_launched_and_not_begun(found: Chart) -> None:
    _, facts, timeline = found
    queues = [series for series in timeline.about["series"] if series["key"].startswith("queue:")]
    launched = np.flatnonzero(facts["span_links"]["launch"] >= 0)
    start, called = (
        found[0]["spans"]["start"][launched],
        found[0]["spans"]["start"][facts["span_links"]["launch"][launched]],
    )
    span = timeline.about["span_ns"] + 1
    means = [
        in_buckets(timeline["samples"], series, np.array([0, span])).mean[0] for series in queues
    ]
    assert sum(means) * span == pytest.approx(float(np.maximum(start - called, 0).sum()), rel=1e-9)


def test_memory_curves_peak_where_the_devices_do(found: Chart) -> None:
    facts, timeline = found[1], found[2]
    highest = {series["key"]: series["highest"] for series in timeline.about["series"]}
    for number, peak in zip(
        facts["devices"]["id"].tolist(), facts["devices"]["peak_allocated"].tolist(), strict=True
    ):
        of_device = [
            value
            for key, value in highest.items()
            if key.startswith("allocated:")
            and key.endswith(f":{number}")
            and key.split(":")[1] != "0"
        ]
        assert (max(of_device) if of_device else -1) == peak


def test_a_union_of_windows_is_measured_like_the_area(found: Chart) -> None:
    trace, _, timeline = found
    spans = trace["spans"]
    work = np.isin(
        timeline["places"]["lane"][: spans.n],
        np.flatnonzero(timeline["groups"]["kind"][timeline["lanes"]["group"]] == GroupKind.WORK),
    )
    if not work.any():
        return
    points = union(spans["start"][work], (spans["start"] + spans["dur"])[work])
    span = timeline.about["span_ns"] + 1
    for begin, end in ((0, span), (span // 5, span // 2)):
        overlap = area_of(trace, timeline, begin, end, range(timeline["lanes"].n)).overlap
        assert overlap is not None
        assert overlap.computation_ns + overlap.overlap_ns + overlap.communication_ns == int(
            measure(points, np.array([begin]), np.array([end]))[0]
        )
