"""PyProf's dictionaries of kernels: what is read of a line, and what no line can do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.importers.kernel_lines import read_kernel_lines, read_line
from torch_tb_profiler.sources.sniff import Head, is_kernel_lines, judge
from torch_tb_profiler.sources.streams import TextInMemory

LINE: dict[str, Any] = {
    "kShortName": "volta_sgemm_32x32_sliced1x4_tn",
    "kDuration": 9000,
    "layer": ["encoder", "fc1"],
    "trace": ["train.py:31", "net.py:12"],
    "reprMarkers": [],
    "marker": [
        "{'mod': 'torch', 'op': 'mm', 'args': [{'name': '', 'type': 'tensor', 'shape': (8, 16),"
        " 'dtype': 'float16'}, {'name': '', 'type': 'tensor', 'shape': (16, 4), 'dtype': 'float16'}]}"
    ],
    "seqMarker": ["mm, seq = 7"],
    "seqId": [7],
    "subSeqId": 0,
    "altSeqId": [3, 5],
    "dir": "fprop",
    "mod": ["torch"],
    "op": ["mm"],
    "tid": 4045620583,
    "device": 0,
    "stream": 7,
    "grid": (8, 1, 1),
    "block": (256, 1, 1),
    "kLongName": "volta_sgemm_32x32_sliced1x4_tn",
}


@pytest.mark.parametrize("write", [repr, json.dumps])
def test_a_line_as_python_or_as_json(write: Any) -> None:
    line = read_line(write(LINE).encode())
    assert line is not None
    assert (line.name, line.dur, line.thread) == (LINE["kLongName"], 9000, "4045620583")
    assert (line.layer, line.trace) == ("encoder:fc1", ("train.py:31", "net.py:12"))
    assert (line.sequence, line.others, line.sub, line.direction) == ((7,), (3, 5), 0, "fprop")
    assert (line.grid, line.block, line.device, line.stream) == ("8,1,1", "256,1,1", 0, 7)
    assert line.signature == (
        "torch.mm",
        "[[8,16],[16,4]]",
        '["c10::Half","c10::Half"]',
        '["",""]',
    )
    assert not line.listed


def test_what_is_unknown_stays_so() -> None:
    line = read_line(b"{'kShortName': 'k', 'kDuration': 3}")
    assert line is not None
    assert (line.name, line.device, line.sub, line.grid, line.direction) == ("k", -1, -1, "", "")
    assert line.signature == ("", "", "", "")


@pytest.mark.parametrize(
    "text",
    [
        "{'kShortName': __import__('os').system('true'), 'kDuration': 1}",
        "{'kShortName': 'k', 'kDuration': 10 ** 10 ** 10}",
        "{'kShortName': 'k', 'kDuration': True}",
        "{'kShortName': 'k', 'kDuration': -1}",
        "{'kShortName': 5, 'kDuration': 1, 'x': " + "(" * 100_000,
        "{'kShortName': 'k', 'kDuration': 1, 'x': '" + "x" * (1 << 18) + "'}",
        "['kShortName']",
        "{'kDuration': 1}",
        "{" * 5000,
        "kShortName",
    ],
)
def test_what_is_no_kernel(text: str) -> None:
    assert read_line(text.encode()) is None


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 80), 1 << 80)
    | st.floats()
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(list(LINE)), JUNK, max_size=6), st.integers(0, 1 << 40))
def test_values_of_any_kind_end_no_reading(values: dict[str, Any], dur: int) -> None:
    line = read_line(repr({**LINE, **values, "kDuration": dur, "kLongName": "k"}).encode())
    if line is not None:
        assert (line.name, line.dur) == ("k", dur)
        assert all(0 <= number < 1 << 62 for number in (*line.sequence, *line.others))
        assert min(line.device, line.stream, line.sub) >= -1


@given(st.binary(max_size=200))
def test_bytes_of_any_kind_end_no_reading(text: bytes) -> None:
    read_line(text)
    read_line(b"{'kShortName': 'k', 'kDuration': 1, " + text)


def test_lines_that_are_none_are_counted() -> None:
    text = f"{LINE!r}\n\nhello\n{json.dumps(LINE)}".encode()
    lines, counts = read_kernel_lines(TextInMemory(text))
    assert (len(lines), counts.as_dict()) == (2, {"not_an_event": 1})
    with pytest.raises(NotATrace, match="No line of the text is a dictionary of a kernel"):
        read_kernel_lines(TextInMemory(b"hello\n"))


def test_a_list_of_kernels_is_no_trace_and_says_what_prints_it() -> None:
    for text in (repr(LINE), json.dumps(LINE), f"\n {LINE!r}\n"):
        assert is_kernel_lines(text.encode())
        assert "torch-tb-profiler pyprof FILE" in str(judge(Head(text.encode(), True, None)))
    events = {"traceEvents": [{"args": {"kShortName": "k"}}]}
    assert not is_kernel_lines(json.dumps(events).encode())
    assert not is_kernel_lines(b"{\n" + json.dumps(events).encode())
