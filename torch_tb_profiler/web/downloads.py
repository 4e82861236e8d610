"""Route ``/trace/file``: the original file, or a small trace of a window of time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.runs.download import cut, original
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.runs.packed import packed
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.web import parameters, replies

_GZIP = "application/gzip"
_BY_FIRST_BYTES = (
    (b"\x1f\x8b", _GZIP),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
)


class Pieces:
    """An iterator whose first piece is already known; closing it closes the source, however little
    was read.
    """

    def __init__(self, source: Iterator[bytes]) -> None:
        self._source: Any = source
        self.first = next(source, b"")
        self._sent = False

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if not self._sent:
            self._sent = True
            return self.first
        piece: bytes = next(self._source)
        return piece

    def close(self) -> None:
        """Let go of the file; called by the server at the end of the response."""
        self._source.close()


def trace_file(request: Request, opened: Opened, settings: Settings) -> Response:
    """The bytes as they lie in the file; with ``t0`` and ``t1`` a gzip of the events of that
    window.

    Raises:
        BadRequest: a wrong time window.
        SourceError: the file cannot be read any more.
    """
    window = parameters.time_window(request.args)
    name = opened.span.path.replace("\\", "/").rpartition("/")[2]
    if window is None:
        source, size = original(opened)
        pieces = Pieces(source)
        kind = next(
            (t for magic, t in _BY_FIRST_BYTES if pieces.first.startswith(magic)),
            "application/json",
        )
        return replies.stream(pieces, kind, parameters.headers_of(name), size)
    start, end = window
    stem = name.partition(".json")[0].removesuffix(".pt.trace")
    pieces = Pieces(packed(cut(opened, start, end, settings)))
    return replies.stream(
        pieces, _GZIP, parameters.headers_of(f"{stem}.{start}-{end}.pt.trace.json.gz")
    )
