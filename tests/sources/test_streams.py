"""Streams of inflated text from files and URLs, and traces read through them."""

from __future__ import annotations

import gzip
import threading
from pathlib import Path
from typing import IO, cast

import fsspec
import pytest

from tests.importers.reading import span, trace
from torch_tb_profiler.errors import MissingDriver, SourceError
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.streams import TextStream, open_text
from torch_tb_profiler.store.model import Trace

TEXT = trace(*[span(i) for i in range(5000)]).encode()


def _read(path: object) -> Trace:
    with open_text(Place(str(path))) as stream:
        return read_trace(stream, Settings())


def test_memory_file_system() -> None:
    fsspec.filesystem("memory").pipe("/streams/a.json.gz", gzip.compress(TEXT))
    assert _read("memory://streams/a.json.gz")["spans"].n == 5000


def test_progress_and_sizes(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(TEXT))
    seen: list[tuple[int, int | None]] = []
    with open_text(Place(f"file://{path}")) as stream:
        read_trace(stream, Settings(), lambda done, size: seen.append((done, size)))
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.parametrize(
    "location", ["nowhere/at/all.json", "memory://streams/none.json", "unknownscheme://a/b"]
)
def test_what_cannot_be_opened(location: str) -> None:
    with pytest.raises(SourceError) as caught:
        open_text(Place(location))
    assert caught.value.hint


def test_missing_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*_: object) -> None:
        raise ImportError("no s3fs")

    monkeypatch.setattr(fsspec.core, "url_to_fs", absent)
    with pytest.raises(MissingDriver, match="s3fs") as caught:
        open_text(Place("s3://bucket/a.json"))
    assert caught.value.hint == "pip install s3fs"


class _Broken:
    """Gives one read, then fails as a lost connection does."""

    def __init__(self) -> None:
        self.reads = 0
        self.closed = False

    def read(self, n: int) -> bytes:
        self.reads += 1
        if self.reads > 1:
            raise ConnectionResetError("lost")
        return TEXT[:1000]

    def close(self) -> None:
        self.closed = True


def test_a_source_that_breaks_off_raises() -> None:
    file = _Broken()
    with (
        TextStream(cast("IO[bytes]", file), None) as stream,
        pytest.raises(SourceError, match="lost"),
    ):
        read_trace(stream, Settings())
    assert file.closed


@pytest.mark.slow
def test_closing_early_ends_the_thread(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(bytes(200 << 20)))
    stream = open_text(Place(str(path)))
    assert stream.read(10) == bytes(10)
    stream.close()
    assert not [t for t in threading.enumerate() if t.name == "profiler-inflate"]
