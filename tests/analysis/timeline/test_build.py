"""What a timeline knows beside its lanes: the busy share of its parts, names, modules."""

from __future__ import annotations

from tests.analysis.timeline.charts import Chart, chart, chart_drawn, event, of_spans
from tests.builders.drawn import trace_of
from torch_tb_profiler.analysis.timeline.build import ACTIVITY_PARTS
from torch_tb_profiler.views.timeline.payload import timeline_payload

UNIT = ACTIVITY_PARTS * 1000


def parts(found: Chart, key: str) -> list[tuple[int, int]]:
    """(value, how many parts) in order."""
    runs: list[tuple[int, int]] = []
    for value in found[2].about[key]:
        runs = (
            [*runs[:-1], (value, runs[-1][1] + 1)]
            if runs and runs[-1][0] == value
            else [*runs, (value, 1)]
        )
    return runs


def test_the_busy_share_is_that_of_any_device_work_and_of_any_call() -> None:
    quarter = UNIT // 4
    laid_out = of_spans(
        [
            ("user_annotation", 1, 0, UNIT),
            ("cpu_op", 1, 0, quarter),
            ("kernel", 2, quarter, quarter),
            ("kernel", 3, quarter, quarter // 2),
            ("gpu_memcpy", 3, 3 * quarter, quarter),
        ]
    )
    side = ACTIVITY_PARTS // 4
    assert parts(laid_out, "host_activity") == [(255, side), (0, 3 * side)]
    assert parts(laid_out, "device_activity") == [(0, side), (255, side), (0, side), (255, side)]


def test_half_a_part_is_half_busy_and_nothing_is_unknown() -> None:
    laid_out = of_spans([("cpu_op", 1, 0, 500), ("user_annotation", 1, 0, UNIT)])
    assert parts(laid_out, "host_activity")[0] == (127, 1)
    assert laid_out[2].about["device_activity"] is None


def test_steps_that_were_written_as_operators_do_not_count_as_calls() -> None:
    example = chart(
        trace_of(
            [
                event("Operator", 1, 0, UNIT / 1000, "ProfilerStep#3"),
                event("Operator", 1, 0, UNIT / 2000, "aten::mm"),
            ]
        )
    )
    assert parts(example, "host_activity") == [(255, ACTIVITY_PARTS // 2), (0, ACTIVITY_PARTS // 2)]


def test_names_come_by_frequency() -> None:
    trace, _, timeline = chart_drawn("""
        main  [a ] [b   ] [a  ]
    """)
    assert trace.strings.many(timeline["names"]["text"]) == ["a", "b"]


def test_a_kernel_belongs_to_the_module_that_launched_it() -> None:
    trace, _, timeline = chart_drawn("""
        main   /nn.Module: Net_0                      /
        main     /nn.Module: Linear_3    /
        main       [aten::mm          ]       [add ]
        main         <launch #1>
        gpu 7                {gemm #1 }
    """)
    text = [trace.strings[int(n)] for n in timeline["names"]["text"]]
    module = {
        text[int(n)]: text[int(m)] if m >= 0 else ""
        for n, m in zip(timeline["places"]["name"], timeline["places"]["module"], strict=True)
    }
    assert (
        module["gemm"]
        == module["launch"]
        == module["aten::mm"]
        == module["nn.Module: Linear_3"]
        == "nn.Module: Linear_3"
    )
    assert module["add"] == "nn.Module: Net_0"


def test_the_view_opens_on_what_lasts_and_not_on_marks_or_the_profiler() -> None:
    mark = {"ph": "i", "name": "Record Window End", "pid": 1, "tid": 1, "ts": 90.0, "s": "g"}
    example = chart(
        trace_of(
            [
                event("Trace", 1, 0, 80, "PyTorch Profiler (0)"),
                event("cpu_op", 1, 10, 5),
                event("kernel", 2, 12, 18),
                mark,
            ]
        )
    )
    assert tuple(example[2].about["work_ns"]) == (10_000, 30_000)
    assert example[2].about["span_ns"] == 90_000


def test_the_view_opens_on_all_where_nothing_lasts() -> None:
    about = chart(trace_of([event("cpu_op", 1, 0, 0), event("cpu_op", 1, 7, 0)]))[2].about
    assert tuple(about["work_ns"]) == (0, 7_000)


def test_a_step_has_the_times_of_its_window_and_of_the_host_alone() -> None:
    launch = event("cuda_runtime", 1, 5, 2, "cudaLaunchKernel") | {"args": {"correlation": 3}}
    kernel = event("kernel", 2, 50, 30) | {"args": {"correlation": 3, "device": 0, "stream": 2}}
    trace, facts, timeline = chart(
        trace_of([event("user_annotation", 1, 0, 20, "ProfilerStep#4"), launch, kernel])
    )
    [step] = timeline_payload(trace, facts, timeline, "id").steps
    assert (step.start_ns, step.end_ns) == (0, 80_000)
    assert (step.host_start_ns, step.host_end_ns) == (0, 20_000)
