"""Numbers are printed as the table of cases says, which the page's test reads as well."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from torch_tb_profiler import units

CASES = json.loads(
    (Path(__file__).parents[1] / "fe/src/base/units_cases.json").read_text(encoding="utf-8")
)
FORMATS: dict[str, Callable[[float | None], str]] = {
    "ns": units.format_ns,
    "delta": units.format_delta,
    "bytes": units.format_bytes,
    "count": units.format_count,
    "number": units.format_number,
    "share": units.format_share,
    **{unit: partial(units.format_rate, unit=unit) for unit in ("FLOP", "FLOP/s", "B/s")},
}


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [(unit, value, text) for unit, cases in CASES.items() for value, text in cases],
)
def test_a_number_is_printed_by_the_rule(unit: str, value: float | None, text: str) -> None:
    assert FORMATS[unit](value) == text


def test_what_is_no_finite_number_is_unknown() -> None:
    for value in (float("nan"), float("inf"), np.float64("nan")):
        assert units.format_share(value) == units.UNKNOWN


@pytest.mark.parametrize("count", range(7))
def test_names_in_a_sentence_are_joined_as_people_join_them(count: int) -> None:
    said = units.format_names([f"rank{number}" for number in range(count)])
    shown = re.findall(r"rank\d", said)
    more = count - len(shown)
    assert more != 1
    assert said.count(" and ") == (count > 1)
    assert f"{more} more" in said if more else "more" not in said


def test_a_limit_is_printed_as_it_was_set() -> None:
    assert [units.format_limit(limit) for limit in (0.01, 0.05, 0.07)] == ["1 %", "5 %", "7 %"]


def test_no_line_breaks_between_a_number_and_any_unit_that_is_printed() -> None:
    draw = random.Random(8)
    for _ in range(200):
        value = draw.uniform(1, 1000) * 10 ** draw.randint(0, 15)
        told = [units.format_ns(value), units.format_bytes(value), units.format_share(value % 1)]
        told += [units.format_rate(value, unit) for unit in ("FLOP", "FLOP/s", "B/s")]
        for text in told:
            assert " " not in units.unbroken(text), text
            assert units.unbroken(text).replace(units.NO_BREAK, " ") == text
