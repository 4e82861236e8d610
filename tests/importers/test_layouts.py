"""Layouts that writers and re-exporters of traces use: each one opens."""

from __future__ import annotations

import json

import pytest

from tests.importers.reading import defects, lines, lost, names, read, span, trace
from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.store import defects as d

THREE = [span(0), span(1), span(2)]
PARSED = [json.loads(e) for e in THREE]
BLOB = "x" * (20 << 20)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(lines(THREE), id="kineto_pretty_print"),
        pytest.param(trace(*THREE), id="one_line"),
        pytest.param(json.dumps({"traceEvents": PARSED}, indent=1), id="indented"),
        pytest.param(json.dumps({"traceEvents": PARSED}, separators=(",", ":")), id="compact"),
        pytest.param("[" + ",".join(THREE) + "]", id="bare_array"),
        pytest.param("[\n" + ",\n".join(THREE) + "\n]\n", id="bare_array_pretty"),
        pytest.param(trace(*THREE, before=""), id="events_first"),
        pytest.param(trace(*THREE, after=""), id="events_last"),
        pytest.param("\ufeff" + trace(*THREE), id="byte_order_mark"),
        pytest.param(lines(THREE).replace("\n", "\r\n"), id="crlf"),
        pytest.param(lines(THREE).replace("  ", "\t"), id="tabs"),
        pytest.param("\n \t" + trace(*THREE) + "\n\n\0\0", id="space_around"),
        pytest.param(
            trace(*THREE).replace("}, {", "},{").replace(": ", " : "), id="space_before_colons"
        ),
        pytest.param(
            json.dumps({"traceEvents": [dict(reversed(e.items())) for e in PARSED]}),
            id="keys_reversed",
        ),
        pytest.param(
            json.dumps(
                {"traceEvents": [{"args": {"a": [{"b": 1}, {"c": 2}]}, **e} for e in PARSED]}
            ),
            id="arguments_first",
        ),
        pytest.param(
            trace(*THREE[:2], after="")[:-1] + ', "traceEvents": [' + THREE[2] + "]}",
            id="two_keys_of_events",
        ),
        pytest.param(trace(*THREE).replace("}, {", "},, {"), id="doubled_comma"),
        pytest.param(
            trace(*THREE).replace('}], "traceName"', '},], "traceName"'), id="trailing_comma"
        ),
        pytest.param(
            trace(*THREE).replace('"traceEvents"', ',"traceEvents"'),
            id="doubled_comma_between_keys",
        ),
        pytest.param(
            trace(*THREE, after=', "deviceProperties": [{"id": 0}, {"id": 1}], "n": 1'),
            id="list_of_objects_after",
        ),
        pytest.param(
            trace(*THREE, before='"deviceProperties": [{"id": 0}, {"id": 1}], '),
            id="list_of_objects_before",
        ),
        pytest.param(
            trace(*THREE, before='"x": NaN, "y": -Infinity, "z": N/A, '),
            id="bare_words_in_the_header",
        ),
    ],
)
@pytest.mark.parametrize("chunk", [1, 64, 2 << 20])
def test_layout(text: str, chunk: int) -> None:
    imported = read(text, chunk)
    assert names(imported) == ["op0", "op1", "op2"]
    assert imported["spans"]["start"].tolist() == [0, 10_000, 20_000]
    assert imported["spans"]["dur"].tolist() == [5_000] * 3
    assert (imported.entries, lost(imported)) == (3, 0)
    assert not any(
        kind.severity in (d.Severity.DATA_LOSS, d.Severity.ERROR) for kind, _ in imported.defects
    )


@pytest.mark.parametrize(
    "blob",
    [
        pytest.param('{"a": ["' + BLOB + '", {"b": "}]"}]}', id="object"),
        pytest.param('"' + BLOB + '\\"\\\\"', id="string"),
        pytest.param('"' + '\\"},{\\n' * (3 << 20) + '"', id="string_of_escapes"),
        pytest.param("[" + "1, " * (7 << 20) + "2]", id="array"),
        pytest.param("1" * (20 << 20), id="number"),
    ],
)
@pytest.mark.slow
def test_unknown_keys_of_any_size(blob: str) -> None:
    imported = read(
        trace(
            *THREE,
            before=f'"blob": {blob}, "schemaVersion": 1, ',
            after=f', "late": {blob}, "traceName": "t"',
        )
    )
    assert names(imported) == ["op0", "op1", "op2"]
    assert imported.header == {"schemaVersion": 1, "traceName": "t"}
    assert defects(imported) == {d.HEADER_LOST: 2}


def test_small_header_keys_are_kept() -> None:
    imported = read(
        trace(
            span(0),
            before='"deviceProperties": [{"name": "H100"}], "baseTimeNanoseconds": 17, ',
            after=', "with_stack": 1',
        )
    )
    assert imported.header == {
        "deviceProperties": [{"name": "H100"}],
        "baseTimeNanoseconds": 17,
        "with_stack": 1,
    }
    assert imported.base_ns == 17


@pytest.mark.parametrize(
    "header",
    [
        '"dir": "C:\\temp\\", ',
        '"dirs": {"a": ["C:\\temp\\", {"b": 1}]}, ',
        '"odd": "a"b", ',
        '"odd": {"c": "a"b"}, ',
    ],
)
def test_a_damaged_header_does_not_hide_the_events(header: str) -> None:
    assert names(read(trace(*THREE, before=header, after=""))) == ["op0", "op1", "op2"]


def test_one_entry_and_none() -> None:
    assert names(read(trace(span(0)))) == ["op0"]
    empty = read(trace())
    assert (empty.entries, empty["spans"].n, defects(empty)) == (0, 0, {d.NO_EVENTS: 1})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty_file"),
        pytest.param(" \n\t ", id="only_white_space"),
        pytest.param('{"name": "page", "version": "1.0.0"}', id="package_json"),
        pytest.param("[1, 2, 3.5]", id="list_of_numbers"),
        pytest.param('["a", "b"]', id="list_of_texts"),
        pytest.param("[]", id="empty_array"),
        pytest.param(
            '{"cells": [{"cell_type": "code", "source": ["a"]}], "nbformat": 4}', id="notebook"
        ),
        pytest.param("{}", id="empty_object"),
        pytest.param('[{"id": 1}, {"id": 2}]', id="list_of_objects"),
        pytest.param('{"traceEvents": null}', id="null_events"),
        pytest.param("<html></html>", id="html"),
        pytest.param("17", id="number"),
        pytest.param('{"traceEv', id="cut_in_the_first_key"),
        pytest.param("[" + "1," * 300_000 + "1]", id="long_list_of_numbers"),
    ],
)
def test_not_a_trace(text: str) -> None:
    with pytest.raises(NotATrace) as caught:
        read(text)
    assert caught.value.message.startswith("The file ")
    assert caught.value.hint


def test_trailing_garbage_is_counted() -> None:
    for rest in ("garbage", trace(span(9)), "\x01\x02"):
        imported = read(trace(*THREE) + rest)
        assert names(imported) == ["op0", "op1", "op2"]
        assert defects(imported) == {d.TRAILING: 1}
