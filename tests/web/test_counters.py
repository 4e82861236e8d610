"""The route of the Counters view: profiled kernels, sampled counters, what is missing and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.counters.drawing import with_ranges
from tests.builders.drawn import events, trace_of
from tests.loading import load
from tests.web.served import WHERE, answer, body, catalogue_of, client
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.timeline.build import build_timeline
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.views.timeline.event_arguments import kept_arguments
from torch_tb_profiler.views.timeline.payload import timeline_payload

STEPS = """
    main  [ProfilerStep#1 ][ProfilerStep#2  ]
    main    [a       ]       [b       ]
    main     <launch>         <launch>
    gpu 0 {r0                }{r1            }
"""


def _asked(trace: Trace, facts: Facts, query: str = "", **settings: Any) -> dict[str, Any]:
    asked = client(catalogue_of(trace, facts), **settings)
    return answer(asked, f"/counters?{WHERE}{query}")


def test_profiled_kernels_of_the_chosen_steps() -> None:
    trace, facts, _ = with_ranges(
        STEPS, {"r0": {"dram__bytes.sum": 64}, "r1": {"dram__bytes.sum": 32, "x": 0.5}}
    )
    found = _asked(trace, facts)
    assert found["counters"] == [
        {"name": "dram__bytes.sum", "label": "Device memory traffic", "unit": "bytes"},
        {"name": "x", "label": "x", "unit": ""},
    ]
    assert found["headline"] == "2 kernels measured with 2 counters each"
    rows = found["profiled"]
    assert {
        key: rows[key] for key in ("kernel", "op_stack", "top_op", "step", "bytes", "flops")
    } == {
        "kernel": ["r0", "r1"],
        "op_stack": [["a"], ["b"]],
        "top_op": ["a", "b"],
        "step": [0, 1],
        "bytes": [64, 32],
        "flops": [None, None],
    }
    assert found["values"] == [[64, 32], [None, 0.5]]
    assert (found["measured"], found["steps"], found["missing"], found["pooled"]) == (
        "ranges",
        ["ProfilerStep#1", "ProfilerStep#2"],
        [],
        0,
    )
    assert (
        found["matching"]
        == "2 of 2 ranges were tied to their launches by order: the first to the first kernel"
        " launched, and so on."
    )
    assert _asked(trace, facts, "&steps=1")["profiled"]["kernel"] == ["r1"]


@pytest.mark.parametrize(
    ("drawing", "said"),
    [
        (
            "gpu 0 {r0    }{r1    }",
            (
                "2 ranges have no launch, so no operator. The file gives each range an equal slice"
                " of the window"
            ),
        ),
        (
            "main  <launch><launch>\ngpu 0 {r0            }",
            "The range stands for every kernel that ran in it",
        ),
        (
            "main  <launch><launch>\ngpu 0 {r0  } {r1   }{r2 }",
            (
                "Ranges: 3, kernel launches: 2. The first 2 of each were tied by order; what is"
                " missing may"
            ),
        ),
        (
            "main    <launch>\ngpu 0:0 {r0    }\ngpu 1:0 {r1    }",
            (
                "Several devices were measured, and nothing in the trace says which launch was for"
                " which"
            ),
        ),
    ],
)
def test_what_does_not_match_is_said(drawing: str, said: str) -> None:
    trace, facts, _ = with_ranges(drawing)
    assert said in _asked(trace, facts)["matching"]


def test_sampled_counters() -> None:
    sample = {
        "ph": "C",
        "cat": "hardware_counters",
        "name": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
        "pid": "GPU 0 Counters",
        "tid": 0,
    }
    samples = [
        {**sample, "ts": ts, "args": {"": value}} for ts, value in ((6, 10), (7, 30), (25, 5))
    ]
    trace = trace_of([*events("main [ProfilerStep#1 ][ProfilerStep#2  ]"), *samples])
    facts = derive(trace)
    found = _asked(trace, facts)
    assert found["sampled_counters"] == [
        {"name": sample["name"], "label": "SM throughput", "unit": "%"}
    ]
    assert found["sampled"] == {
        "counter": [sample["name"]] * 2,
        "unit": ["%", "%"],
        "device": ["GPU 0", "GPU 0"],
        "step": [0, 1],
        "samples": [2, 1],
        "mean": [20, 5],
        "min": [10, 5],
        "max": [30, 5],
    }
    assert _asked(trace, facts, "&steps=1")["sampled"]["mean"] == [5]
    assert (found["matching"], found["measured"], found["missing"]) == ("", "", [])


def test_without_counters_the_page_says_how_to_record_them() -> None:
    trace, facts, _ = with_ranges("main [a   ]")
    found = _asked(trace, facts)
    (lack,) = found["missing"]
    assert lack["what"] == "Hardware counters"
    compile(lack["call"], "call", "exec")
    assert "profiler_measure_per_kernel=True" in lack["call"]


def test_a_range_shows_its_counters_and_its_thread_what_it_is() -> None:
    trace, facts, found = with_ranges(
        "main  <launch><launch>\ngpu 0 {r0    }{r1    }",
        {"r0": {"x": 1, "dram__bytes.sum": 4096, "y.pct": 12.25}},
    )
    assert [
        (argument.name, argument.value)
        for argument in kept_arguments(trace, facts, int(found.launches.row[0]))
    ] == [
        ("x", "1"),
        ("dram__bytes.sum", "4\u202f096"),
        ("y.pct", "12.25"),
    ]
    groups = timeline_payload(trace, facts, build_timeline(trace, facts), "id").groups
    assert [group.thread for group in groups if group.pid == "0"] == ["ranges, not in time"]


def test_alexnet_and_the_other_views_of_it(real_traces: Path) -> None:
    (path,) = (real_traces / "a100_alexnet_cupti_ranges").iterdir()
    opened = load(str(path), Settings.from_environment(use_cache=False))
    found = _asked(opened.trace, opened.facts)
    rows = found["profiled"]
    assert (len(rows["kernel"]), len(found["counters"]), found["measured"]) == (77, 9, "slices")
    assert rows["op_stack"][5] == [
        "aten::conv2d",
        "aten::convolution",
        "aten::_convolution",
        "aten::cudnn_convolution",
    ]
    (fadd,) = [
        place for place, counter in enumerate(found["counters"]) if "_fadd_" in counter["name"]
    ]
    assert rows["short_name"][1] == "kernel without a name"
    assert (rows["short_name"][5], found["values"][fadd][5], rows["flops"][5]) == (
        "fft2d_r2c_32x32",
        86_114_304,
        234_946_560,
    )
    assert found["matching"].startswith("77 of 77 ranges were tied")
    asked = client(catalogue_of(opened.trace, opened.facts))
    for route in ("/overview", "/kernel", "/operator"):
        missing = json.loads(body(asked.get(f"{route}?{WHERE}")))["missing"]
        assert "Times of kernels" in [item["what"] for item in missing], route
    diagnosed = json.loads(body(asked.get(f"/findings?{WHERE}")))
    assert any("hardware counters" in sentence for sentence in diagnosed["unsure"]), diagnosed[
        "unsure"
    ]
