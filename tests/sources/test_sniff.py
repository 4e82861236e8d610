"""Which files are accepted as traces by their first bytes, and why others are not."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import zstandard

from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.sources import sniff
from torch_tb_profiler.sources.places import Place

EVENT = b'{"ph":"X","name":"a","ts":1,"dur":2}'
TRACE = b'{"traceEvents":[' + EVENT + b"]}"


def rejected(tmp_path: Path, content: bytes, name: str = "a.json") -> str | None:
    path = tmp_path / name
    path.write_bytes(content)
    return sniff.rejection(Place(str(path)))


@pytest.mark.parametrize(
    "content",
    [
        TRACE,
        b"\xef\xbb\xbf" + TRACE,
        b"\n\t  " + TRACE,
        b'{"schemaVersion":1, "deviceProperties":[',
        b'{"cupti_version": 18, "x": 1}',
        b"[" + EVENT + b"]",
        b"[\n  " + EVENT,
        b'{"junk":"' + b"x" * 100_000 + b'","traceEvents":[]}',
        b'{"traceEvents" : [',
    ],
)
@pytest.mark.parametrize("packed", ["plain", "gzip", "zstd"])
def test_traces_are_taken_whatever_the_packing_and_the_name(
    tmp_path: Path, content: bytes, packed: str
) -> None:
    data = {"plain": content, "gzip": gzip.compress(content), "zstd": zstandard.compress(content)}[
        packed
    ]
    assert rejected(tmp_path, data) is None


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "The file is empty."),
        (b" \n", "only whitespace"),
        (b'{"name":"page","version":"1.0","scripts":{}}', "without traceEvents."),
        (b"{}", "an empty JSON object"),
        (b"[]", "an empty JSON array"),
        (b"[", "ends after its first bracket"),
        (b"[1,2,3]", "does not begin with an object"),
        (b'[{"id":1}]', 'objects without "ph"'),
        (b"<!doctype html><title>Sign in</title>", "an HTML page, perhaps of a login or an error"),
        (b"<!-- a --><html><title>VizTracer</title>", "a page that shows a trace or memory"),
        (b'<?xml version="1.0"?><root/>', "an XML text"),
        (b"\xff\xfe{\x00", "UTF-16"),
        (b"\x89PNG\r\n", "it is a PNG image"),
        (b"key: value", "it is another kind of text and does not begin with { or ["),
        (b"\x01\x02", "it is binary data"),
        (b"a\xc3", "another kind of text"),
        (b"name".ljust(257, b"\0") + b"ustar", "a tar archive"),
        (b"PK\x03\x04", "a ZIP archive"),
        (gzip.compress(b"", mtime=0), "The file is empty."),
        (gzip.compress(b'{"name":1}', mtime=0), "without traceEvents"),
        (gzip.compress(TRACE, mtime=0)[:8], "Nothing could be inflated"),
    ],
)
def test_other_files_are_rejected_with_the_reason(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    assert reason in (rejected(tmp_path, content) or "taken")


@pytest.mark.slow
def test_a_bomb_is_not_inflated(tmp_path: Path) -> None:
    bomb = gzip.compress(b'{"name":"' + b"0" * (200 << 20), 9)
    path = tmp_path / "a.json.gz"
    path.write_bytes(bomb)
    assert len(sniff.read_head(Place(str(path))).text) == sniff.HEAD_BYTES


def test_a_missing_file_raises(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        sniff.rejection(Place(str(tmp_path / "gone.json")))
