"""Where a JSON value ends, told by the decoder's own error messages: it reads at the speed of C and
knows strings and nesting exactly.

::

    {"a": {"b": 1}}, {"c" …      "trailing characters"   the value ends before them
    {"a": "x                     "truncated"             good so far, more text is needed
    {"a": "x"y"                  anything else           damaged at that byte
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

_BYTE = re.compile(r"\(byte (\d+)\)")
_RAW: msgspec.json.Decoder[Any] = msgspec.json.Decoder(msgspec.Raw)


def _reported(error: Exception) -> int:
    match = _BYTE.search(str(error))
    return int(match.group(1)) if match else -1


def _shift() -> int:
    """How far behind the first trailing byte the decoder points: versions may differ."""
    try:
        _RAW.decode(b"{},")
    except msgspec.DecodeError as error:
        return _reported(error) - 2
    return 0


_SHIFT = _shift()


def trailing_at(error: Exception) -> int:
    """The position of the first byte after a complete value, from a decoder's error; −1 when that
    was not the error.
    """
    return _reported(error) - _SHIFT if "trailing characters" in str(error) else -1


def extent(text: bytes, at: int) -> tuple[int, int]:
    """(end, −1) of the value that begins at ``at``; (−1, −1) when it is good so far but not
    complete; (−1, byte) where it is damaged.

    Raises:
        RecursionError: it nests deeper than the decoder goes.
    """
    try:
        _RAW.decode(memoryview(text)[at:])
    except msgspec.DecodeError as error:
        if "truncated" in str(error):
            return -1, -1
        behind = trailing_at(error)
        if behind < 0:
            return -1, at + max(_reported(error), 1)
        end = at + behind
        while end > at + 1 and text[end - 1] in b" \t\r\n":
            end -= 1
        return end, -1
    return len(text), -1
