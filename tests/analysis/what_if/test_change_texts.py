"""What is printed of a change is what is read as that change, alone and among others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from torch_tb_profiler.analysis.critical_path.table import KINDS
from torch_tb_profiler.analysis.what_if.change_types import NUMBERS
from torch_tb_profiler.analysis.what_if.changes import (
    CHANGES,
    SELECTORS,
    Applied,
    Change,
    read_change,
    read_changes,
)

PIECES = [
    "\\",
    ",",
    ";",
    "=",
    ":",
    "*",
    "?",
    " ",
    "a",
    "é",
    ",factor=",
    ";host",
    ";graph:",
    "name=",
]
TEXT = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
NUMBER = st.floats(0.001, 1).map(str)


@st.composite
def changes(draw: st.DrawFn) -> Applied:
    """Any change with any values."""
    change: Change = draw(st.sampled_from(list(CHANGES.values())))
    values = dict(change.defaults)
    for key, default in change.defaults.items():
        if key in NUMBERS:
            values[key] = draw(NUMBER)
        elif key == "kind":
            values[key] = draw(st.sampled_from(["", *KINDS]))
        else:
            values[key] = draw(st.sampled_from([default, "*"]) | TEXT)
    own = [key for key in SELECTORS if key in values]
    if own and not any(values[key] for key in own):
        values[own[0]] = "*"
    return Applied(change, values)


@given(changes())
@examples(500)
def test_a_printed_change_is_read_as_what_it_was(applied: Applied) -> None:
    assert read_change(str(applied)) == applied


@given(st.lists(changes(), min_size=1, max_size=4))
@examples(300)
def test_so_are_several(applied: list[Applied]) -> None:
    assert read_changes(";".join(map(str, applied))) == applied


@pytest.mark.parametrize(
    "text",
    [
        "scale:kernel=*,factor=0.5",
        "scale:kernel=void f<2, float>(int),factor=0.25",
        "scale:line=C:\\train.py(3): step,factor=0.5",
        "no-sync",
        "no-sync:name=cudaMemcpy*",
        "buckets:size=25",
    ],
)
def test_plain_names_are_printed_plainly(text: str) -> None:
    assert str(read_change(text)) == text
