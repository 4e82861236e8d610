"""A sliding window over a text stream, with what scanning the top level of JSON needs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

import numpy as np

from torch_tb_profiler.importers.brackets import brackets
from torch_tb_profiler.importers.repair import WHOLE_STRING
from torch_tb_profiler.patterns import regex

Progress = Callable[[int, "int | None"], None]
"""Called with (raw bytes read, raw size or None) about once per chunk."""
READ_BYTES = 4 << 20
KEY_BYTES = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_EVENTS_KEY = regex(rb'traceEvents(?="\s*:\s*\[)')
_SCALAR = regex(rb"[^\s,\]}\[{]+")


class Text(Protocol):
    """What the window reads from; ``sources.streams.TextStream`` is one."""

    size: int | None

    @property
    def done(self) -> int: ...

    @property
    def problem(self) -> str | None: ...

    def read(self, n: int) -> bytes: ...


class Window:
    """``buffer`` is the text from ``offset`` on; ``ended``: the stream has no more."""

    def __init__(self, stream: Text, progress: Progress | None = None) -> None:
        self.buffer = b""
        self.offset = 0
        self.ended = False
        self._stream = stream
        self._progress = progress
        self.fill(4)
        if self.buffer.startswith(_BYTE_ORDER_MARK):
            self.advance(len(_BYTE_ORDER_MARK))

    def fill(self, want: int) -> None:
        """Read until the buffer holds ``want`` bytes or the stream ends."""
        if len(self.buffer) >= want or self.ended:
            return
        parts, size = [self.buffer], len(self.buffer)
        while size < want:
            data = self._stream.read(min(READ_BYTES, want - size))
            if not data:
                self.ended = True
                break
            parts.append(data)
            size += len(data)
        self.buffer = b"".join(parts)
        if self._progress is not None:
            self._progress(self._stream.done, self._stream.size)

    def advance(self, n: int) -> None:
        """Drop the first ``n`` bytes."""
        self.buffer = self.buffer[n:]
        self.offset += n

    def skip_space(self, also: bytes = b"") -> bytes:
        """Drop whitespace (and the bytes ``also``); the byte that follows, ``b""`` at the end."""
        while True:
            rest = self.buffer.lstrip(b" \t\r\n\0" + also) if self.buffer else b""
            self.offset += len(self.buffer) - len(rest)
            self.buffer = rest
            if rest:
                return rest[:1]
            if self.ended:
                return b""
            self.fill(1 << 16)

    def string(self) -> bytes | None:
        """Take the string (with quotes) at the start; None if it does not end within ``KEY_BYTES``."""
        want = 1 << 12
        while True:
            match = WHOLE_STRING.match(self.buffer)
            if match and match.lastgroup is None:
                self.advance(match.end())
                return match.group()
            if self.ended or want > KEY_BYTES:
                return None
            want *= 4
            self.fill(want)

    def value(self, limit: int) -> tuple[bytes | None, bool]:
        """Take a JSON value: (its text, None if larger than ``limit``; whether it was complete)."""
        first = self.skip_space()
        if first == b'"':
            return self._long_string(limit)
        if first not in (b"{", b"["):
            return self._scalar(limit)
        return self._container(limit)

    def _scalar(self, limit: int) -> tuple[bytes | None, bool]:
        text, size = b"", 0
        while True:
            match = _SCALAR.match(self.buffer)
            end = match.end() if match else 0
            unfinished = end == len(self.buffer) and not self.ended
            size += end
            text = text + self.buffer[:end] if size <= limit else b""
            self.advance(end)
            if not unfinished:
                return text or None, size > 0
            self.fill(1 << 16)

    def _long_string(self, limit: int) -> tuple[bytes | None, bool]:
        while True:
            match = WHOLE_STRING.match(self.buffer)
            if match and match.lastgroup is None:
                self.advance(match.end())
                return (match.group() if match.end() <= limit else None), True
            if self.ended:
                self.drain()
                return None, False
            if len(self.buffer) > max(limit, 0):
                # Too large: drop all but the opening quote and a possible half escape.
                half = (len(self.buffer) - len(self.buffer.rstrip(b"\\"))) % 2
                self.offset += len(self.buffer) - 1 - half
                self.buffer = b'"' + b"\\" * half
                limit = -1
            self.fill(len(self.buffer) + (1 << 20))

    def _container(self, limit: int) -> tuple[bytes | None, bool]:
        depth, size = 0, 0
        kept: list[bytes] = []

        def take(piece: bytes | None, length: int) -> None:
            nonlocal size
            size = size + length if piece is not None else limit + 1
            if size <= limit and piece is not None:
                kept.append(piece)
            else:
                kept.clear()

        while True:
            found = brackets(self.buffer, 0, len(self.buffer), depth)
            depth = int(found.depth[-1]) if len(found.depth) else depth
            closed, string = found.end(), found.open_string
            end = next((e for e in (closed, string) if e >= 0), len(self.buffer))
            for match in _EVENTS_KEY.finditer(self.buffer, 0, end):
                if np.searchsorted(found.quotes, match.start()) % 2 == 0:
                    # Outside any string: a quote before it is missing or surplus; this key matters.
                    self.advance(match.start())
                    return None, True
            take(self.buffer[:end], end)
            self.advance(end)
            if closed >= 0:
                return (b"".join(kept) if size <= limit else None), True
            if string >= 0:
                text, whole = self._long_string(max(0, limit - size))
                take(text, len(text or b""))
                if not whole:
                    return None, False
            elif self.ended:
                return None, False
            self.fill(len(self.buffer) + (1 << 16))

    def seek(self, pattern: re.Pattern[bytes]) -> bool:
        """Drop everything up to the end of the first match; False (all dropped) if there is none."""
        while True:
            match = pattern.search(self.buffer)
            if match:
                self.advance(match.end())
                return True
            if self.ended:
                self.drain()
                return False
            self.advance(max(0, len(self.buffer) - 256))
            self.fill(1 << 20)

    def drain(self) -> None:
        """Drop the rest of the stream."""
        while not self.ended or self.buffer:
            self.advance(len(self.buffer))
            self.fill(1 << 20)
