"""Files of protobuf messages, told apart by their first bytes: Perfetto's packets and XLA's planes.

::

    0a 2e │ 08 02 │ 12 0d "/device:TPU:0" │ 1a …        a plane: an id as a number, a name as text, lines as messages
    0a 1c │ 0a 05 … │ 40 … │ 50 01 │ 5a …               a packet: messages where planes have these
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from torch_tb_profiler.patterns import regex

_JSON = regex(rb"\s*[\[{]\s*[\"\[\]{}]")
"""Such text could be a packet of 91 or 123 bytes."""
_PACKET, _PACKETS = b"\n", 4
"""The tag of a packet of a Perfetto trace, and how many are looked at."""
_LARGEST_PACKET = 128 << 20
_NUMBER, _BYTES = 0, 2
_FIXED = {1: 8, 5: 4}
"""Protobuf's kind of a field → its bytes."""
_NUMBERS_OF_PACKETS = frozenset((3, 8, 10, 13, 41, 42, 58, 79, 87))
_MESSAGES_OF_PACKETS = frozenset(
    (1, 2, 4, 5, 6, 7, 9, 11, 12, 33, 35, 36, 43, 44, 45, 50, 52, 53, 59, 60, 69, 89)
)
"""Fields of Perfetto's ``TracePacket`` that are numbers, and those that are messages or bytes."""
_PLANE_ID, _PLANE_NAME, _PLANE_LINES, _LAST_OF_PLANES = 1, 2, 3, 6


class _Field(NamedTuple):
    """A field of a message. ``data``: the bytes of a text or message, as far as they are there."""

    number: int
    kind: int
    data: bytes


class _Invalid(Exception):
    """The bytes are no fields, or do not fill their message."""


def is_perfetto(head: bytes) -> bool:
    """Whether bytes begin like a Perfetto trace: packets, each with its length and known kinds of
    fields that fill it.
    """
    if _JSON.match(head):
        return False
    at = 0
    for _ in range(_PACKETS):
        if at == len(head) > 0:
            return True
        begin, length = _message(head, at)
        if begin < 0:
            return False
        try:
            if not all(map(_fits_packet, _fields(head, begin, length))):
                return False
        except _Invalid:
            return False
        at = begin + length
        if at > len(head):
            return True
    return True


def _fits_packet(field: _Field) -> bool:
    if field.number in _NUMBERS_OF_PACKETS:
        return field.kind == _NUMBER
    return field.number not in _MESSAGES_OF_PACKETS or field.kind == _BYTES


def is_xplane(head: bytes) -> bool:
    """Whether bytes begin like a profile of XLA: its first plane has an id, a name or lines, none of
    which a packet of Perfetto could have in their place.
    """
    begin, length = _message(head, 0)
    if begin < 0 or _JSON.match(head):
        return False
    sure = False
    try:
        for field in _fields(head, begin, length):
            number_expected = field.number == _PLANE_ID
            if field.number > _LAST_OF_PLANES or (field.kind == _NUMBER) != number_expected:
                return False
            if field.number == _PLANE_NAME and not _is_name(field.data):
                return False
            sure = sure or field.number <= _PLANE_LINES
    except _Invalid:
        return False
    return sure


def _is_name(data: bytes) -> bool:
    text = data.decode("utf-8", "replace")
    return bool(text) and text.isprintable() and "\ufffd" not in text[:-1]


def _message(head: bytes, at: int) -> tuple[int, int]:
    """Where a message of field 1 begins, and its bytes; −1 if there is none."""
    if head[at : at + 1] != _PACKET:
        return -1, 0
    begin, length = _varint(head, at + 1)
    return (begin, length) if begin >= 0 and 0 < length < _LARGEST_PACKET else (-1, 0)


def _varint(text: bytes, at: int) -> tuple[int, int]:
    """Where a number ends, and the number; −1 if it is none, or cut off."""
    value = 0
    for place in range(at, min(at + 10, len(text))):
        value |= (text[place] & 0x7F) << 7 * (place - at)
        if text[place] < 0x80:
            return place + 1, value
    return -1, 0


def _fields(text: bytes, at: int, length: int) -> Iterator[_Field]:
    """The fields that fill a message exactly, as far as it is in the text.

    Raises:
        _Invalid: they do not.
    """
    end = at + length
    while at < min(end, len(text)):
        after, tag = _varint(text, at)
        if after < 0 and end > len(text):
            return
        kind = tag & 7
        size = _FIXED.get(kind)
        if after < 0 or tag < 8 or (size is None and kind not in (_NUMBER, _BYTES)):
            raise _Invalid
        if size is None:
            after, value = _varint(text, after)
            if after < 0 and end > len(text):
                return
            if after < 0:
                raise _Invalid
            size = value if kind == _BYTES else 0
        at = after + size
        if at > end:
            raise _Invalid
        yield _Field(tag >> 3, kind, text[after:at] if kind == _BYTES else b"")
    if at < end <= len(text):
        raise _Invalid
