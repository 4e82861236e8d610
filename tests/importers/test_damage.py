"""Damaged text: intact events survive, lost ones are counted, nothing else happens."""

from __future__ import annotations

import contextlib
import json
import random

import pytest

from tests.importers.reading import defects, lines, lost, names, read, span, trace
from torch_tb_profiler.errors import NotATrace, SourceError
from torch_tb_profiler.store import defects as d

pytestmark = pytest.mark.slow

RICH = '"args": {"External id": 1, "l": [{"a": 1}, {"b": "},{"}], "s": "q\\"uote"}'
MANY = [span(i, RICH if i % 2 else "") for i in range(6)]


@pytest.mark.parametrize(
    "text",
    [trace(*MANY), lines(MANY), trace(*MANY, before="", after=""), "[" + ",".join(MANY) + "]"],
    ids=["one_line", "kineto", "bare_object", "array"],
)
@pytest.mark.parametrize("chunk", [300, 2 << 20])
def test_truncated_at_any_byte(text: str, chunk: int) -> None:
    """Every event wholly before the cut is there; a partial one is one lost entry. Of the events, which are alike, two are cut
    at each byte in small chunks, the others and those in one chunk now and then.
    """
    ends = [text.index(e) + len(e) for e in MANY]
    first = text.index(MANY[0])
    closed = len(text.rstrip())
    for cut in {
        *range(0, closed, 13),
        *range(ends[1], ends[3], 1 if chunk < len(text) else 5),
        *range(ends[-1], closed),
    }:
        whole = sum(end <= cut for end in ends)
        if not whole:
            with contextlib.suppress(NotATrace):
                assert read(text[:cut], chunk).entries == 0
            continue
        imported = read(text[:cut], chunk)
        partial = any(end > cut > text.index(e) for e, end in zip(MANY, ends, strict=True))
        assert names(imported) == [f"op{i}" for i in range(whole)], cut
        assert defects(imported) == {
            d.TRUNCATED: 1,
            **({d.UNPARSABLE: 1} if partial else {}),
            **_header_lost(text, ends[-1], cut, imported.header),
        }, (cut, first)
        assert imported.entries == whole + partial


def _header_lost(text: str, events_end: int, cut: int, header: dict[str, object]) -> dict[str, int]:
    """A header value that the cut goes through is counted too."""
    rest = text[events_end:cut]
    begun = (
        '"traceName":' in rest
        and rest.rstrip() != rest[: rest.index(":") + 1]
        and "traceName" not in header
    )
    colon = '"traceName":' in rest and "traceName" not in header
    return {d.HEADER_LOST: 1} if begun or colon else {}


BROKEN = [
    pytest.param(
        '{"ph": "X", "name": "a"b", "cat": "c", "pid": 1, "tid": 1, "ts": 1, "dur": 1}', id="quote"
    ),
    pytest.param(
        '{"ph": "X", "name": "a"b"c", "cat": "c", "pid": 1, "tid": 1, "ts": 1, "dur": 1}',
        id="two_quotes",
    ),
    pytest.param(
        '{"ph": "X", "name": "a"b", "args": {"l": [{"x": 1}, {"y": 2}]}, "ts": 1, "dur": 1}',
        id="quote_before_a_list",
    ),
    pytest.param(
        '{"ph": "X", "args": {"l": [{"x": 1}, {"y": 2}], "s": "a"b"}, "ts": 1, "dur": 1}',
        id="quote_behind_a_list",
    ),
    pytest.param('{"ph": "X", "name": "a, "ts": 1, "dur": 1}', id="quote_missing"),
    pytest.param('{"ph": "X", "ts": 1, "dur": 1, "name": "a}', id="last_quote_missing"),
    pytest.param('{"ph": "X", "ts": 1, "dur": , "name": "a"}', id="value_missing"),
    pytest.param('{"ph": "X", "ts": 1 "dur": 2, "name": "a"}', id="comma_missing"),
    pytest.param('{"ph": "X", "ts": 1, "dur": 2, "name" "a"}', id="colon_missing"),
    pytest.param('{"ph": "X", "ts": 1, "dur": 2, "args": {"a": 1}', id="brace_missing"),
    pytest.param('{"ph": "X", "ts": 1, "dur": 2, "args": [1, 2}', id="bracket_missing"),
]


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("place", [0, 1, 3])
@pytest.mark.parametrize("layout", [trace, lambda *e: lines(e)], ids=["one_line", "kineto"])
@pytest.mark.parametrize("chunk", [1, 200, 2 << 20])
def test_only_the_broken_event_is_lost(broken: str, place: int, layout, chunk: int) -> None:  # type: ignore[no-untyped-def]
    events = [span(0, RICH), span(1), span(2, RICH)]
    imported = read(layout(*events[:place], broken, *events[place:]), chunk)
    assert names(imported) == ["op0", "op1", "op2"]
    assert (imported.entries, defects(imported)) == (4, {d.UNPARSABLE: 1})
    assert imported.header["traceName"] == "t"


@pytest.mark.parametrize("value", ["-Infinity", "NaN", "N/A", "01", "[NaN]", '{"a": [{"b": 01}]}'])
@pytest.mark.parametrize(
    "neighbour", ['"1.5"', "17", "[1180591620717411303424]", "[01]", "{}", "undefined", "[{}, {}]"]
)
@pytest.mark.parametrize("chunk", [1, 200, 2 << 20])
def test_wrong_values_cost_no_neighbour(value: str, neighbour: str, chunk: int) -> None:
    """Brackets balance, so the end of every entry is known, however wrong its values are."""
    wrong = f'{{"ph": "i", "name": "wrong", "ts": 1, "args": {{"v": {value}}}}}'
    typed = span(1, '"ph": 1, "args": {"v": 01}')  # no chunk with it can be decoded at once
    listed = (span(0), typed, wrong, neighbour, span(2), wrong, neighbour, wrong, span(3, RICH))
    for layout in (trace(*listed), trace(*listed, neighbour), trace(*listed, wrong)):
        imported = read(layout, chunk)
        assert imported.entries == len(listed) + (layout != trace(*listed))
        assert names(imported) == ["op0", "op2", "op3"]
        assert imported.header["traceName"] == "t"


MENDED = [
    pytest.param(r'"C:\Users\x\new"', d.REPAIRED, "C:\\Users\\x\new", id="windows_backslashes"),
    pytest.param('"line\nfeed\x01"', d.REPAIRED, "line\nfeed\x01", id="control_characters"),
    pytest.param('"a\ttab"', d.REPAIRED, "a\ttab", id="raw_tab"),
]


@pytest.mark.parametrize(("name", "kind", "meant"), MENDED)
@pytest.mark.parametrize("more", ["", RICH])
@pytest.mark.parametrize("chunk", [1, 2 << 20])
def test_mended_names(name: str, kind: str, meant: str, more: str, chunk: int) -> None:
    imported = read(trace(span(0), span(1, more).replace('"op1"', name), span(2, RICH)), chunk)
    assert names(imported) == ["op0", meant, "op2"]
    assert defects(imported) == {kind: 1}


@pytest.mark.parametrize("entry", ["17", "null", '"text"', "[1, [2]]", "NaN", "true"])
def test_entries_that_are_no_objects(entry: str) -> None:
    imported = read(trace(span(0), entry, span(1)))
    assert names(imported) == ["op0", "op1"]
    assert (imported.entries, defects(imported)) == (3, {d.NOT_AN_EVENT: 1})


def test_a_broken_event_keeps_its_neighbours_arguments_and_ordinals() -> None:
    broken = str(BROKEN[0].values[0])
    imported = read(trace(span(0), broken, span(1, '"args": {"Input Dims": [[2, 3]]}')))
    assert imported.strings.many(imported["operator_args"]["dims"].tolist()) == ["", "[[2,3]]"]


SEED = 20240101
ALPHABET = b'"\\{}[],: \n\x00\xff0aX'


@pytest.mark.parametrize("round_", range(10))
def test_mutated_bytes_never_raise_anything_else(round_: int) -> None:
    """Random damage: an exception of ours or a trace whose counters add up to its entries."""
    chance = random.Random(SEED + round_)
    whole = trace(
        *MANY, json.dumps({"ph": "C", "name": "c", "pid": 1, "tid": 1, "ts": 110, "args": {"v": 1}})
    ).encode()
    for _ in range(25):
        text = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            offset = chance.randrange(len(text))
            kind = chance.randrange(3)
            if kind == 0:
                text[offset] = chance.choice(ALPHABET)
            elif kind == 1:
                text.insert(offset, chance.choice(ALPHABET))
            else:
                del text[offset : offset + chance.randint(1, 30)]
        try:
            imported = read(bytes(text), chance.choice([1, 50, 400, 1 << 20]))
        except (NotATrace, SourceError):
            continue
        stored = (
            imported["spans"].n
            + imported["instants"].n
            + imported["memory"].n
            + imported["flows"].n
        )
        assert stored + lost(imported) + imported.defects[d.UNKNOWN_PHASE] <= imported.entries, (
            bytes(text)
        )
        assert imported.entries <= 60
        for table in imported.tables.values():
            assert all(len(table[c]) == table.n for c in table)


def test_one_changed_byte_costs_at_most_its_own_event_and_its_neighbour() -> None:
    text = trace(*[span(i) for i in range(5)]).encode()
    begin = text.index(span(2).encode())
    end = begin + len(span(2))
    for offset in range(begin, end):
        for byte in b'"\\{},x0':
            imported = read(text[:offset] + bytes([byte]) + text[offset + 1 :])
            assert {"op0", "op4"} <= set(names(imported)), (offset, byte)
