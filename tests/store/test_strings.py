"""String tables: text to number and back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.store.strings import NONE, StringBuilder, StringTable

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(TEXT))
def test_round_trip(texts: list[str]) -> None:
    builder = StringBuilder()
    numbers = builder.intern_all(texts)
    table = builder.table()
    assert table.many(numbers) == texts
    assert len(table) == len(set(texts)) == len(builder)
    assert [table.number(t) for t in texts] == numbers == [builder.intern(t) for t in texts]
    assert table.all() == [table[i] for i in range(len(table))]


@given(st.lists(TEXT), st.lists(TEXT))
def test_a_builder_goes_on_where_a_table_ends(first: list[str], more: list[str]) -> None:
    base = StringBuilder()
    base.intern_all(first)
    longer = StringBuilder(base.table())
    longer.intern_all(more)
    assert longer.table().all()[: len(base)] == base.table().all()
    assert set(longer.table().all()) == {*first, *more}


def test_none_and_unknown() -> None:
    table = StringTable.of(["a"])
    assert (table[NONE], table.number("b"), table.number("a")) == ("", NONE, 0)


def test_half_surrogates_do_not_raise() -> None:
    assert StringTable.of(["a\ud800"])[0] == "a?"
