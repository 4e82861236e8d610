"""Decimal texts become exact nanoseconds, on the fast and the slow path."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from torch_tb_profiler.importers.decimal_text import INVALID, LARGEST_NS, nanoseconds

PLAIN = st.tuples(st.integers(0, 10**16), st.text("0123456789", max_size=12)).map(
    lambda x: f"{x[0]}.{x[1]}" if x[1] else str(x[0])
)
SIGNED = st.tuples(
    st.sampled_from(["", "-"]), PLAIN, st.sampled_from(["", "e3", "E-2", "e+1"])
).map("".join)


def exact(text: str) -> int:
    value = Decimal(text) * 1000
    return (
        int(value.to_integral_value(rounding=ROUND_HALF_UP))
        if abs(value) <= LARGEST_NS
        else int(INVALID)
    )


@given(st.lists(st.one_of(PLAIN, SIGNED), max_size=40))
def test_equals_decimal_arithmetic(texts: list[str]) -> None:
    assert nanoseconds([Raw(t.encode()) for t in texts]).tolist() == [exact(t) for t in texts]


@given(st.lists(st.one_of(PLAIN, st.text(max_size=8), st.just("")), max_size=20))
def test_odd_texts_do_not_disturb_their_neighbours(texts: list[str]) -> None:
    raw = [Raw(t.encode("utf-8", "replace")) for t in texts]
    assert nanoseconds(raw).tolist() == [int(nanoseconds([r])[0]) for r in raw]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "1.2.3",
        "--1",
        "1e999999999",
        "nan",
        "Infinity",
        "null",
        "9" * 400,
        "\n",
        "1\n2",
        ".",
        '"',
        "٣",
    ],
)
def test_no_time(text: str) -> None:
    assert nanoseconds([Raw(b"1"), Raw(text.encode()), Raw(b"2.5")]).tolist() == [
        1000,
        INVALID,
        2500,
    ]


def test_none_at_all() -> None:
    assert nanoseconds([]).dtype == np.int64
