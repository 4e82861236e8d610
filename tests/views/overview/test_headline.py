"""The sentences on top: is the accelerator busy, what takes the time, which step is odd."""

from __future__ import annotations

from typing import Any

import pytest

from torch_tb_profiler.views.overview.headline import headline
from torch_tb_profiler.views.wire import (
    Average,
    Categories,
    DefectItem,
    DeviceSummary,
    Sentence,
    Vocabulary,
)

WORDS = Vocabulary(device="GPU", multiprocessor="SM", matrix_cores="Tensor Cores")
TIMES = {
    "kernel": 98,
    "memcpy": 2,
    "memset": 0,
    "communication": 0,
    "runtime": 3,
    "dataloader": 59,
    "cpu_exec": 14,
    "other": 2,
}


def categories(**over: int | None) -> Categories:
    return Categories(**{**TIMES, **over})


def step(index: int, **over: Any) -> dict[str, Any]:
    return {
        "step": index,
        "name": str(index),
        "wall_ns": 178,
        "odd": False,
        "odd_reason": "",
        "selected": True,
        "kind": "",
        "cold": False,
        "cut": False,
        "steps": 1,
        **over,
    }


def columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in step(0)}


def device(number: int = 0, share: float | None = 0.5551, *unknown: str) -> DeviceSummary:
    return DeviceSummary(
        id=number,
        title=f"GPU {number}",
        details="",
        utilization=share,
        sm_efficiency=None,
        occupancy=None,
        matrix_core_share=None,
        unknown=list(unknown),
    )


def average(steps: int = 6, wall: int = 178, /, **over: int | None) -> Average:
    return Average(steps=steps, wall_ns=wall, categories_ns=categories(**over))


def told(**over: Any) -> list[Sentence]:
    values: dict[str, Any] = {
        "source": "ProfilerStep",
        "steps": [step(i) for i in range(6)],
        "average": average(),
        "devices": [device()],
        "health": [],
        "counters_only": False,
    }
    values |= over
    return headline(WORDS, **{**values, "steps": columns(values["steps"])})


def texts(**over: Any) -> list[str]:
    return [sentence.text for sentence in told(**over)]


def test_busy_and_how_long() -> None:
    sentences = told()
    assert [(s.key, s.text) for s in sentences] == [
        ("busy", "GPU 0 was busy 55.5 % of 6 steps."),
        ("time", "On average a step takes 178 ns."),
    ]


@pytest.mark.parametrize(
    ("apart", "words"),
    [
        ({0: "cold"}, " without the cold one"),
        ({0: "cold", 5: "cut"}, " without the cold and cut ones"),
        ({0: "cut", 5: "cut"}, " without the cut ones"),
        ({}, ""),
        (dict.fromkeys(range(6), "cold"), ""),
    ],
)
def test_steps_that_are_left_out_of_the_mean_are_named(apart: dict[int, str], words: str) -> None:
    steps = [step(i, **({apart[i]: True, "wall_ns": 478} if i in apart else {})) for i in range(6)]
    # Where all are cold, all speak.
    mean = average(6 if len(apart) == 6 else 6 - len(apart), 228)
    assert texts(steps=steps, average=mean)[1] == f"On average a step takes 228 ns{words}."
    # Of very many steps a row is several, and those that are not selected say nothing.
    assert "without" not in texts(steps=[{**row, "steps": 2} for row in steps], average=mean)[1]
    assert "without" not in texts(steps=[*steps[1:5], step(9, cold=True, selected=False)])[1]


def test_a_lost_part_is_said_and_only_then() -> None:
    for severity, lost in (("data_loss", True), ("error", True), ("notice", False)):
        item = DefectItem(
            name="",
            severity=severity,
            sentence="",
            count=1,
            touched_ns=None,
            touched_share=None,
            doubtful=[],
        )
        assert ("loss" in [sentence.key for sentence in told(health=[item])]) == lost


@pytest.mark.parametrize(
    ("odd", "text"),
    [
        ({1: {"odd_reason": "12 ms more"}}, "Step 1 is odd: 12 ms more."),
        ({1: {}}, "Step 1 is odd (178 ns)."),
        # Also while another one is looked at.
        ({1: {"odd_reason": "x", "selected": False}}, "Step 1 is odd: x."),
        ({0: {"odd_reason": "a"}, 1: {"odd_reason": "b"}}, "2 steps are odd: 0 (a), 1 (b)."),
        ({i: {} for i in range(6)}, "6 steps are odd: 0, 1, 2, 3 …."),
    ],
)
def test_odd_steps_are_named(odd: dict[int, dict[str, Any]], text: str) -> None:
    steps = [step(i, **({"odd": True, **odd[i]} if i in odd else {})) for i in range(6)]
    assert texts(steps=steps)[-1] == text


def test_the_one_step_that_is_looked_at_is_named() -> None:
    steps = [step(0, selected=False), step(1, name="ProfilerStep#7")]
    assert texts(steps=steps)[0] == "GPU 0 was busy 55.5 % of step 7."
    assert texts(steps=[step(0)], average=average(1))[0] == "GPU 0 was busy 55.5 % of the step."


def test_several_devices_have_a_range() -> None:
    devices = [device(0, 0.4), device(1, 0.6), device(2, None)]
    assert texts(devices=devices)[0] == "2 GPUs were busy 40.0 % to 60.0 % of 6 steps."


def test_unknown_utilization_is_said_with_the_reason_not_as_0() -> None:
    why = "no kernel has a duration."
    assert texts(devices=[device(0, None, why)])[0] == f"How busy GPU 0 was is unknown: {why}"
    assert texts(devices=[device(0, None)] * 2)[0] == "How busy 2 GPUs were is unknown."


def test_a_recording_of_the_host_alone() -> None:
    lacking: dict[str, int | None] = dict.fromkeys(("kernel", "memcpy", "memset", "runtime"))
    host = average(1, **lacking, dataloader=0, cpu_exec=170, other=8)
    only = {"source": "whole span", "steps": [step(0)], "average": host, "devices": []}
    assert texts(**only) == [
        "The recording lasts 178 ns.",
        "No accelerator activity was recorded: every figure here is the host’s.",
    ]
    assert texts(**only, counters_only=True)[1] == (
        "Hardware counters were recorded instead of kernel times: every figure here is the host’s."
    )


def test_an_empty_selection_and_a_step_of_no_length() -> None:
    none = "No step is selected, so there is no average step."
    assert none in texts(average=None, steps=[step(0, selected=False)])
    assert none not in texts(average=None, steps=[])
    nothing = average(1, 0, **dict.fromkeys(TIMES, 0))
    assert texts(average=nothing)[1] == "The step takes 0 ns."
