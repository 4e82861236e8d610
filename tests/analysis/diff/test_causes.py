"""Causes of drawn differences: they add up, none exceeds the difference or its rows, replacements are netted."""

from __future__ import annotations

import math

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.examples import examples
from torch_tb_profiler.analysis.diff.causes import Cause, Part, causes
from torch_tb_profiler.store.categories import CATEGORIES

DELTA = st.integers(-100_000, 100_000).map(float)
PART = st.builds(Part, st.sampled_from("abcdefgh"), DELTA, st.booleans())
WHOLE = st.dictionaries(st.sampled_from(CATEGORIES), DELTA, min_size=1)
ROWS = st.dictionaries(
    st.sampled_from(CATEGORIES), st.lists(PART, max_size=6, unique_by=lambda p: p.name)
)


@examples(300)
@given(WHOLE, ROWS)
def test_causes_add_up_and_none_exceeds_the_difference(
    categories: dict[str, float], rows: dict[str, list[Part]]
) -> None:
    whole = sum(categories.values())
    found = causes(categories, rows)
    assert math.isclose(sum(one.delta for one in found), whole, abs_tol=1e-3)
    assert all(abs(one.delta) <= abs(whole) + 1e-3 for one in found)


@examples(300)
@given(WHOLE, ROWS)
def test_no_cause_exceeds_what_its_rows_changed(
    categories: dict[str, float], rows: dict[str, list[Part]]
) -> None:
    for one in causes(categories, rows):
        if one.names and len(one.categories) == 1:
            own = [row for row in rows[one.categories[0]] if row.name in one.names]
            most = max(abs(sum(r.delta for r in own if sign * r.delta > 0)) for sign in (1, -1))
            assert abs(one.delta) <= most + 1e-3


@examples(200)
@given(WHOLE, ROWS, DELTA, st.sampled_from(CATEGORIES))
def test_a_call_under_another_name_is_no_cause(
    categories: dict[str, float], rows: dict[str, list[Part]], size: float, key: str
) -> None:
    own = rows.get(key, [])
    moved = [*own, Part("before", -abs(size), False), Part("after", abs(size), False)]
    told, renamed = causes(categories, rows), causes(categories, rows | {key: moved})
    assume(not any(not part.paired for part in own))
    assert [one.delta for one in renamed] == [one.delta for one in told]


def test_what_is_gone_counts_against_what_is_new() -> None:
    new, gone, slower = (
        Part("new", 50.0, False),
        Part("gone", -42.0, False),
        Part("slower", 2.0, True),
    )
    assert causes({"kernel": 10.0}, {"kernel": [new, gone, slower]}) == [
        Cause(("kernel",), ("new", "gone"), 8.0),
        Cause(("kernel",), ("slower",), 2.0),
    ]


def test_time_that_moved_between_categories_is_one_cause() -> None:
    assert causes({"other": 18.0, "cpu_exec": -6.0, "runtime": -4.0}, {}) == [
        Cause(("other", "cpu_exec", "runtime"), (), 8.0)
    ]


def test_rows_that_run_at_the_same_time_share_what_the_step_took() -> None:
    two = [Part("left", 6.0, True), Part("right", 4.0, True)]
    assert [(one.names, one.delta) for one in causes({"kernel": 5.0}, {"kernel": two})] == [
        (("left",), 3.0),
        (("right",), 2.0),
    ]
