"""Brackets outside strings, a vector at a time, as a scan byte by byte finds them."""

from __future__ import annotations

import random
import time

import pytest

from torch_tb_profiler.importers import brackets as scan
from torch_tb_profiler.importers.brackets import inside_array, too_deep, value_end


def plain_end(text: bytes) -> int:
    """Where the value at the start ends, byte by byte."""
    depth, at = 0, 0
    while at < len(text):
        byte = text[at : at + 1]
        if byte == b'"':
            at += 1
            while at < len(text) and text[at : at + 1] != b'"':
                at += 2 if text[at : at + 1] == b"\\" else 1
        depth += (byte in b"{[") - (byte in b"}]")
        at += 1
        if not depth:
            return at if text[0] + 2 == text[at - 1] else -1
    return -1


@pytest.mark.parametrize("first", [1, 7, 2048])
def test_ends_are_those_of_a_scan_byte_by_byte(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "FIRST_BYTES", first)
    monkeypatch.setattr(scan, "PIECE_BYTES", 4 * first)
    chance = random.Random(8)
    pieces = (b"{", b"[", b"}", b"]", b'"x"', b'"]\\"\\\\"', b'"' + b"y" * 20 + b'"', b", ", b"1")
    for _ in range(400):
        text = chance.choice((b"{", b"[")) + b"".join(chance.choices(pieces, k=30))
        assert value_end(text, 0, len(text)) == plain_end(text), text


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        (b'{"l": [{"x": 1}', True),
        (b'{"l": [[1], {"x": 1}', True),
        (b'{"args": {"a": 1}', False),
        (b'{"l": [1], "args": {"a": 1}', False),
        (b'{"a": "b', False),
        (b"{}", False),
        (b"", False),
    ],
)
def test_inside_an_array(text: bytes, inside: bool) -> None:
    assert inside_array(text, 0, len(text)) == inside


def test_what_is_too_deep() -> None:
    text = b'[[1, [2], [3, "]"]], [[4]]]'
    assert [text[a:b] for a, b in too_deep(text, 2)] == [b"[2]", b'[3, "]"]', b"[4]"]


def test_a_long_run_of_brackets_takes_no_time() -> None:
    text = b"[" * (4 << 20)
    begin = time.process_time()
    assert value_end(text, 0, len(text)) == -1
    assert time.process_time() - begin < 1
