"""Chunk and read sizes never matter: the tables are equal."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.importers.reading import defects, lines, read, rows, span, trace

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
LEAVES = st.one_of(
    st.integers(), TEXTS, st.booleans(), st.none(), st.sampled_from(["},{", "}]", '"'])
)
VALUES = st.recursive(
    LEAVES,
    lambda v: st.lists(v, max_size=3) | st.dictionaries(TEXTS, v, max_size=3),
    max_leaves=6,
)
EVENTS = st.fixed_dictionaries(
    {"ph": st.sampled_from("XXXiCsfM"), "ts": st.integers(0, 10**6)},
    optional={
        "name": TEXTS,
        "cat": st.sampled_from(["cpu_op", "kernel", "python_function", "odd"]),
        "pid": st.sampled_from([1, "1", "Spans"]),
        "tid": st.integers(0, 3),
        "dur": st.integers(-5, 100),
        "id": st.integers(0, 9),
        "args": st.dictionaries(
            st.sampled_from(["External id", "correlation", "Input Dims", "stream", "name", "x"]),
            VALUES,
            max_size=4,
        ),
    },
)

FIXED = lines(
    [
        span(0),
        span(1, '"args": {"l": [{"a": 1}, {"b": "},{"}]}'),
        '{"ph": "X", "name": "a"b", "ts": 1}',
        span(2, name="C:\\U").replace("\\\\", "\\"),
        span(3, '"args": {"External id": "5"}'),
        "17",
        (
            '{"ph": "C", "name": "c", "ts": 150, "pid": 1, "tid": 1, "args": {"v": [{"x": 1}, {"y":'
            " 2}]}}"
        ),
        span(4),
    ]
)


@pytest.mark.slow
def test_every_chunk_size_of_a_trace_with_damage() -> None:
    whole = read(FIXED)
    for chunk in (*range(1, 200), *range(200, len(FIXED), 7), len(FIXED), len(FIXED) + 1):
        trace = read(FIXED, chunk)
        assert rows(trace) == rows(whole), chunk
        assert (defects(trace), trace.entries) == (defects(whole), whole.entries), chunk


@examples(60)
@given(st.lists(EVENTS, max_size=8), st.integers(1, 400), st.integers(1, 50), st.booleans())
def test_any_events(
    events: list[dict[str, object]], chunk: int, piece: int, ascii_only: bool
) -> None:
    text = trace(span(0), *(json.dumps(e, ensure_ascii=ascii_only) for e in events))
    assert rows(read(text, chunk, piece)) == rows(read(text))


def test_chunks_say_where_the_events_lie() -> None:
    trace = read(FIXED, 200)
    table = trace["chunks"]
    text = FIXED.encode()
    joined = b"".join(
        text[o : o + s]
        for o, s in zip(table["offset"].tolist(), table["size"].tolist(), strict=True)
    )
    assert all(f'"op{i}"'.encode() in joined for i in (0, 1, 3, 4))
    assert (table["ordinal"][1:] >= table["ordinal"][:-1]).all()
