"""Where brackets open and close in text that need not be JSON, a vector at a time.

::

    text       { "a": [ 1, "}" ], "b": {} }
    at         0      7        15       23 24 26      brackets outside strings
    depth      1      2        1        2  1  0       how many are open behind each
    quotes       2 4       11 13    18 20             unescaped: one begins a string, the next ends it
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from torch_tb_profiler.store.columns import Ints

FIRST_BYTES = 1 << 11
PIECE_BYTES = 1 << 20
"""Text scanned at once, at first and at most: most values are short."""

_QUOTE, _BACKSLASH = ord('"'), ord("\\")
_ENDS = {ord("{"): ord("}"), ord("["): ord("]")}
_STEP = np.zeros(256, np.int8)
_STEP[list(_ENDS)] = 1
_STEP[list(_ENDS.values())] = -1


class Brackets(NamedTuple):
    """Those of a piece of text, see above; offsets are those of the whole text."""

    at: Ints
    depth: Ints
    quotes: Ints

    @property
    def open_string(self) -> int:
        """Offset of the string that the piece ends in; −1 none."""
        return int(self.quotes[-1]) if len(self.quotes) % 2 else -1

    def end(self) -> int:
        """Behind the first bracket that leaves none open; −1 if there is none."""
        closed = self.depth <= 0
        return int(self.at[closed.argmax()]) + 1 if closed.any() else -1


def brackets(text: bytes, start: int, end: int, depth: int = 0) -> Brackets:
    """Those of text[start:end], which begins outside strings with ``depth`` brackets open."""
    codes = np.frombuffer(text, np.uint8, end - start, start)
    quotes, steps = _quotes(codes), _STEP[codes]
    at = np.flatnonzero(steps)
    if len(quotes):
        at = at[np.searchsorted(quotes, at) % 2 == 0]
    return Brackets(at + start, depth + np.cumsum(steps[at], dtype=np.int64), quotes + start)


def _quotes(codes: NDArray[np.uint8]) -> Ints:
    """Quotes without a backslash, or with an even number of them, before them."""
    quotes = np.flatnonzero(codes == _QUOTE)
    other = codes != _BACKSLASH
    if len(quotes) and not other.all():
        others = np.concatenate(([-1], np.flatnonzero(other)))
        before = others[np.searchsorted(others, quotes) - 1]
        quotes = quotes[(quotes - before) % 2 == 1]
    return quotes


def _pieces(text: bytes, start: int, limit: int) -> Iterator[Brackets]:
    """The brackets of text[start:limit], only as far as asked for; no string is cut but by the limit."""
    size, depth = FIRST_BYTES, 0
    while start < limit:
        stop = min(start + size, limit)
        found = brackets(text, start, stop, depth)
        size = min(2 * size, PIECE_BYTES)
        if stop < limit and found.open_string >= 0:
            if found.open_string == start:  # a string of more than a piece
                size = 2 * (stop - start)
                continue
            stop = found.open_string
        yield found
        start, depth = stop, int(found.depth[-1]) if len(found.depth) else depth


def value_end(text: bytes, start: int, limit: int) -> int:
    """The end of the object or array that begins at ``start``; −1 if not before ``limit``, or if the
    bracket there is not of its kind. With broken strings the answer may be wrong.
    """
    for found in _pieces(text, start, limit):
        end = found.end()
        if end > 0:
            return end if text[end - 1] == _ENDS.get(text[start]) else -1
    return -1


def inside_array(text: bytes, start: int, end: int) -> bool:
    """Whether text[start:end], its strings being whole, ends between the values of an array."""
    if end - start > PIECE_BYTES:
        return False
    found = brackets(text, start, end)
    if found.open_string >= 0 or not len(found.at):
        return False
    around = found.at[found.depth == found.depth[-1]]
    openers = [at for at in around.tolist() if text[at] in _ENDS]
    return bool(openers) and text[openers[-1]] == ord("[")


def too_deep(text: bytes, most: int) -> list[tuple[int, int]]:
    """(start, end) of each value that is inside ``most`` others."""
    starts: list[int] = []
    ends: list[int] = []
    for found in _pieces(text, 0, len(text)):
        opens = _STEP[np.frombuffer(text, np.uint8)[found.at]] > 0
        starts += found.at[opens & (found.depth == most + 1)].tolist()
        ends += (found.at[~opens & (found.depth == most)] + 1).tolist()
    return list(zip(starts, ends, strict=False))
