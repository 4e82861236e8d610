"""Replies that are files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec
from werkzeug.wrappers import Request, Response

from torch_tb_profiler.web import replies
from torch_tb_profiler.web.deadline import timely
from torch_tb_profiler.web.replies import Body

GZIP = "application/gzip"
_BY_FIRST_BYTES = (
    (b"\x1f\x8b", GZIP),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
)


class Pieces:
    """An iterator whose first piece is read; closing it closes the source."""

    def __init__(self, source: Iterator[bytes]) -> None:
        self._source: Any = source
        self.first = next(source, b"")

    def __iter__(self) -> Iterator[bytes]:
        yield self.first
        yield from timely(self._source)

    def close(self) -> None:
        """Close the file; the server calls it at the end of the response."""
        # One that does not come is still being read by another thread.
        with suppress(ValueError):
            self._source.close()

    @property
    def content_type(self) -> str:
        """By the first bytes."""
        if self.first[:1] == b"\n" and self.first.lstrip()[:1] not in (b"{", b"["):
            return "application/octet-stream"  # Perfetto's own format
        types = (kind for magic, kind in _BY_FIRST_BYTES if self.first.startswith(magic))
        return next(types, "application/json")


class Download(msgspec.Struct, frozen=True):
    """A file to save: from memory, or streamed."""

    name: str
    content_type: str
    content: Body | Pieces
    size: int | None = None

    def response(self, request: Request) -> Response:
        """The reply, under a sanitised name."""
        headers = {"Content-Disposition": f'attachment; filename="{file_name(self.name)}"'}
        if isinstance(self.content, Body):
            return replies.send(request, self.content, self.content_type, headers=headers)
        return replies.stream(self.content, self.content_type, headers, self.size)


def base_name(path: str) -> str:
    """The last part of a path, of any system."""
    return path.replace("\\", "/").rpartition("/")[2]


def stem(path: str) -> str:
    """``base_name`` without the endings of traces."""
    return base_name(path).partition(".json")[0].removesuffix(".pt.trace")


def file_name(name: str) -> str:
    """A name that is safe in headers and on every file system."""
    harmless = re.sub(r"[^A-Za-z0-9._=+-]+", "_", name, flags=re.ASCII).lstrip(".")[-150:]
    return harmless or "trace.json"
