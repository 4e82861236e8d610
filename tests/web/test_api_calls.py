"""The route of the API Calls view: tables of the chosen steps, limits."""

from __future__ import annotations

from typing import Any

from tests.builders.drawn import events, trace_of
from tests.web.served import WHERE, answer, catalogue_of, client
from torch_tb_profiler.units import format_ns

STEPS = """
    main  [ProfilerStep#1              ][ProfilerStep#2              ]
    main    <L #1><L #2><L #3>             <L #4><L #5><L #6>
    gpu 0         {a #1}{b #2}{c #3}             {a #4}{b #5}{c #6}
"""


def _asked(path: str, query: str = "", drawing: str = STEPS, **settings: Any) -> dict[str, Any]:
    asked = client(catalogue_of(trace_of(events(drawing))), **settings)
    return answer(asked, f"/{path}?{WHERE}{query}")


def test_the_page_gets_every_table_and_what_they_say_in_short() -> None:
    found = _asked("api_calls")
    assert found["sentences"] == [
        "Other calls take 36.0 µs.",
        "6 of 6 kernels are shorter than 10.0 µs.",
    ]
    assert found["rows"]["calls"] == [6]
    assert len(found["longest"]["name"]) == 6
    assert found["launches"]["name"] == ["a", "b", "c"]
    assert sum(found["histogram"]["delays"]) == 6
    assert found["copies"]["kind"] == []


def test_what_waits_is_no_cost() -> None:
    drawing = """
    main [ProfilerStep#1                                 ]
    main   <cudaLaunchKernel #1>  <cudaMalloc> <cudaDeviceSynchronize>
    gpu 0            {a #1            }
    """
    found = _asked("api_calls", drawing=drawing)
    time = dict(zip(found["rows"]["name"], found["rows"]["total_ns"], strict=True))
    assert dict(zip(found["rows"]["name"], found["rows"]["kind"], strict=True)) == {
        "cudaLaunchKernel": "launch",
        "cudaMalloc": "allocation",
        "cudaDeviceSynchronize": "synchronization",
    }
    cost = time["cudaLaunchKernel"] + time["cudaMalloc"]
    assert found["sentences"][:2] == [
        f"Launches take {format_ns(time['cudaLaunchKernel'])} of {format_ns(cost)} in calls that do not wait.",
        f"Calls that wait take {format_ns(time['cudaDeviceSynchronize'])}.",
    ]


def test_a_step_and_its_limit() -> None:
    found = _asked("api_calls", "&steps=0&short_ns=6000")
    assert found["rows"]["calls"] == [3]
    assert found["launches"]["short"] == [0, 0, 0]


def test_a_last_row_pools_what_is_beyond_the_limit() -> None:
    found = _asked("api_calls", max_table_rows=2)
    assert found["launches"]["name"] == ["a", "b", "other"]
    assert (found["launches_pooled"], found["launches"]["calls"]) == (1, [2, 2, 2])


def test_without_a_device_what_is_missing_is_said() -> None:
    found = _asked("api_calls", drawing="main [aten::mm]")
    assert found["sentences"] == []
    assert [gap["key"] for gap in found["missing"]] == ["device"]
