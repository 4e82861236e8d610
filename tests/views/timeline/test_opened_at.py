"""What a view of the timeline is opened on."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.test_earlier_work import loops
from tests.analysis.timeline.charts import chart
from tests.builders.backlog import BusyLoop
from tests.builders.listed import trace_listed
from tests.examples import examples
from torch_tb_profiler.analysis.facts.earlier_work import left_out
from torch_tb_profiler.views.timeline.payload import timeline_payload


@examples(60)
@given(loops(st.integers(0, 60)))
def test_a_view_does_not_open_on_what_no_figure_counts(loop: BusyLoop) -> None:
    trace, facts, timeline = chart(trace_listed("\n".join(loop.lines)))
    payload = timeline_payload(trace, facts, timeline, "id")
    begin, gone = timeline.about["work_ns"][0], left_out(facts)
    if not len(gone.start):
        assert payload.work_start_ns == begin
        return
    start, end = int(gone.start[0]), int(gone.end[0])
    before, shown = start - begin, end - max(payload.work_start_ns, start)
    assert shown == min(max(before, 0), end - start)
    assert begin <= payload.work_start_ns <= end
