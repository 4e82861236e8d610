"""Text streams whose first bytes are known, and what ended them."""

from __future__ import annotations

from collections.abc import Iterator

from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.importers.window import Progress, Text
from torch_tb_profiler.store.defects import TRAILING, TRUNCATED_GZIP, DefectCounts

HEAD_BYTES = 8 << 10
READ_BYTES = 4 << 20
MOST_TEXT = 256 << 20
"""Bytes of text of the largest file that is read as a whole (about 7 million memory records)."""


def pieces(stream: Text, what: str, progress: Progress | None) -> Iterator[bytes]:
    """The text of a stream, piece by piece. ``what``: what the error calls it.

    Raises:
        NotATrace: it is longer than ``MOST_TEXT``.
    """
    size = 0
    while data := stream.read(READ_BYTES):
        size += len(data)
        if size > MOST_TEXT:
            raise NotATrace(
                f"{what} of more than {MOST_TEXT >> 20} MiB of text cannot be read.",
                "Record fewer steps.",
            )
        if progress is not None:
            progress(stream.done, stream.size)
        yield data


def count_problem(stream: Text, counts: DefectCounts) -> None:
    """Count what was wrong with the compressed stream; call it once the stream has ended."""
    if stream.problem:
        counts.add(TRAILING if "follow" in stream.problem else TRUNCATED_GZIP)


class PeekedText:
    """A text stream that also holds its first ``HEAD_BYTES`` bytes in ``head``."""

    def __init__(self, stream: Text) -> None:
        self._stream = stream
        self.size = stream.size
        head = b""
        while len(head) < HEAD_BYTES and (data := stream.read(HEAD_BYTES - len(head))):
            head += data
        self.head = self._rest = head

    @property
    def done(self) -> int:
        """Raw bytes read from the source so far."""
        return self._stream.done

    @property
    def problem(self) -> str | None:
        """What was wrong with the compressed stream; known once it has ended."""
        return self._stream.problem

    def read(self, n: int) -> bytes:
        """The next ``n`` bytes at most, ``b""`` at the end."""
        if not self._rest:
            return self._stream.read(n)
        out, self._rest = self._rest[:n], self._rest[n:]
        return out
