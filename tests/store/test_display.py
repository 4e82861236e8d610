"""Tables declared as text."""

from __future__ import annotations

from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict

from torch_tb_profiler.store.display import DisplayColumn, Kind, Pool, display_spec

WORDS = st.lists(st.from_regex(r"[A-Za-z{}`(),;.:=]{1,9}", fullmatch=True), max_size=12)
NAMES = st.from_regex(r"[a-z][a-z_]{0,11}", fullmatch=True)
COLUMNS = st.builds(
    DisplayColumn,
    NAMES,
    st.sampled_from(get_args(Kind)),
    WORDS.map(" ".join),
    WORDS.map(" ".join),
    st.just("") | NAMES,
    st.booleans(),
    st.none() | st.sampled_from(get_args(Pool)),
    st.sampled_from(("", "ns", "row of steps", "FLOP/byte")),
    st.booleans(),
    st.integers(0, 400),
    st.booleans(),
    st.booleans(),
)


def options(column: DisplayColumn) -> str:
    """Every field that is not as it is without an option."""
    usual = asdict(DisplayColumn(column.name, column.kind, column.label, column.doc))
    given: dict[str, Any] = {
        key: value
        for key, value in asdict(column).items()
        if key not in ("name", "kind", "label", "doc") and value != usual[key]
    }
    written = [
        "unsent"
        if key == "page"
        else key
        if value is True
        else f"{key}={str(value).replace(' ', '_')}"
        for key, value in given.items()
    ]
    return " ".join(written) or "-"


@given(st.lists(COLUMNS, min_size=1, max_size=8), st.integers(2, 9), st.integers(1, 40))
def test_what_is_declared_as_text_is_what_was_written(
    columns: list[DisplayColumn], gap: int, broken: int
) -> None:
    rows = []
    for column in columns:
        words = column.doc.split()
        doc = " ".join(words[:broken]) + "\n        " + " ".join(words[broken:])
        cells = (column.name, column.kind, column.label or "-", options(column), doc)
        rows.append("    " + (" " * gap).join(cells))

    spec = display_spec("\ndrawn: One row per draw.\n" + "\n".join(rows) + "\n")

    assert (spec.name, spec.doc, spec.columns) == ("drawn", "One row per draw.", tuple(columns))


def test_a_sentence_may_name_a_text_that_is_computed() -> None:
    spec = display_spec("drawn: One.\n    share  share  -  -  Above <most>.", most="5 %")

    assert spec.columns[0].doc == "Above 5 %."
