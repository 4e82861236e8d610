"""Where events lie: nothing overlaps on a lane, nothing is left out."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.timeline.charts import chart, chart_drawn, disjoint, lane_rows, of_spans
from tests.builders.drawn import events, trace_of
from tests.builders.loop import span
from tests.examples import examples
from torch_tb_profiler.analysis.timeline.build import track_order

CATEGORIES = ["cpu_op", "kernel", "python_function", "cuda_sync", "gpu_user_annotation"]
SPANS = st.lists(
    st.tuples(
        st.sampled_from(CATEGORIES), st.integers(1, 2), st.integers(0, 60), st.integers(0, 25)
    ),
    min_size=1,
    max_size=40,
)


def test_calls_lie_by_depth_and_python_frames_apart() -> None:
    found = lane_rows(
        chart_drawn("""
        main  /train                        /
        main    [aten::linear             ]
        main      [aten::mm    ] [add    ]
    """)
    )
    assert found == [
        ("1", "python", 0, 0, ["train"]),
        ("1", "calls", 0, 0, ["aten::linear"]),
        ("1", "calls", 1, 0, ["aten::mm", "add"]),
    ]


def test_the_rows_of_a_training_step() -> None:
    """The bars of the steps and what PyTorch names in them, the backward pass on its own thread, and
    the stream.
    """
    names = {
        "load": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
        "update": "Optimizer.step#SGD.step",
    }
    drawing = """
        main  (ProfilerStep#5                                ) (ProfilerStep#6 )
        main   (load   ) [aten::mm  ]             (update   )
        other                          [MmBackward0 ]
        gpu 7                  {gemm    }  {gemm   }
    """
    main, within, other, stream = lane_rows(chart_drawn(drawing, names))
    assert main[1:] == ("calls", 0, 0, ["ProfilerStep#5", "ProfilerStep#6"])
    assert within[1:] == ("calls", 1, 0, [names["load"], "aten::mm", names["update"]])
    assert other[1:] == ("calls", 0, 0, ["MmBackward0"])
    assert stream == ("7", "work", 0, 0, ["gemm", "gemm"])
    assert main[0] == within[0] != other[0]


def test_instants_have_a_lane_and_counter_samples_none() -> None:
    instant = {"ph": "i", "name": "here", "pid": 100, "tid": 1, "ts": 1}
    sample = {"ph": "C", "name": "c", "pid": 100, "tid": 1, "ts": 2, "args": {"v": 1}}
    listed = [*events("main  [aten::mm ]"), instant, sample]
    example = chart(trace_of(listed))
    assert [row[1] for row in lane_rows(example)] == ["calls", "instant"]
    assert example[2]["places"]["lane"].tolist() == [0, 1, -1]


def test_an_instant_before_the_first_span_lies_at_its_begin() -> None:
    listed = [
        *events("main     [aten::mm ]"),
        {"ph": "i", "name": "early", "pid": 100, "tid": 1, "ts": 0},
    ]
    trace, _, timeline = chart(trace_of(listed))
    assert trace["instants"]["time"].tolist()[0] < 0
    assert timeline["slices"]["start"].tolist() == [0, 0]


@examples(200)
@given(SPANS)
def test_any_spans(spans: list[tuple[str, int, int, int]]) -> None:
    trace, _, timeline = of_spans(spans)
    assert disjoint(timeline)
    assert sorted(timeline["slices"]["event"].tolist()) == list(range(trace["spans"].n))
    lanes = timeline["lanes"]
    assert (
        timeline["places"]["lane"][timeline["slices"]["event"]]
        == np.repeat(np.arange(lanes.n), lanes["count"])
    ).all()


@examples(100)
@given(SPANS)
def test_no_more_sub_lanes_than_overlap(spans: list[tuple[str, int, int, int]]) -> None:
    """On a stream there are as many lanes as events run at the same time at most."""
    trace, _, timeline = of_spans([("kernel", 1, start, dur) for _, _, start, dur in spans])
    start, end = trace["spans"]["start"], trace["spans"]["start"] + trace["spans"]["dur"]
    most = max(int(((start <= at) & (end > at)).sum()) for at in start.tolist())
    assert timeline["lanes"].n <= max(1, most + int((end == start).sum()))


def test_hosts_come_before_devices_and_the_unsorted_last() -> None:
    listed = [
        span("kernel", "k", 0, 7, 0, 1),
        span("cpu_op", "o", 20, 1, 0, 1),
        span("cpu_op", "o", 10, 1, 0, 1),
        {"ph": "M", "name": "process_sort_index", "pid": 20, "tid": 0, "args": {"sort_index": 1}},
    ]
    trace = trace_of(listed)
    pids = [trace.strings[int(n)] for n in trace["tracks"]["pid"]]
    assert [pid for _, pid in sorted(zip(track_order(trace).tolist(), pids, strict=True))] == [
        "20",
        "10",
        "0",
    ]
