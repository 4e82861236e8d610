"""What was allocated before, during and after a recording, whether or not the records state totals."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.memory.recorded import blocks, devices, insight
from torch_tb_profiler.analysis.memory.blocks import totals


def curve(written: str) -> list[int]:
    found: list[int] = insight(written)["memory_curve"]["allocated"].tolist()
    return found


def test_stated_totals_give_what_was_allocated_before() -> None:
    memory = insight("""
        main  0 gpu0 a  +64 1064 2048
        main 10 gpu0 b +100 1164 4096
        main 20 gpu0 a  -64 1100 4096
    """)
    (device,) = devices(memory)
    assert device == {
        "type": 1,
        "id": 0,
        "records": 3,
        "begin": 1000,
        "end": 1100,
        "peak": 1164,
        "peak_time": 10_000,
        "peak_reserved": 4096,
        "stated": 3,
        "mismatched": 0,
    }


def test_without_totals_the_curve_starts_from_the_least_that_the_releases_allow() -> None:
    memory = insight("""
        main  0 gpu0 a  +64
        main 10 gpu0 b -500
        main 20 gpu0 a  -64
        main 30 gpu0 -  -10
    """)
    (device,) = devices(memory)
    assert (device["begin"], device["end"], device["peak"], device["stated"]) == (510, 0, 574, 0)


def test_a_record_without_a_total_goes_on_from_the_one_before() -> None:
    assert curve("""
        main  0 gpu0 a  +64
        main 10 gpu0 b +100 1164 2048
        main 20 gpu0 c   +1
        main 30 gpu0 d   +2 1167 2048
    """) == [1064, 1164, 1165, 1167]


def test_a_total_that_jumps_is_shown_and_counted_and_the_sums_still_hold() -> None:
    memory = insight("""
        main  0 gpu0 a +10 110 0
        main 10 gpu0 b +10 120 0
        main 20 gpu0 c +10 130 0
        main 30 gpu0 d +10 640 0
    """)
    (device,) = devices(memory)
    assert memory["memory_curve"]["allocated"].tolist() == [110, 120, 130, 640]
    assert (device["begin"], device["end"], device["peak"], device["mismatched"]) == (
        100,
        140,
        640,
        1,
    )


def test_two_records_in_the_wrong_order_move_nothing_else() -> None:
    memory = insight("""
        main   1 gpu0 b +20 130 0
        other  2 gpu0 a +10 110 0
        main  10 gpu0 c +10 140 0
        main  20 gpu0 d +10 150 0
    """)
    assert [device["begin"] for device in devices(memory)] == [100]
    assert devices(memory)[0]["end"] == 150


def test_shared_memory_that_the_totals_leave_out_is_added_to_them() -> None:
    # As ATen's MapAllocator writes it: total 0, and its own size as reserved.
    memory = insight("""
        main  0 cpu a  +100 100   0
        main 10 cpu m +5000   0 5000
        main 20 cpu b   +50 150   0
        main 30 cpu m -5000   0   0
        main 40 cpu a  -100  50   0
    """)
    (device,) = devices(memory)
    assert memory["memory_curve"]["allocated"].tolist() == [100, 5100, 5150, 150, 50]
    assert (
        device["begin"],
        device["end"],
        device["peak"],
        device["mismatched"],
        device["stated"],
    ) == (0, 50, 5150, 0, 3)
    assert device["peak_reserved"] == -1
    assert blocks(memory) == [(100, 0, 40), (5000, 10, 30), (50, 20, None)]


def test_a_host_that_reserves_nothing_has_an_unknown_reserve_not_none() -> None:
    memory = insight("main 0 cpu a +100 100 0")
    assert memory["memory_curve"]["reserved"].tolist() == [-1]


def test_the_cpu_is_the_last_device() -> None:
    memory = insight("""
        main 0 cpu  a +1
        main 1 gpu1 a +1
        main 2 12:0 a +1
        main 3 gpu0 a +1
    """)
    assert [(device["type"], device["id"]) for device in devices(memory)] == [
        (1, 0),
        (1, 1),
        (12, 0),
        (0, -1),
    ]


def test_a_peak_before_the_first_record_is_at_the_begin() -> None:
    (device,) = devices(insight("main 5 gpu0 a -40 60 100"))
    assert (device["begin"], device["peak"], device["peak_time"]) == (100, 100, 0)


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=40),
    st.integers(0, 1000),
    st.lists(st.booleans(), min_size=40, max_size=40),
)
def test_consistent_totals_are_kept_whichever_of_them_are_stated(
    sizes: list[int], begin: int, told: list[bool]
) -> None:
    begin += 50 * len(sizes)
    true = begin + np.cumsum(sizes)
    stated = np.where(told[: len(sizes)], true, -1)
    found = totals(np.array(sizes), stated, np.zeros(len(sizes), np.bool_), 0)
    assert found.end == found.begin + sum(sizes)
    assert (found.allocated >= 0).all()
    if any(told[: len(sizes)]):
        assert found.allocated.tolist() == true.tolist()
        assert (found.begin, found.mismatched) == (begin, 0)
