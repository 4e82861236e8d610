"""The trace file as it is, and cut to a window of time."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace
from werkzeug.test import TestResponse

from tests.builders.loop import span
from tests.views import hand_made
from tests.web.served import WHERE, WrittenCatalogue, client, error_of
from torch_tb_profiler.errors import Outdated
from torch_tb_profiler.importers.events import Event
from torch_tb_profiler.runs import download
from torch_tb_profiler.runs.download import _damaged, touching

ORIGIN_NS = 1_700_000_000_123_456_000
EVENTS: list[dict[str, Any]] = [
    {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}},
    span("cpu_op", "before", 1, 1, 1_700_000_000_123_456.0, 5),
    span("cpu_op", "reaches in", 1, 1, "1700000000123461.000", "15.5"),
    span("cpu_op", "inside µ", 1, 1, 1700000000123471, 1),
    {"ph": "i", "name": "instant", "pid": 1, "tid": 1, "ts": 1700000000123472},
    span("cpu_op", "after", 1, 1, 1700000000123500, 1),
]
HEADER = {
    "schemaVersion": 1,
    "metadata": {"AWS_SECRET": "hush"},
    "deviceProperties": [{"id": 0}],
    "traceEvents": EVENTS,
}


def catalogue(location: str, path: str = "run/w0.1.pt.trace.json") -> WrittenCatalogue:
    opened = hand_made.opened(location=location, path=path)
    header = {k: v for k, v in HEADER.items() if k != "traceEvents"}
    return WrittenCatalogue(
        replace(opened, trace=replace(opened.trace, origin_ns=ORIGIN_NS, header=header))
    )


def window(location: str, start: int, end: int) -> TestResponse:
    return client(catalogue(location), chunk_bytes=200).get(
        f"/trace/file?{WHERE}&t0={start}&t1={end}"
    )


def names(response: TestResponse) -> list[str]:
    return [e["name"] for e in json.loads(gzip.decompress(response.data))["traceEvents"]]


@pytest.mark.parametrize("layout", ["pretty", "line", "array", "gzip"])
def test_a_window_holds_what_touches_it_and_all_metadata(tmp_path: Path, layout: str) -> None:
    text = json.dumps(
        EVENTS if layout == "array" else HEADER, indent=2 if layout == "pretty" else None
    ).encode()
    path = tmp_path / "w0.json"
    path.write_bytes(gzip.compress(text) if layout == "gzip" else text)
    response = window(str(path), 10_000, 20_000)
    assert (response.status_code, response.content_type) == (200, "application/gzip")
    assert 'filename="w0.1.10000-20000.pt.trace.json.gz"' in response.headers["Content-Disposition"]
    assert names(response) == ["process_name", "reaches in", "inside µ", "instant"]


def test_a_window_shows_nothing_of_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "w0.json"
    path.write_text(json.dumps(HEADER))
    document = json.loads(gzip.decompress(window(str(path), 0, 1 << 40).data))
    assert set(document) == {"schemaVersion", "deviceProperties", "traceEvents"}
    assert document["traceEvents"] == EVENTS


def test_an_empty_window_is_a_valid_trace(tmp_path: Path) -> None:
    path = tmp_path / "w0.json"
    path.write_text(json.dumps(HEADER))
    assert names(window(str(path), 1 << 50, 1 << 51)) == ["process_name"]


def test_a_window_of_a_damaged_file_is_valid(tmp_path: Path) -> None:
    good = json.dumps(HEADER)
    bad = good.replace('"inside \\u00b5"', '"C:\\new\\q"').replace(
        '"before"', '"tab\there", "args": {"v": NaN}'
    )
    path = tmp_path / "w0.json"
    path.write_bytes(bad.encode()[:-40] + b"\xff\xfe")
    listed = names(window(str(path), 0, 1 << 40))
    assert listed[0] == "process_name"
    assert {"reaches in", "instant"} <= set(listed)
    assert len(listed) >= 5


def test_what_can_be_read_of_a_damaged_text() -> None:
    text = (
        b'{"ph":"X","name":"a","ts":1,"dur":1},'
        b' {"ph":"X","name":"b","args":{"l":[{"k":1},{"k":2},{"k":"},{"}]}},\n{"ph":"X","name":"broken","ts":},'
        b' {"ph":"X","name":"c\ttab"}, {"ph":"X","name":"unfini'
    )
    assert [event.name for _, event in _damaged(text)] == ["a", "b", "c\ttab"]
    assert all(json.loads(piece)["ph"] == "X" for piece, _ in _damaged(text))
    for cut_at in range(len(text)):
        assert [event.name for _, event in _damaged(text[:cut_at])] == ["a", "b", "c\ttab"][
            : len(list(_damaged(text[:cut_at])))
        ]
    assert list(_damaged(b"{" * 100_000)) == []


def test_a_window_of_a_remote_file() -> None:
    import fsspec

    fs = fsspec.filesystem("memory")
    fs.pipe("/bucket/w0.json.gz", gzip.compress(json.dumps(HEADER).encode()))
    try:
        assert "inside µ" in names(window("memory://bucket/w0.json.gz", 10_000, 20_000))
        whole = client(catalogue("memory://bucket/w0.json.gz", "w0.json.gz")).get(
            f"/trace/file?{WHERE}"
        )
        assert json.loads(gzip.decompress(whole.data)) == HEADER
    finally:
        fs.rm("/bucket", recursive=True)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (gzip.compress(b"{}", mtime=0), "application/gzip"),
        (b"\x28\xb5\x2f\xfdrest", "application/zstd"),
        (b'{"traceEvents":[]}', "application/json"),
        (b"", "application/json"),
    ],
)
def test_the_whole_file_byte_for_byte(tmp_path: Path, data: bytes, kind: str) -> None:
    path = tmp_path / "w0.json"
    path.write_bytes(data)
    response = client(catalogue(str(path))).get(
        f"/trace/file?{WHERE}", headers={"Accept-Encoding": "gzip"}
    )
    assert (response.status_code, response.data, response.content_type) == (200, data, kind)
    assert response.content_length == len(data)
    assert "Content-Encoding" not in response.headers
    assert response.headers["Content-Disposition"] == 'attachment; filename="w0.1.pt.trace.json"'


def test_a_hostile_name_cannot_leave_the_header(tmp_path: Path) -> None:
    path = tmp_path / "w0.json"
    path.write_text("{}")
    response = client(
        catalogue(str(path), 'run/..\\a"; x=\r\nSet-Cookie: b=1/../w\u202e0".json')
    ).get(f"/trace/file?{WHERE}")
    value = response.headers["Content-Disposition"]
    assert value == 'attachment; filename="w_0_.json"'
    assert "Set-Cookie" not in response.headers


def test_a_file_that_is_gone() -> None:
    for query in ("", "&t0=0&t1=5"):
        response = client(catalogue("/secret/folder/w0.json")).get(f"/trace/file?{WHERE}{query}")
        assert response.status_code == 502
        error = error_of(response).error
        assert error.code == "source_error"
        assert "/secret" not in error.message + error.hint


def test_a_file_whose_place_fails_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that cuts its reply off: its driver raises an error of its own."""

    class Cut(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise RuntimeError("Response payload is not completed")

    monkeypatch.setattr(download, "open_original", lambda opened: (Cut(), 7))
    monkeypatch.setattr(download, "version_of", lambda file: "")
    response = client(catalogue(str(tmp_path / "w0.json"))).get(f"/trace/file?{WHERE}")
    assert response.status_code == 502
    assert "payload is not completed" in error_of(response).error.message


def test_head_reads_nothing_and_closes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "w0.json"
    path.write_text(json.dumps(HEADER))
    for query in ("", "&t0=0&t1=5"):
        assert client(catalogue(str(path))).head(f"/trace/file?{WHERE}{query}").data == b""


def test_what_touches_a_window() -> None:
    def event(ph: str, ts: bytes, dur: bytes = b"") -> Event:
        return Event(ph=ph, ts=Raw(ts), dur=Raw(dur))

    expected = {
        "ends at its begin": (event("X", b"1", b"2"), True),
        "ends before it": (event("X", b"1", b"1.999"), False),
        "begins at its end": (event("X", b"4"), True),
        "begins after it": (event("X", b"4.001"), False),
        "instant before": (event("i", b"2.999"), False),
        "instant with a length that means nothing": (event("i", b"2", b"5"), False),
        "no time": (event("X", b"null"), False),
        "metadata": (event("M", b"null"), True),
    }
    touched = touching([e for e, _ in expected.values()], 3_000, 4_000)
    assert dict(zip(expected, touched, strict=True)) == {
        name: answer for name, (_, answer) in expected.items()
    }


def test_a_file_that_changes_under_its_download_is_not_sent_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "PIECE_BYTES", 10)
    path = tmp_path / "w0.json"
    path.write_text(json.dumps(HEADER))
    pieces, size = download.original(hand_made.opened(location=str(path)))
    assert size == path.stat().st_size
    assert next(pieces) == path.read_bytes()[:10]
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(Outdated):
        next(pieces)
