"""What makes a step, what it owns, and which ones are marked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.figures import step_names, steps
from tests.builders.drawn import facts_drawn
from tests.builders.listed import facts_listed, trace_listed
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.steps import StepFlag, odd_reasons
from torch_tb_profiler.analysis.figures.selection import mask, select
from torch_tb_profiler.analysis.figures.step_table import average
from torch_tb_profiler.store.categories import CATEGORIES
from torch_tb_profiler.store.model import Facts

COLD, ODD, CUT, WHOLE = StepFlag.COLD, StepFlag.ODD, StepFlag.CUT, StepFlag.WHOLE


def of_lengths(
    lengths: Sequence[int], launches: Sequence[int] | None = None, waits: int | None = None
) -> Facts:
    """Steps one after the other; ``launches`` kernels in each, ``waits``: the step that waits for
    its input all but 100 µs.
    """
    lines, at, correlation = [], 0, 0
    for number, length in enumerate(lengths):
        lines.append(f"1 note ProfilerStep#{number}@{at}+{length}")
        if number == waits:
            lines.append(
                "1 op"
                f" enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__@{at + 50}+{length - 100}"
            )
        for launch in range(launches[number] if launches else 0):
            correlation += 1
            lines.append(f"1 call cudaLaunchKernel@{at + launch}+1 c{correlation}")
            lines.append(f"gpu 0:7 kernel k@{at + launch + 1}+1 c{correlation}")
        at += length
    return facts_listed("\n".join(lines))


def flags(facts: Facts) -> list[int]:
    found: list[int] = facts["steps"]["flags"].tolist()
    return found


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        pytest.param([1000, 100, 100], [COLD, 0, 0], id="slow first"),
        pytest.param([151, 100, 100], [COLD, 0, 0], id="just slow enough"),
        pytest.param([150, 100, 100], [0, 0, 0], id="not slow enough"),
        pytest.param([1000, 100], [0, 0], id="two steps tell nothing"),
        pytest.param([100, 100, 100, 100, 1000], [0, 0, 0, 0, ODD], id="odd last"),
        pytest.param([1000, 100, 101, 99, 100, 300], [COLD, 0, 0, 0, 0, ODD], id="cold and odd"),
        pytest.param([100, 100, 100, 100, 105], [0, 0, 0, 0, 0], id="slower by less than a tenth"),
        pytest.param(
            [80, 120, 95, 110, 130, 100], [0, 0, 0, 0, 0, 0], id="steps that differ anyway"
        ),
        pytest.param([100, 100, 400], [0, 0, 0], id="too few to call one odd"),
        pytest.param([100], [0], id="one step"),
    ],
)
def test_marks_by_length(lengths: list[int], expected: list[int]) -> None:
    assert flags(of_lengths(lengths)) == expected


@pytest.mark.parametrize(
    ("launches", "expected"),
    [
        pytest.param([10, 10, 7], [0, 0, CUT], id="fewer launches"),
        pytest.param([10, 10, 8], [0, 0, 0], id="nearly as many"),
        pytest.param([10, 0, 0], [0, CUT, CUT], id="none"),
        pytest.param([10, 10, 3, 0], [0, 0, CUT, CUT], id="fewer and none"),
        pytest.param([0, 0, 0], [0, 0, 0], id="no device work"),
        pytest.param([0, 10, 10], [0, 0, 0], id="warm-up without"),
        pytest.param([0, 10, 10, 7], [0, 0, 0, CUT], id="warm-up without, and fewer"),
        pytest.param([0, 0, 5], [0, 0, 0], id="only the last"),
        pytest.param([10, 10, 30, 10], [0, 0, 0, 0], id="after a large step"),
        pytest.param([10, 5, 10, 5], [0, 0, 0, 0], id="every other step"),
        pytest.param([4], [0], id="only one"),
    ],
)
def test_marks_of_cut_steps(launches: list[int], expected: list[int]) -> None:
    assert flags(of_lengths([100] * len(launches), launches)) == expected


def test_the_mark_of_a_step_that_did_not_come_is_cut() -> None:
    facts = facts_drawn("""
        main  (ProfilerStep#1)(ProfilerStep#2)(ProfilerStep#3)
        main     [aten::mm]      [aten::mm]
    """)
    assert flags(facts) == [0, 0, CUT]
    mean = average(facts, select(facts))
    assert mean is not None
    assert mean[0] == 16_000


def test_steps_of_a_trace_without_operators_are_none_that_did_not_come() -> None:
    facts = facts_drawn("main  (ProfilerStep#1)(ProfilerStep#2)")
    assert flags(facts) == [0, 0]


def test_reason_of_an_odd_step_is_the_category_that_grew_most() -> None:
    facts = of_lengths([200, 200, 200, 200, 900], waits=4)
    assert flags(facts) == [0, 0, 0, 0, ODD]
    assert odd_reasons(facts)[4] == ("dataloader", 800_000)
    assert odd_reasons(facts).get(0) is None


def test_cut_steps_count_in_no_average_unless_they_are_all_there_is() -> None:
    facts = of_lengths([100, 100, 40], [10, 10, 2])
    mean, last = average(facts, select(facts)), average(facts, select(facts, 2, 2))
    assert mean is not None
    assert last is not None
    assert (mean[0], last[0]) == (100_000, 40_000)


def test_step_owns_the_kernels_launched_in_it_however_late_they_run() -> None:
    facts = facts_drawn("""
        main    (ProfilerStep#1)(ProfilerStep#2     )
        main       <x #1>         <x #2>
        gpu 7              {late #1 }  {k #2     }
    """)
    assert steps(facts) == [
        {"wall": 21, "kernel": 10, "runtime": 6, "other": 5},
        {"wall": 16, "kernel": 11, "runtime": 2, "other": 3},
    ]
    assert [
        facts["kernel_steps"]["step"][facts["kernel_steps"]["kernel"] == row].tolist()
        for row in range(2)
    ] == [[0], [1]]
    end, start = facts["steps"]["end"], facts["steps"]["start"]
    assert end[0] == start[1] > facts["steps"]["host_end"][0]


def test_device_annotations_make_no_steps() -> None:
    facts = facts_listed("""
        1 note ProfilerStep#1@0+100
        1 note ProfilerStep#2@100+100
        gpu 0:7 shadow ProfilerStep#1@20+90
        gpu 0:7 shadow ProfilerStep#2@120+90
        gpu 0:8 shadow ProfilerStep#2@120+90
    """)
    assert step_names(facts) == ["ProfilerStep#1", "ProfilerStep#2"]


def test_steps_come_from_the_thread_that_has_most_of_them() -> None:
    facts = facts_listed("""
        1 note ProfilerStep#1@0+50
        2 note ProfilerStep#7@0+100
        2 note ProfilerStep#8@100+100
    """)
    assert step_names(facts) == ["ProfilerStep#7", "ProfilerStep#8"]
    assert facts["steps"]["number"].tolist() == [7, 8]


def test_work_of_other_threads_belongs_to_the_step_of_its_time() -> None:
    facts = facts_listed("""
        1 note ProfilerStep#1@0+100
        1 note ProfilerStep#2@100+100
        2 op AddmmBackward0@110+20
        2 call cudaLaunchKernel@115+5 c1
        gpu 0:7 kernel k@150+10 c1
    """)
    assert facts["operator_steps"]["step"].tolist() == [1]
    assert facts["kernel_steps"]["step"].tolist() == [1]


def test_annotation_that_repeats_makes_steps() -> None:
    facts = facts_drawn("""
        main    (iteration    )(iteration    )(iteration    )
        main      (forward )     (forward )     (forward )
    """)
    assert facts.summary.step_source == "iteration"
    assert step_names(facts) == ["iteration"] * 3
    assert facts["steps"]["number"].tolist() == [-1] * 3


@pytest.mark.parametrize(
    ("names", "source"),
    [
        (("iteration 8", "iteration 9", "iteration 10"), "iteration"),
        (("train_step_0", "train_step_1", "train_step_2"), "train_step"),
        (("Batch #1", "Batch #2", "Batch #7"), "Batch"),
        (("step", "step", "step"), "step"),
    ],
)
def test_names_that_count_steps_are_one(names: tuple[str, str, str], source: str) -> None:
    facts = facts_drawn(
        """
        main    (one          )(two          )(three        )
        main      (layer1  )     (layer2  )     (layer3  )
    """,
        names=dict(zip(("one", "two", "three"), names, strict=True)),
    )
    assert facts.summary.step_source == source
    assert step_names(facts) == list(names)


@pytest.mark.parametrize(
    ("outer", "names", "source"),
    [
        ("epoch 0", ("iteration 8", "iteration 9", "iteration 10"), "iteration"),
        ("run", ("train_step", "train_step", "train_step"), "train_step"),
        (
            "[pl][profile]run_training_epoch",
            ("[pl][profile]run_training_batch",) * 3,
            "[pl][profile]run_training_batch",
        ),
    ],
)
def test_steps_may_stand_within_another_annotation(
    outer: str, names: tuple[str, str, str], source: str
) -> None:
    facts = facts_drawn(
        """
        main    (outer                                                )
        main     (whole                                              )
        main     (one          )(two          )(three        )
        main      (a step )       (a step )      (a step )
    """,
        names={**dict(zip(("one", "two", "three"), names, strict=True)), "outer": outer},
    )
    assert facts.summary.step_source == source
    assert step_names(facts) == list(names)


@pytest.mark.parametrize(
    "drawing",
    [
        pytest.param(
            """
        main    (layer 1      )(layer 2      )(layer 3      )
        """,
            id="other numbers",
        ),
        pytest.param(
            """
        main    (iteration    )(iteration    )
        """,
            id="only twice",
        ),
        pytest.param(
            """
        main    (small)              (small)                (small)         [aten::mm       ]
        """,
            id="covers too little",
        ),
        pytest.param(
            """
        main    (request      )(request      )(request      )
        other       (request      )(request      )(request      )
        """,
            id="several threads at once",
        ),
        pytest.param(
            """
        main    [aten::mm     ][aten::mm     ][aten::mm     ]
        """,
            id="operators",
        ),
        pytest.param(
            """
        main    (nccl:all_reduce )(nccl:all_reduce )(nccl:all_reduce )
        """,
            id="collectives",
        ),
        pytest.param(
            """
        main    (forward                                      )
        main     (layer      )   (layer      )  (layer      )
        """,
            id="layers",
        ),
        pytest.param(
            """
        main    (run                                          )
        main     [aten::loop                                 ]
        main     (step       )   (step       )  (step       )
        """,
            id="within an operator",
        ),
        pytest.param(
            """
        main    (Optimizer.step#Adam.step)(Optimizer.step#Adam.step)(Optimizer.step#Adam.step)
        """,
            id="optimizers",
        ),
    ],
)
def test_without_steps_the_whole_span_is_one(drawing: str) -> None:
    facts = facts_drawn(drawing)
    assert facts.summary.step_source == "whole span"
    assert flags(facts) == [WHOLE]


def test_requests_served_by_threads_in_turn_are_still_steps() -> None:
    facts = facts_drawn("""
        main    (request )(request )(request )(request )
        other                                           (request )
    """)
    assert facts.summary.step_source == "request"
    assert facts["steps"].n == 4


def test_whole_span_holds_device_work_after_the_last_host_event() -> None:
    facts = facts_drawn("""
        main    [aten::mm     ]
        main     <x #1>
        gpu 7            {k #1           }
    """)
    assert steps(facts)[0]["wall"] == 26
    assert facts["kernel_steps"]["step"].tolist() == [0]


def test_time_that_fits_several_categories_belongs_to_the_first() -> None:
    """A copy beneath a kernel takes nothing, and of the host what no device work covers."""
    trace = trace_listed(
        """
        1 note ProfilerStep#0@0+8000
        1 op aten::mm@500+1000
        1 op aten::relu@3000+1000
        gpu 0:7 kernel gemm@2000+5000
        gpu 0:20 copy Memcpy HtoD@4000+2000
        """
    )
    found = derive(trace)["steps"]
    times = {name: int(found[name][0]) // 1_000_000 for name in CATEGORIES if found[name][0]}
    assert times == {"kernel": 5, "cpu_exec": 1, "other": 2}


def test_step_without_length() -> None:
    facts = facts_listed("""
        1 note ProfilerStep#1@0+0
        1 note ProfilerStep#2@0+100
    """)
    assert sorted(step["wall"] for step in steps(facts)) == [0, 100]


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["op", "call", "kernel", "copy", "set", "load", "nccl"]),
        st.integers(0, 90),
        st.integers(0, 40),
    ),
    max_size=25,
)


@given(EVENTS, st.lists(st.integers(1, 40), min_size=1, max_size=4))
def test_categories_add_up_whatever_happens(
    events: list[tuple[str, int, int]], lengths: list[int]
) -> None:
    begins = np.cumsum([0, *lengths])
    lines = [f"1 note ProfilerStep#{n}@{begins[n]}+{length}" for n, length in enumerate(lengths)]
    for n, (kind, at, dur) in enumerate(events, 1):
        lines.append(
            {
                "op": f"2 op aten::mm@{at}+{dur}",
                "call": f"1 call cudaLaunchKernel@{at}+{dur} c{n - 1}",
                "kernel": f"gpu 0:7 kernel k@{at}+{dur} c{n}",
                "copy": f"gpu 0:8 copy Memcpy HtoD@{at}+{dur} c{n}",
                "set": f"gpu 0:7 set Memset@{at}+{dur} c{n}",
                "load": f"1 note enumerate(DataLoader)#Iter.__next__@{at}+{dur}",
                "nccl": f"gpu 0:9 kernel ncclKernel_AllReduce@{at}+{dur} c{n}",
            }[kind]
        )
    facts = facts_listed("\n".join(lines))
    table = facts["steps"]
    assert table.n == len(lengths)
    assert ((table["end"] - table["start"]) == sum(table[key] for key in CATEGORIES)).all()
    assert all((table[key] >= 0).all() for key in CATEGORIES)
    assert (table["start"][1:] >= table["end"][:-1]).all()
    assert (table["end"] >= table["host_end"]).all()


def test_selection() -> None:
    facts = of_lengths([1000, 100, 100, 100])
    every = select(facts)
    assert mask(every, np.array([-1, 0, 3])).tolist() == [False, True, True]
    unmarked = select(of_lengths([]))
    assert mask(unmarked, np.array([-1, 0])).tolist() == [True, True]
    some = select(facts, 1, 2)
    assert some.steps.tolist() == [1, 2]
    assert mask(some, np.array([-1, 0, 1, 2, 3])).tolist() == [False, False, True, True, False]
    assert select(facts, skip_cold=True).steps.tolist() == [1, 2, 3]
    assert select(facts, first=2).steps.tolist() == [2, 3]
    assert select(facts, last=1).steps.tolist() == [0, 1]


@pytest.mark.parametrize(("first", "last"), [(-1, None), (4, None), (None, 4), (None, -1), (2, 1)])
def test_selection_out_of_range(first: int | None, last: int | None) -> None:
    with pytest.raises(IndexError):
        select(of_lengths([100] * 4), first, last)


def test_skipping_the_only_step_leaves_no_average() -> None:
    facts = of_lengths([1000, 100, 100])
    assert average(facts, select(facts, 0, 0, skip_cold=True)) is None
