"""From device work back to its launch and its operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.figures import kernels, operators
from tests.builders.drawn import events, facts_drawn, trace_of
from tests.builders.listed import facts_listed, listed
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.device_causes import latest_before
from torch_tb_profiler.analysis.facts.flags import NoOperator
from torch_tb_profiler.analysis.figures.operators import OperatorGroup
from torch_tb_profiler.store.model import Facts


def owner(facts: Facts) -> list[tuple[str | None, int]]:
    return [(row["operator"], row["reason"]) for row in kernels(facts, "properties")]


def test_innermost_operator_around_the_launch() -> None:
    facts = facts_drawn("""
        main   [aten::linear        ]
        main     [aten::addmm   ]
        main       (region )
        main       <x #1>
        gpu 7            {gemm #1 }
    """)
    assert owner(facts) == [("aten::addmm", NoOperator.KNOWN)]
    assert operators(facts)[("aten::linear",)][1:3] == (0, 10)


def test_launch_on_another_thread_is_not_the_operators() -> None:
    facts = facts_drawn("""
        main   [aten::mm     ]
        other    <x #1>
        gpu 7        {gemm #1 }
    """)
    assert owner(facts) == [(None, NoOperator.OUTSIDE)]


def test_work_without_a_launch_stands_as_such() -> None:
    facts = facts_drawn("""
        main   [aten::mm     ]
        gpu 7        {gemm #1 }
    """)
    assert owner(facts) == [(None, NoOperator.NO_LAUNCH)]
    assert facts.defects["kernel_without_launch"] == 1


def test_external_id_helps_where_no_launch_was_recorded() -> None:
    facts = facts_listed("""
        1 op aten::mm@0+10 e5
        1 op aten::add@20+10 e6
        gpu 0:7 kernel k@12+5 e5 c90
    """)
    assert owner(facts) == [("aten::mm", NoOperator.KNOWN)]


def test_external_id_that_is_the_correlation_id_tells_nothing() -> None:
    facts = facts_listed("""
        1 op aten::mm@0+10 e5
        gpu 0:7 kernel k@12+5 e5 c5
    """)
    assert owner(facts) == [(None, NoOperator.NO_LAUNCH)]


def test_device_without_any_host() -> None:
    facts = facts_drawn("""
        gpu 7   {a #1}{b #2}
    """)
    assert [reason for _, reason in owner(facts)] == [NoOperator.NO_HOST] * 2
    assert facts.defects["kernel_without_launch"] == 0


def test_graph_launch_keeps_its_kernels() -> None:
    outside = facts_drawn("""
        main   [aten::mm]   <cudaGraphLaunch #2>
        main   <x #1>
        gpu 7      {gemm #1}    {a #2}{b #2}{c #2}
    """)
    assert sorted(owner(outside), key=str) == sorted(
        [("aten::mm", 0)] + [(None, NoOperator.GRAPH)] * 3, key=str
    )
    inside = facts_drawn("""
        main   [replay                ]
        main   <cudaGraphLaunch #2>
        gpu 7      {a #2}{b #2}{c #2}
    """)
    assert owner(inside) == [("replay", NoOperator.KNOWN)] * 3


def test_flow_arrow_helps_where_no_correlation_is() -> None:
    trace = listed("""
        1 op aten::mm@0+10
        1 call cudaLaunchKernel@2+3
        gpu 0:7 kernel k@12+5
    """)
    arrows: list[dict[str, Any]] = [
        {"ph": "s", "id": 3, "pid": 13721, "tid": 1, "ts": 2, "cat": "ac2g", "name": "ac2g"},
        {
            "ph": "f",
            "id": 3,
            "pid": 0,
            "tid": "stream 7",
            "ts": 12,
            "cat": "ac2g",
            "name": "ac2g",
            "bp": "e",
        },
    ]
    assert owner(derive(trace_of([*trace, *arrows]))) == [("aten::mm", NoOperator.KNOWN)]
    assert owner(derive(trace_of(trace))) == [(None, NoOperator.NO_LAUNCH)]


def test_correlation_id_that_comes_again() -> None:
    facts = facts_listed("""
        1 op aten::mm@0+10
        1 call cudaLaunchKernel@2+3 c1
        gpu 0:7 kernel first@12+5 c1
        1 op aten::add@100+10
        1 call cudaLaunchKernel@102+3 c1
        gpu 0:7 kernel second@112+5 c1
    """)
    assert {row["name"]: row["operator"] for row in kernels(facts, "properties")} == {
        "first": "aten::mm",
        "second": "aten::add",
    }
    assert facts.defects["repeated_correlation"] == 2


PAIRS = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 20)), max_size=12)


@given(PAIRS, PAIRS)
def test_match_against_looking_at_all(
    launches: list[tuple[int, int]], work: list[tuple[int, int]]
) -> None:
    columns = [
        np.array([pair[k] for pair in pairs], np.int64)
        for pairs in (launches, work)
        for k in (0, 1)
    ]
    for (key, time), found in zip(work, latest_before(*columns).tolist(), strict=True):
        same = [place for place, (other, _) in enumerate(launches) if other == key]
        before = [launches[place][1] for place in same if launches[place][1] <= time]
        if not same:
            assert found == -1
        else:
            assert launches[found] == (
                key,
                max(before) if before else min(launches[place][1] for place in same),
            )


def test_own_time_has_runtime_calls_and_python_frames() -> None:
    """Operators inside are taken off."""
    facts = facts_drawn("""
        main   [aten::linear                 ]
        main     /module.py(1): forward     /
        main     [aten::addmm   ]<x #1>
    """)
    assert operators(facts) == {
        ("aten::linear",): (1, 0, 0, 31 - 16, 31),
        ("aten::addmm",): (1, 0, 0, 16, 16),
    }


@pytest.mark.parametrize("siblings", [False, True])
def test_only_child_of_the_same_name_is_one_with_its_parent(siblings: bool) -> None:
    drawn = events("""
        main   [aten::copy_           ]
        main     [aten::copy_  ]
        main       <x #1>
        gpu 7             {k #1  }
    """)
    if siblings:
        drawn += events("""
            main                    [a]
        """)
    rows = operators(derive(trace_of(drawn)))[("aten::copy_",)]
    assert rows[:3] == (2 if siblings else 1, 8, 8)


@pytest.mark.parametrize(
    ("group", "figures"),
    [
        ("name", {("copy",): (4, 29), ("mid",): (1, 10)}),
        ("shape", {("copy", "[[32]]"): (3, 29), ("copy", "[[8]]"): (1, 9), ("mid", ""): (1, 10)}),
    ],
)
def test_total_counts_a_call_within_another_one_of_its_row_once(
    group: OperatorGroup, figures: dict[tuple[str, ...], tuple[int, int]]
) -> None:
    shapes = {"copy": {"Input Dims": [[32]]}, "small": {"Input Dims": [[8]]}}
    drawing = """
        main   [copy                 ] [copy]
        main     [small  ] [mid     ]
        main                 [copy]
    """
    found = operators(facts_drawn(drawing, {"small": "copy"}, shapes), group)
    assert {key: (calls, total) for key, (calls, *_, total) in found.items()} == figures


def test_events_that_pytorch_hides_do_not_stand_between() -> None:
    facts = facts_drawn("""
        main   [aten::view                    ]
        main     [aten::is_leaf ]
        main        <x #1>
        gpu 7             {k #1  }
    """)
    assert list(operators(facts)) == [("aten::view",)]
    assert owner(facts) == [("aten::view", NoOperator.KNOWN)]


def test_overlapping_operators_are_both_kept() -> None:
    facts = facts_drawn("""
        main   [aten::a      ]
        main         [aten::b         ]
        main         <x #1>
        main                      <x #2>
        gpu 7                        {k #1}{l #2}
    """)
    assert operators(facts)[("aten::a",)][4] == 15
    assert operators(facts)[("aten::b",)][4] == 18
    assert facts.defects["overlap_on_thread"] > 0
