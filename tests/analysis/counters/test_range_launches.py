"""Ranges are tied to launches by their order, and what does not fit is said, never dropped."""

from __future__ import annotations

from tests.analysis.counters.drawing import tied, with_ranges
from torch_tb_profiler.analysis.facts import defects as d


def test_the_first_range_is_of_the_first_launch_and_so_on() -> None:
    trace, facts, found = with_ranges("""
        main  [outer                       ]  [third   ]
        main   [first   ]   [second    ]       <launch>
        main    <launch>      <extended>
        gpu 0 {r0         }{r1           }{r2           }
    """)
    assert tied(trace, found) == [
        ("r0", "BY_ORDER", "outer first"),
        ("r1", "BY_ORDER", "outer second"),
        ("r2", "BY_ORDER", "third"),
    ]
    assert (found.launches.spare, facts.defects.as_dict(), facts.summary.profiled_ranges) == (
        0,
        {},
        3,
    )


def test_launches_of_the_driver_count_and_copies_do_not() -> None:
    trace, _, found = with_ranges("""
        main  [a       ] [b     ] [c       ]
        main   <driver>   <copy>   <launch>
        gpu 0 {r0            }{r1           }
    """)
    assert tied(trace, found) == [("r0", "BY_ORDER", "a"), ("r1", "BY_ORDER", "c")]


def test_a_driver_call_within_a_launch_is_the_same_launch() -> None:
    trace, _, found = with_ranges("""
        main  [a               ] [b       ]
        main   <launch       >    <launch>
        main     <driver>
        gpu 0 {r0            }{r1           }
    """)
    assert tied(trace, found) == [("r0", "BY_ORDER", "a"), ("r1", "BY_ORDER", "b")]


def test_where_the_counts_fit_without_the_driver_its_launches_have_no_range() -> None:
    trace, facts, found = with_ranges("""
        main  [a       ] [b       ] [c       ]
        main   <launch>   <driver>   <launch>
        gpu 0 {r0            }{r1             }
    """)
    assert tied(trace, found) == [("r0", "BY_ORDER", "a"), ("r1", "BY_ORDER", "c")]
    assert (found.launches.spare, facts.defects.as_dict()) == (1, {})


def test_launches_before_the_window_were_not_measured() -> None:
    trace, _, found = with_ranges("""
        main  [a       ]  [b       ]  [c       ]
        main   <launch>    <launch>    <launch>
        gpu 0             {r0         }{r1      }
    """)
    assert tied(trace, found) == [("r0", "BY_ORDER", "b"), ("r1", "BY_ORDER", "c")]


def test_a_graph_counts_as_one_where_that_fits() -> None:
    trace, _, found = with_ranges("""
        main  [a       ]  [b      ]
        main   <launch>    <graph>
        gpu 0 {r0       }{r1       }
    """)
    assert tied(trace, found) == [("r0", "BY_ORDER", "a"), ("r1", "BY_ORDER", "b")]


def test_too_few_ranges_keep_their_order_and_the_rest_is_counted() -> None:
    trace, facts, found = with_ranges("""
        main  [a       ]  [b       ]  [c       ]
        main   <launch>    <launch>    <launch>
        gpu 0 {r0            }{r1               }
    """)
    assert tied(trace, found) == [("r0", "BY_BEGIN", "a"), ("r1", "BY_BEGIN", "b")]
    assert (found.launches.spare, facts.defects.as_dict()) == (1, {d.RANGE_MISMATCH: 1})


def test_too_many_ranges_are_kept_without_a_launch_in_the_step_of_their_time() -> None:
    trace, facts, found = with_ranges("""
        main  [a       ]  [b       ]
        main   <launch>    <launch>
        gpu 0 {r0      }{r1     }{r2     }
    """)
    assert tied(trace, found) == [
        ("r0", "BY_BEGIN", "a"),
        ("r1", "BY_BEGIN", "b"),
        ("r2", "NO_LAUNCH", ""),
    ]
    assert (found.step.tolist(), facts.defects[d.RANGE_MISMATCH]) == ([0, 0, 0], 1)


def test_recorded_kernels_tie_by_their_names_where_one_was_not_measured() -> None:
    trace, facts, found = with_ranges("""
        main  [a          ]  [b          ]  [c          ]  [d          ]
        main   <launch #1>    <launch #2>    <launch #3>    <launch #4>
        gpu 7    {mul #1}       {add #2}      {mul #3}       {mul #4}
        gpu 0 {mul           }{mul         }{add         }{pow            }
    """)
    assert tied(trace, found) == [
        ("mul", "BY_NAME", "a"),
        ("mul", "BY_NAME", "c"),
        ("add", "BY_NAME", "b"),
        ("pow", "NO_LAUNCH", ""),
    ]
    assert facts.defects[d.RANGE_MISMATCH] == 1


def test_one_range_over_several_kernels_stands_for_all() -> None:
    trace, facts, found = with_ranges("""
        main  [a       ]  [b       ]
        main   <launch>    <launch>
        gpu 0 {r0                   }
    """)
    assert tied(trace, found) == [("r0", "WHOLE", "")]
    assert (found.launches.spare, found.time.tolist(), facts.defects.as_dict()) == (0, [23_000], {})


def test_devices_are_told_apart_by_who_launched_as_often() -> None:
    trace, _, found = with_ranges("""
        main     [a       ]  [b       ]
        main      <launch>    <launch>
        other       [c       ]
        other        <launch>
        gpu 0:0 {r0           }{r1     }
        gpu 1:0 {r2                    }
    """)
    assert sorted(tied(trace, found)) == [
        ("r0", "BY_ORDER", "a"),
        ("r1", "BY_ORDER", "b"),
        ("r2", "BY_ORDER", "c"),
    ]


def test_devices_that_nothing_tells_apart_are_not_guessed() -> None:
    trace, facts, found = with_ranges("""
        main    [a       ]  [b       ]
        main     <launch>    <launch>
        gpu 0:0 {r0                   }
        gpu 1:0 {r1                   }
    """)
    assert sorted(tied(trace, found)) == [
        ("r0", "SEVERAL_DEVICES", ""),
        ("r1", "SEVERAL_DEVICES", ""),
    ]
    assert facts.defects[d.RANGE_MISMATCH] == 2


def test_without_any_launch_the_ranges_stay() -> None:
    trace, _, found = with_ranges("gpu 0 {r0    }{r1    }")
    assert tied(trace, found) == [("r0", "NO_LAUNCH", ""), ("r1", "NO_LAUNCH", "")]
