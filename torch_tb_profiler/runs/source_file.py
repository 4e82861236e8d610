"""The file behind an opened trace, read again: what is opened is what was imported, or nothing."""

from __future__ import annotations

from typing import IO

from torch_tb_profiler.errors import Outdated, SourceError
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.sources.identity import identity_of
from torch_tb_profiler.sources.places import words
from torch_tb_profiler.sources.streams import TextStream, open_bytes, text_of


def open_original(opened: Opened) -> tuple[IO[bytes], int | None]:
    """The file of a trace at its begin, and its size in bytes or None.

    Its name may lead to another file by now, such as one that only the server may read: what
    is open is compared with what was imported. Of URLs the size is compared.

    Raises:
        Outdated: it is another file, or it changed.
        SourceError: it cannot be opened or read.
    """
    file, size = open_bytes(opened.span.location)
    source = opened.trace.source
    try:
        same = (
            identity_of(file) == source.identity
            if source is not None
            else size is None or opened.span.bytes in (0, size)
        )
    except Exception as error:  # drivers raise anything
        file.close()
        raise _unreadable(opened, error) from error
    if not same:
        file.close()
        raise changed(opened)
    return file, size


def read_piece(opened: Opened, file: IO[bytes], size: int) -> bytes:
    """The next bytes of the same, at most so many.

    Raises:
        SourceError: they cannot be read.
    """
    try:
        return file.read(size)
    except Exception as error:  # drivers raise anything
        raise _unreadable(opened, error) from error


def original_text(opened: Opened) -> TextStream:
    """The text of the same.

    Raises:
        Outdated, SourceError: likewise.
    """
    return text_of(*open_original(opened), opened.span.location)


def _unreadable(opened: Opened, error: Exception) -> SourceError:
    return SourceError(
        f"{opened.span.path} could not be read: {words(error)}.", "Check that it may be read."
    )


def changed(opened: Opened) -> Outdated:
    """The file is not what was imported."""
    return Outdated(
        f"{opened.span.path} changed since it was imported.",
        "Reload the page when it is imported again.",
    )
