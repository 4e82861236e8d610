"""Where a JSON value ends, from the decoder's error messages: it is fast and exact.

::

    {"a": {"b": 1}}, {"c" …      "trailing characters"   the value ends before them
    {"a": "x                     "truncated"             valid so far, more text is needed
    {"a": "x"y"                  anything else           damaged at that byte
"""

from __future__ import annotations

from typing import Any

import msgspec

from torch_tb_profiler.patterns import regex

_BYTE = regex(r"\(byte (\d+)\)")
_RAW: msgspec.json.Decoder[Any] = msgspec.json.Decoder(msgspec.Raw)


def _reported(error: Exception) -> int:
    match = _BYTE.search(str(error))
    return int(match.group(1)) if match else -1


def _shift() -> int:
    """How far past the first trailing byte the decoder points; versions may differ."""
    try:
        _RAW.decode(b"{},")
    except msgspec.DecodeError as error:
        return _reported(error) - 2
    return 0


_SHIFT = _shift()


def trailing_at(error: Exception) -> int:
    """The offset of the first byte after a complete value, from a decoder's error; −1 other error."""
    return _reported(error) - _SHIFT if "trailing characters" in str(error) else -1


def extent(text: bytes, start: int) -> tuple[int, int]:
    """(end, −1) of the value that begins at ``start``; (−1, −1) incomplete; (−1, offset) damaged.

    Raises:
        RecursionError: it nests too deeply for the decoder.
    """
    try:
        _RAW.decode(memoryview(text)[start:])
    except msgspec.DecodeError as error:
        if "truncated" in str(error):
            return -1, -1
        behind = trailing_at(error)
        if behind < 0:
            return -1, start + max(_reported(error), 1)
        end = start + behind
        while end > start + 1 and text[end - 1] in b" \t\r\n":
            end -= 1
        return end, -1
    return len(text), -1
