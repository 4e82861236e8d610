"""Call stacks of operators: Python frames, ``Call stack`` arguments, and backward operators by
sequence number.
"""

from __future__ import annotations

from tests.builders.drawn import facts_drawn
from tests.builders.listed import facts_listed
from torch_tb_profiler.analysis.figures.operators import frames, operator_rows, operator_stacks
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.store.model import Facts


def stacks_of(facts: Facts, name: str) -> dict[tuple[str, ...], int]:
    """Calls of an operator by its frames, innermost first."""
    rows = operator_stacks(facts, select(facts), facts.strings.number(name), None)
    return {
        tuple(facts.strings[frame] for frame in frames(facts, int(stack))): int(calls)
        for stack, calls in zip(rows["stack"], rows["calls"], strict=True)
    }


def test_python_frames_around_the_operator() -> None:
    facts = facts_drawn("""
        main   /train.py(10): main                                      /
        main     /net.py(5): forward     /  /net.py(5): forward    /
        main       [aten::mm ][aten::mm ]     [aten::mm ]
    """)
    assert stacks_of(facts, "aten::mm") == {("net.py(5): forward", "train.py(10): main"): 3}
    assert facts["stacks"].n == 2
    assert facts.summary.has_stacks


def test_the_same_operator_from_two_places() -> None:
    facts = facts_drawn("""
        main   /train.py(10): main                                      /
        main     /net.py(5): forward   /  /loss.py(7): mean    /
        main       [aten::mm     ]           [aten::mm     ]
    """)
    assert stacks_of(facts, "aten::mm") == {
        ("net.py(5): forward", "train.py(10): main"): 1,
        ("loss.py(7): mean", "train.py(10): main"): 1,
    }
    by_name = operator_rows(facts, select(facts), "name")
    assert by_name["calls"].tolist() == [2]
    assert by_name["has_stack"].tolist() == [True]
    assert operator_rows(facts, select(facts), "stack")["calls"].tolist() == [1, 1]


def test_call_stack_arguments() -> None:
    facts = facts_listed("""
        1 op aten::mm@0+10 {"Call stack": "net.py(5): forward;train.py(10): main"}
        1 op aten::mm@20+10 {"Call stack": "loss.py(7): mean;train.py(10): main"}
        1 op aten::mm@40+10 {"Call stack": "net.py(5): forward;train.py(10): main"}
        1 op aten::mm@60+10
    """)
    assert stacks_of(facts, "aten::mm") == {
        ("net.py(5): forward", "train.py(10): main"): 2,
        ("loss.py(7): mean", "train.py(10): main"): 1,
        (): 1,
    }


def test_operators_inside_one_with_a_stack_share_it() -> None:
    facts = facts_listed("""
        1 op aten::linear@0+20 {"Call stack": "net.py(5): forward"}
        1 op aten::addmm@5+10
    """)
    assert stacks_of(facts, "aten::addmm") == {("net.py(5): forward",): 1}


FORWARD = """
    1 op aten::mm@0+10 {"Sequence number": 7, "Fwd thread id": 0, "Call stack": "net.py(5): forward"}
    2 op MmBackward0@100+20 {"Sequence number": 7, "Fwd thread id": 1}
    2 op aten::t@105+5
"""


def test_backward_operator_takes_the_stack_of_its_forward() -> None:
    facts = facts_listed(FORWARD)
    assert stacks_of(facts, "MmBackward0") == {("net.py(5): forward",): 1}
    assert stacks_of(facts, "aten::t") == {("net.py(5): forward",): 1}


def test_the_last_operator_of_a_sequence_number_made_the_node() -> None:
    facts = facts_listed("""
        1 op aten::zero_@0+10 {"Sequence number": 7, "Fwd thread id": 0, "Call stack": "optimizer.py(3): zero_grad"}
        1 op aten::mm@20+10 {"Sequence number": 7, "Fwd thread id": 0, "Call stack": "net.py(5): forward"}
        1 op aten::add@40+10 {"Sequence number": 8, "Fwd thread id": 0, "Call stack": "loss.py(5): mean"}
        2 op MmBackward0@100+20 {"Sequence number": 7, "Fwd thread id": 1}
    """)
    assert stacks_of(facts, "MmBackward0") == {("net.py(5): forward",): 1}


def test_backward_operator_has_no_stack_when_its_forward_is_not_sure() -> None:
    facts = facts_listed(
        FORWARD
        + """
        3 op aten::mm@0+10 {"Sequence number": 7, "Fwd thread id": 0, "Call stack": "net.py(9): other"}
    """
    )
    assert stacks_of(facts, "MmBackward0") == {(): 1}


def test_stacks_by_shape() -> None:
    facts = facts_listed("""
        1 op aten::mm@0+10 {"Input Dims": [[1, 2]], "Call stack": "a.py(1): f"}
        1 op aten::mm@20+10 {"Input Dims": [[3, 4]], "Call stack": "a.py(1): f"}
    """)
    shape = facts.strings.number("[[1,2]]")
    rows = operator_stacks(facts, select(facts), facts.strings.number("aten::mm"), shape)
    assert (rows["calls"].tolist(), rows["input_shapes"].tolist()) == ([1], [shape])
    rows = operator_stacks(facts, select(facts), facts.strings.number("aten::mm"), None)
    assert rows["calls"].tolist() == [2]


def test_no_inputs_and_no_shapes_recorded_are_two_rows() -> None:
    # `[]` says that there are no inputs; without the argument nothing is known.
    facts = facts_listed("""
        1 op aten::empty@0+10 {"Input Dims": []}
        1 op aten::empty@20+10
        1 op aten::empty@40+10 {"Input Dims": []}
    """)
    rows = operator_rows(facts, select(facts), "shape")
    found = {
        facts.strings[int(dims)] if dims >= 0 else None: int(calls)
        for dims, calls in zip(rows["input_shapes"], rows["calls"], strict=True)
    }
    assert found == {"[]": 2, None: 1}
    assert operator_rows(facts, select(facts), "name")["calls"].tolist() == [3]


def test_recursive_frames_end() -> None:
    facts = facts_drawn("""
        main   /f.py(1): f                        /
        main     /f.py(1): f                   /
        main       /f.py(1): f              /
        main         [aten::mm ]
    """)
    assert stacks_of(facts, "aten::mm") == {("f.py(1): f",) * 3: 1}
