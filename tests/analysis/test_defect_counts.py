"""Defects that the analysis finds, each with a trace that has it and one that does not; trace
health; what was not recorded.
"""

from __future__ import annotations

import pytest

from tests.builders.drawn import facts_drawn
from tests.builders.listed import facts_listed
from torch_tb_profiler.analysis.facts import defects as kinds
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.store.defects import DEFECTS
from torch_tb_profiler.views.overview.payload import health_items


def found(drawing: str) -> dict[str, tuple[int, int | None]]:
    """Defects with their count and the µs of step time that they touch."""
    return {
        item.name: (item.count, None if item.touched_ns is None else item.touched_ns // 1000)
        for item in health_items(facts_drawn(drawing))
    }


HEALTHY = """
    main   (ProfilerStep#1              )(ProfilerStep#2              )
    main     [aten::mm           ]         [aten::mm           ]
    main        <x #1>                        <x #2>
    gpu 7           {k #1 }                       {k #2 }
"""


def test_healthy_trace() -> None:
    assert found(HEALTHY) == {}


@pytest.mark.parametrize(
    ("defect", "expected", "drawing"),
    [
        (
            kinds.OVERLAP_ON_THREAD,
            (1, 17),
            """
            main   (ProfilerStep#1               )
            main     [aten::a     ]
            main            [aten::b        ]
            """,
        ),
        (
            kinds.OVERLAP_ON_STREAM,
            (1, 6),
            """
            main   (ProfilerStep#1               )
            main   <x #1><x #2>
            gpu 7     {k #1    }
            gpu 7            {k #2}
            """,
        ),
        (
            kinds.KERNEL_WITHOUT_LAUNCH,
            (1, 7),
            """
            main   (ProfilerStep#1               )
            main   [aten::mm]
            gpu 7     {k #1 }
            """,
        ),
        (
            kinds.CUT_STEP,
            (1, None),
            """
            main   (ProfilerStep#1)(ProfilerStep#2)
            main   <x #1>
            gpu 7     {k #1 }
            """,
        ),
        (
            kinds.WORK_OUTSIDE_STEPS,
            (1, 0),
            """
            main   <x #1>    (ProfilerStep#1               )
            main               <x #2>
            gpu 7     {k #1 }       {k #2}
            """,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "\n" not in value else "",
)
def test_each_defect_is_found(defect: str, expected: tuple[int, int | None], drawing: str) -> None:
    assert found(drawing) == {defect: expected}


def test_launch_whose_kernel_is_missing() -> None:
    text = """
        1 note ProfilerStep#1@0+100
        1 call cudaLaunchKernel@10+5 c1
        1 call cudaLaunchKernel@20+5 c2
        1 call cudaStreamSynchronize@30+5 c3
        gpu 0:7 kernel k@40+5 c1
    """
    facts = facts_listed(text)
    assert facts.defects.as_dict() == {kinds.LAUNCH_WITHOUT_KERNEL: 1}
    assert facts.summary.touched_ns == {kinds.LAUNCH_WITHOUT_KERNEL: 55_000}


def test_launches_into_a_graph_that_is_being_captured_run_nothing() -> None:
    text = """
        1 call cudaStreamBeginCapture_v10000@0+5
        1 call cudaLaunchKernel@10+5 c1
        2 call cudaLaunchKernel@20+5 c2
        1 call cudaStreamEndCapture@30+5
        1 call cudaLaunchKernel@40+5 c3
        1 call cudaGraphLaunch@50+5 c4
        gpu 0:7 kernel k@60+5 c4
    """
    facts = facts_listed(text)
    assert facts.defects.as_dict() == {kinds.LAUNCH_WITHOUT_KERNEL: 1}
    assert facts.summary.touched_ns == {kinds.LAUNCH_WITHOUT_KERNEL: 20_000}


def test_launches_of_a_recording_without_device_are_no_defect() -> None:
    facts = facts_listed("""
        1 note ProfilerStep#1@0+100
        1 call cudaLaunchKernel@10+5 c1
    """)
    assert facts.defects.as_dict() == {}


@pytest.mark.parametrize(
    "name",
    [
        "cudaLaunchKernelExC",
        "cuLaunchKernel",
        "cuLaunchKernelEx",
        "hipLaunchKernel",
        "hipModuleLaunchKernel",
        "hipExtModuleLaunchKernel",
    ],
)
def test_every_kind_of_kernel_launch_is_known(name: str) -> None:
    facts = facts_listed(f"""
        1 call {name}@10+5 c1
        1 call {name}@20+5 c2
        gpu 0:7 kernel k@40+5 c1
    """)
    assert facts.defects[kinds.LAUNCH_WITHOUT_KERNEL] == 1


def test_device_work_on_two_streams_may_overlap() -> None:
    assert (
        found("""
        main   <x #1><x #2>
        gpu 7     {k #1    }
        gpu 8            {k #2}
    """)
        == {}
    )


def test_nested_device_work_on_a_stream_overlaps_as_well() -> None:
    assert list(
        found("""
        main   <x #1><x #2>
        gpu 7     {k #1             }
        gpu 7            {k #2}
    """)
    ) == [kinds.OVERLAP_ON_STREAM]


def test_work_of_one_graph_replay_may_overlap_on_its_stream() -> None:
    assert (
        found("""
        main   <x #1>
        gpu 7     {k #1    }
        gpu 7            {k #1}
    """)
        == {}
    )


def test_work_that_overlaps_a_graph_replay_of_another_launch_is_a_defect() -> None:
    assert found("""
        main   <x #1><x #2>
        gpu 7     {k #1       }
        gpu 7            {k #2    }
        gpu 7              {k #2  }
    """) == {kinds.OVERLAP_ON_STREAM: (1, 10)}


def test_whole_span_has_no_outside() -> None:
    assert (
        found("""
        main   <x #1>
        gpu 7            {k #1    }
    """)
        == {}
    )


def test_the_gravest_comes_first_and_every_kind_has_a_sentence() -> None:
    names = list(
        found("""
        main   (ProfilerStep#1               )(ProfilerStep#2 )
        main   <x #1>   <x #2>
        gpu 7     {k #1    }
        gpu 7            {k #2}
    """)
    )
    assert names == [kinds.CUT_STEP, kinds.OVERLAP_ON_STREAM]
    assert all(DEFECTS[name].sentence.endswith(".") for name in names)


@pytest.mark.parametrize(
    ("drawing", "missing"),
    [
        (HEALTHY, ("shapes", "stack", "memory")),
        ("main [aten::mm]", ("device", "shapes", "stack", "steps", "memory")),
        ("gpu 7 {k #1}", ("shapes", "stack", "steps", "memory", "host")),
        ("", ("device", "shapes", "stack", "steps", "memory", "host")),
    ],
    ids=["steps and device", "one operator", "device only", "nothing"],
)
def test_what_was_not_recorded(drawing: str, missing: tuple[str, ...]) -> None:
    *keys, _ = absent(facts_drawn(drawing))
    assert tuple(keys) == missing


def test_what_was_recorded() -> None:
    facts = facts_drawn(
        """
        main   /train.py(1): main                       /
        main   (ProfilerStep#1                          )
        main     [aten::mm           ]
        """,
        args={"aten::mm": {"Input Dims": [[2, 2]]}},
    )
    assert absent(facts) == ("device", "memory", "loop")
