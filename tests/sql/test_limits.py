"""A statement ends within its limits, with what is there or in words."""

from __future__ import annotations

import time
from typing import Any

import msgspec.structs
import pytest

from tests.sql.conftest import Ask
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.sql.engine import Limits, run
from torch_tb_profiler.tables.source import TableSource

ENDLESS = "with recursive t(x) as (select 1 union all select x + 1 from t) "


def refused(ask: Ask, text: str, **limits: float) -> str:
    begin = time.monotonic()
    with pytest.raises(BadRequest) as error:
        ask(text, **limits)
    assert time.monotonic() - begin < 60
    return error.value.message


def test_the_first_rows_and_how_many_there_are(ask: Ask) -> None:
    found = ask("select range as x from range(100000)", rows=3)
    assert (found.rows, found.total) == ([[0], [1], [2]], 100_000)
    assert found.note == "The first 3 rows of 100\u202f000."
    assert ask("select 1").note == ""


def test_rows_end_where_their_text_is_too_long(ask: Ask) -> None:
    found = ask("select repeat('x', 1000) as x from range(100)", bytes=10_000)
    assert (len(found.rows), found.total) == (10, 100)


def test_rows_that_never_end_are_cut(ask: Ask) -> None:
    # DuckDB before 2.0 answers nothing of a recursion that has no end.
    found = ask("select range as x from range(1, 1000000000000)", rows=5, seconds=0.5)
    assert (found.rows, found.total) == ([[1], [2], [3], [4], [5]], -1)
    assert found.note == "The first 5 rows of more that were not counted."


@pytest.mark.parametrize(
    "text",
    [
        f"{ENDLESS} select count(*) from t",
        "select count(*) from range(1000000) a, range(1000000) b where a.range + b.range = 3",
    ],
)
def test_what_never_answers_is_ended(ask: Ask, text: str) -> None:
    assert refused(ask, text, seconds=0.5) == "The statement was ended after 0.5 s."


def test_what_needs_too_much_memory_is_refused(ask: Ask) -> None:
    said = refused(ask, "select list(range) from range(100000000)", memory=64 << 20)
    assert said == "The statement needs more than the 64.0 MiB that it may use."


def test_a_wrong_column_is_named_with_what_there_is(ask: Ask) -> None:
    said = refused(ask, "select nme from kernels")
    assert '"nme"' in said
    assert '"name"' in said
    assert "\n" not in said


def test_a_statement_leaves_nothing_to_the_next(ask: Ask) -> None:
    before = ask("select count(*) from kernels").rows
    refused(ask, "select * from kernels, nothing")
    assert ask("select count(*) from kernels").rows == before


def test_the_insight_is_made_only_for_those_who_ask(data: TableSource) -> None:
    def never() -> Any:
        pytest.fail("made")

    without = msgspec.structs.replace(data, derive=never)
    assert run(without, "select count(*) from kernels, steps, page.operators", Limits()).total == 1


def test_values_are_plain(ask: Ask) -> None:
    found = ask(
        "select sum(range) as whole, 1.5 as half, [1, 2] as list, {'a': 1} as struct, true as flag,"
        " 'nan'::double as nan, date '2024-01-02' as day, null as nothing, 'a'::blob as bytes from range(4)"
    )
    assert found.rows == [[6, 1.5, [1, 2], {"a": 1}, True, None, "2024-01-02", None, "61"]]
    assert found.types[:3] == ["integer", "number", "list<element: int32>"] or found.types[:2] == [
        "integer",
        "number",
    ]


def test_columns_have_the_unit_that_their_tables_agree_on(ask: Ask) -> None:
    found = ask("select id, name, dur, sum(dur) as total, count(*) as n from kernels group by all")
    assert found.units == ["event", "", "ns", "ns", ""]
    # The ids of the other table are no events.
    both = ask("select k.id from kernels k, devices d")
    assert both.units == [""]


@pytest.mark.parametrize("value", ["repeat('x', 20000)", "list_resize([1], 9000, 1)"])
def test_a_first_row_that_is_too_long_is_no_answer(ask: Ask, value: str) -> None:
    said = refused(ask, f"select {value}", bytes=10_000)
    assert said == "The first row alone has more than the 9.77 KiB of an answer."
