"""Route ``/callers``: the tree of callers, library frames folded, modules that are alike merged."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.analysis.figures import everything
from tests.views import hand_made
from torch_tb_profiler.errors import NotFound
from torch_tb_profiler.store import fact_schema
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.strings import StringBuilder
from torch_tb_profiler.views.steps import choose
from torch_tb_profiler.views.work.callers import callers_payload

US = hand_made.US
FACTS = hand_made.facts()
EVERYTHING = everything(FACTS)

LIBRARY = "torch/nn/functional.py(1): linear"
FORWARD = "model.py(7): forward"
MAIN = "train.py(1): main"
# Linear_0 and Linear_1 of one line, each through the library.
STACKS = [
    (-1, MAIN),
    (0, "nn.Module: Net_0"),
    (1, FORWARD),
    (2, "nn.Module: Linear_0"),
    (3, LIBRARY),
    (2, "nn.Module: Linear_1"),
    (5, LIBRARY),
]


def with_stacks(stacks: list[tuple[int, str]], of_operators: list[int]) -> Facts:
    """The facts with other call stacks of their three operators."""
    texts = StringBuilder(FACTS.strings)
    table = fact_schema.STACKS.build(
        parent=[parent for parent, _ in stacks],
        frame=texts.intern_all([frame for _, frame in stacks]),
    )
    operators = FACTS["operators"].replace(stack=of_operators)
    tables = {**FACTS.tables, "stacks": table, "operators": operators}
    return replace(FACTS, strings=texts.table(), tables=tables)


def rows(facts: Facts, name: str, **more: Any) -> list[tuple[str, int, str | None, int]]:
    found = callers_payload(facts, everything(facts), more.pop("of", "operator"), name, **more).rows
    columns = (list(found[key]) for key in ("name", "parent", "layers", "calls"))
    return list(zip(*columns, strict=True))


def test_the_own_line_comes_first_and_layers_that_are_alike_are_one_row() -> None:
    assert rows(with_stacks(STACKS, [4, 6, -1]), "aten::mm") == [
        (FORWARD, -1, "Linear ×2", 6),
        (MAIN, 0, "Net", 6),
    ]


def test_modules_around_the_outermost_own_line_stand_with_it() -> None:
    begun_inside = [(-1, "nn.Module: Net_0"), (0, "nn.Module: Block_1"), (1, FORWARD)]
    assert rows(with_stacks(begun_inside, [2, 2, -1]), "aten::mm") == [
        (FORWARD, -1, "Block, Net", 6)
    ]


def test_frames_of_libraries_on_request() -> None:
    assert rows(with_stacks(STACKS, [4, 6, -1]), "aten::mm", library=True) == [
        (LIBRARY, -1, None, 6),
        ("Linear", 0, "Linear ×2", 6),
        (FORWARD, 1, None, 6),
        ("Net", 2, "Net", 6),
        (MAIN, 3, None, 6),
    ]


def test_without_an_own_line_the_modules_and_without_these_every_frame() -> None:
    modules = [(-1, "nn.Module: Linear_0"), (0, LIBRARY), (-1, "nn.Module: Linear_1")]
    assert rows(with_stacks(modules, [1, 2, -1]), "aten::mm") == [("Linear", -1, "Linear ×2", 6)]
    plain = [(-1, "torch/a.py(1): outer"), (0, LIBRARY)]
    assert rows(with_stacks(plain, [1, 1, -1]), "aten::mm") == [
        (LIBRARY, -1, None, 6),
        ("torch/a.py(1): outer", 0, None, 6),
    ]


def test_sums_stand_at_every_caller() -> None:
    found = callers_payload(FACTS, EVERYTHING, "operator", "aten::mm", hand_made.SHAPES).rows
    assert list(found["device_self_ns"]) == [50 * US, 50 * US, 10 * US, 10 * US]
    assert found["total_ns"] == [None] * 4


def test_calls_without_a_stack_have_no_caller() -> None:
    assert rows(FACTS, "aten::add") == []


def test_a_kernel_has_its_operators_and_their_callers() -> None:
    found = callers_payload(FACTS, EVERYTHING, "kernel", hand_made.GEMM).rows
    told = zip(found["name"], found["parent"], found["calls"], found["total_ns"], strict=True)
    assert list(told) == [
        ("aten::mm", -1, 5, 61 * US),
        (FORWARD, 0, 4, 45 * US),
        (MAIN, 1, 4, 45 * US),
        ("model.py(9): backward", 0, 1, 16 * US),
        (MAIN, 3, 1, 16 * US),
    ]


def test_the_callers_are_those_of_the_selected_steps() -> None:
    second = choose(FACTS, first=1, last=1)
    found = callers_payload(FACTS, second, "kernel", hand_made.GEMM).rows
    assert list(found["calls"]) == [3, 3, 3]


@pytest.mark.parametrize(
    ("of", "name", "shapes"),
    [
        ("operator", "aten::nothing", None),
        ("operator", "aten::mm", "[[9]]"),
        ("kernel", "aten::mm", None),
    ],
)
def test_what_is_not_there(of: Any, name: str, shapes: str | None) -> None:
    with pytest.raises(NotFound):
        callers_payload(FACTS, EVERYTHING, of, name, shapes)
