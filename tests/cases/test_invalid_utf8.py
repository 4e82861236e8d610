"""Bytes that are no UTF-8: what they stand in keeps its other text, wherever they are and whatever else is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.importers.reading import Stream, names
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.model import Trace

HEAD, TAIL = b'{"schemaVersion": 1, "traceEvents": [', b"]}"


def read(text: bytes, chunk: int = 2 << 20) -> Trace:
    return read_trace(Stream(text), Settings(chunk_bytes=chunk))


def event(number: int, name: bytes, **more: Any) -> bytes:
    """A complete event with a name of any bytes, JSON escapes aside."""
    fields = {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 10 * number, "dur": 5, **more}
    return json.dumps(fields)[:-1].encode() + b', "name": "' + name + b'"}'


@pytest.mark.parametrize("chunk", [1, 500, 5000, 2 << 20])
def test_in_every_name_of_a_file_with_a_stray_quote(chunk: int) -> None:
    listed = [event(k, b"my_op\xff%d" % (k % 3)) for k in range(1000)]
    listed[331] = event(331, b'my_op\xff1"x')
    trace = read(HEAD + b",\n".join(listed) + TAIL, chunk)
    assert sorted(set(names(trace))) == ["my_op\ufffd0", "my_op\ufffd1", "my_op\ufffd2"]
    assert len(names(trace)) == 999
    assert trace.defects.as_dict() == {d.BAD_UTF8: 999, d.UNPARSABLE: 1}


def test_in_the_last_event() -> None:
    trace = read(HEAD + event(1, b"aten::\xfcn") + TAIL)
    assert names(trace) == ["aten::\ufffdn"]
    assert trace.defects.as_dict() == {d.BAD_UTF8: 1}


def test_in_the_name_of_a_thread() -> None:
    named = b'{"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "main \xff"}}'
    for listed in ([named, event(1, b"a")], [event(1, b"a"), named]):
        trace = read(HEAD + b",".join(listed) + TAIL)
        assert trace.strings[int(trace["tracks"]["thread_name"][0])] == "main \ufffd"
        assert trace.defects.as_dict() == {d.BAD_UTF8: 1}


TEXT = st.binary(min_size=1, max_size=6).map(
    lambda drawn: bytes(b for b in drawn if b not in b'"\\' and b >= 0x20) or b"\xc3"
)
DAMAGE = st.sampled_from([b"", b"17", b'{"a": 01}'])


@examples(150)
@given(
    st.lists(st.tuples(TEXT, st.sampled_from(["", "dur", "pid"]), DAMAGE), min_size=1, max_size=8),
    st.sampled_from([1, 90, 2 << 20]),
)
def test_names_keep_all_that_is_text(drawn: list[tuple[bytes, str, bytes]], chunk: int) -> None:
    """Beside values of odd types and entries that are none."""
    listed, expected, replaced = [], [], 0
    for number, (text, odd, damage) in enumerate(drawn):
        listed.append(event(number, b"op" + text, **({odd: {"odd": 1}} if odd == "pid" else {})))
        expected.append("op" + text.decode("utf-8", "replace"))
        replaced += expected[-1].count("\ufffd") - text.count("\ufffd".encode())
        if damage:
            listed.append(damage)
    listed.append(event(len(drawn), b"end"))
    trace = read(HEAD + b", ".join(listed) + TAIL, chunk)
    assert names(trace) == [*expected, "end"]
    assert trace.defects[d.BAD_UTF8] == replaced
    assert trace.defects[d.NO_NAME] == 0
