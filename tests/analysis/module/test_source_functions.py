"""Functions of a recording in the source as it is now: drawn sources, shifted, and sources that are none."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from torch_tb_profiler.analysis.module.source_functions import (
    functions_of,
    lines_by_function,
    standing,
)
from torch_tb_profiler.store.python_frames import PythonFrame

SOURCE = """\
@decorated(
    1)
async def load(x):
    '''
unindented'''
    return x

class Net:
    def forward(self):
        return 1

    def other(self): return 2

class Block:
    def forward(self): pass
"""


def frame(function: str, line: int | None) -> PythonFrame:
    return PythonFrame(function, "/w/net.py", line)


def test_functions_begin_at_their_decorator_and_end_with_their_body() -> None:
    assert [(f.name, f.first, f.head, f.last) for f in functions_of(SOURCE)] == [
        ("load", 1, 3, 6),
        ("forward", 9, 9, 10),
        ("other", 12, 12, 12),
        ("forward", 15, 15, 15),
    ]


@pytest.mark.parametrize("text", ["def f(", "\0", "(" * 5000, "x = " + "-" * 50_000 + "1", "é" * 9])
def test_what_is_no_python_has_no_function(text: str) -> None:
    assert functions_of(text) == []


@given(st.integers(0, 30), st.integers(0, 30))
@example(0, 6)
def test_moved_functions_are_found_by_name_and_order(before: int, shift: int) -> None:
    then, now = ("\n" * lines + SOURCE for lines in (before, shift))
    names = [f"/w/net.py({one.first}): {one.name}" for one in functions_of(then)]
    recorded = lines_by_function(names)
    for old, new in zip(functions_of(then), functions_of(now), strict=True):
        key = ("/w/net.py", old.name)
        assert standing(frame(old.name, old.first), functions_of(now), recorded[key]) == new


def test_of_several_that_nothing_tells_apart_none_is_it() -> None:
    functions = functions_of(SOURCE)
    assert standing(frame("forward", 90), functions, [90]) is None
    assert standing(frame("forward", None), functions, []) is None
    assert standing(frame("gone", 1), functions, [1]) is None
    assert standing(frame("other", None), functions, []) == functions[2]
