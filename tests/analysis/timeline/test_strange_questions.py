"""Whatever value a key of a trace has, its timeline answers every question."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.analysis.timeline.charts import chart
from tests.builders.drawn import Event, trace_of
from tests.web.test_strange_values import ARGUMENTS, FIELDS, VALUES, events
from torch_tb_profiler.analysis.timeline.area import area_of
from torch_tb_profiler.analysis.timeline.arrows import ArrowIndex
from torch_tb_profiler.analysis.timeline.counters import edges, in_buckets
from torch_tb_profiler.analysis.timeline.search import Search
from torch_tb_profiler.analysis.timeline.search_texts import Query

pytestmark = pytest.mark.slow
LATEST = (1 << 62) - 1


def answers(listed: list[Event]) -> None:
    trace, _, timeline = chart(trace_of(listed))
    lanes = range(timeline["lanes"].n)
    arrows = ArrowIndex(timeline["arrows"])
    for begin, end in ((0, LATEST), (0, 1), (5_000, 20_000), (LATEST - 1, LATEST)):
        area = area_of(trace, timeline, begin, end, lanes)
        assert (area.rows["shortest_ns"] >= 0).all()
        assert (area.rows["count"] > 0).all()
        assert len(arrows.within(begin, end)) <= timeline["arrows"].n
        for series in timeline.about["series"]:
            buckets = in_buckets(timeline["samples"], series, edges(begin, end, 7))
            known = ~np.isnan(buckets.mean)
            assert (buckets.lowest[known] <= buckets.highest[known]).all()
            assert np.isfinite(buckets.mean[known]).all()
    search = Search(trace, timeline)
    everything = search.find(Query("(?s).*", regex=True, arguments=True))
    assert everything.n == timeline["slices"].n
    assert (
        len([search.event_at(everything, place) for place in range(everything.n)]) == everything.n
    )
    search.find(Query("a", arguments=True))


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("name", FIELDS)
def test_fields(name: str, value: Any) -> None:
    listed = events()
    for entry in listed:
        entry[name] = value
    answers([*events(), *listed])


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:30])
def test_arguments(value: Any) -> None:
    listed = events()
    for entry in listed:
        entry["args"] = dict.fromkeys(ARGUMENTS, value)
    answers([*events(), *listed])
