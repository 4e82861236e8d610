"""A text whose first bytes say which importer it is for."""

from __future__ import annotations

from torch_tb_profiler.importers.window import Text

HEAD_BYTES = 8 << 10


class Peeked:
    """A text stream whose first bytes are known: ``head`` holds up to ``HEAD_BYTES`` of them, and
    ``read`` gives them again.
    """

    def __init__(self, stream: Text) -> None:
        self._stream = stream
        self.size = stream.size
        head = b""
        while len(head) < HEAD_BYTES and (data := stream.read(HEAD_BYTES - len(head))):
            head += data
        self.head = self._rest = head

    @property
    def done(self) -> int:
        """Raw bytes taken from the source so far."""
        return self._stream.done

    @property
    def problem(self) -> str | None:
        """What was wrong with the compressed stream, known after the end."""
        return self._stream.problem

    def read(self, n: int) -> bytes:
        """The next ``n`` bytes at most, ``b""`` at the end."""
        if not self._rest:
            return self._stream.read(n)
        out, self._rest = self._rest[:n], self._rest[n:]
        return out
