"""A stream of bytes → the packets of a Perfetto trace, some hundred of them at a time.

::

    0a 05 ▒▒▒▒▒  0a 81 01 ▒▒▒▒…  0a …     0a: a packet follows; its length; the packet
    └─ packet ─┘ └─ packet ────┘

A damaged packet is dropped and counted. Where the next one begins is sought behind it: a place from
which several packets follow each other.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import zstandard

from torch_tb_profiler.importers.perfetto.schema import DECODE_ERRORS, Trace, TracePacket
from torch_tb_profiler.importers.window import Window
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.defects import DefectCounts

PIECE_BYTES = 1 << 21
"""Packets are decoded together up to so many bytes."""
LARGEST_PACKET = 128 << 20
"""A length beyond is damage. PyTorch writes all names of a trace into one packet."""
_TAG = 0x0A
_LONGEST_VARINT = 10
_IN_A_ROW = 3
"""Packets that must follow each other behind damage."""
_TRIED_BYTES = 64 << 20
"""What may be decoded in vain, per trace, to find the end of damage."""


class Piece(NamedTuple):
    """Packets, and the bytes of the stream that they were decoded from."""

    packets: list[Any]
    offset: int
    size: int
    text: bytes = b""
    """These bytes; empty if not all of them are packets."""


def frame(text: bytes, at: int) -> tuple[int, int]:
    """``(begin, end)`` of the packet whose tag is at a place, as its length says.

    ``(-1, 0)``: there is none. ``(0, n)``: at least ``n`` bytes from ``at`` on are needed to tell.
    """
    if at >= len(text):
        return 0, 2
    if text[at] != _TAG:
        return -1, 0
    length, shift = 0, 0
    for place in range(at + 1, at + 1 + _LONGEST_VARINT):
        if place >= len(text):
            return 0, place + 1 - at
        byte = text[place]
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (-1, 0) if length > LARGEST_PACKET else (place + 1, place + 1 + length)
    return -1, 0


def frames(text: bytes, limit: int) -> tuple[list[int], list[int]]:
    """Where whole packets that follow each other from the begin on begin and end; the last one that
    begins before ``limit`` may end behind it.
    """
    begins, ends = [], []
    at, n = 0, len(text)
    while at < limit:
        begin = end = -1
        # As ``frame``, for lengths of one and two bytes.
        if at + 3 < n and text[at] == _TAG:
            first, second = text[at + 1], text[at + 2]
            if first < 0x80:
                begin = at + 2
                end = begin + first
            elif second < 0x80:
                begin = at + 3
                end = begin + (first & 0x7F | second << 7)
        if begin < 0:
            begin, end = frame(text, at)
        if begin <= 0 or end > n:
            break
        begins.append(begin)
        ends.append(end)
        at = end
    return begins, ends


class PacketReader:
    """Packets of a stream. ``lost``: damaged ones."""

    def __init__(self, window: Window, counts: DefectCounts) -> None:
        self.lost = 0
        self._window, self._counts = window, counts
        self._tried = 0

    def pieces(self) -> Iterator[Piece]:
        """All packets, in the order of the file."""
        window = self._window
        while True:
            window.fill(PIECE_BYTES)
            if not window.buffer:
                return
            end, wanted = self._whole()
            if end:
                yield from self._decoded(end)
            elif wanted and not window.ended:
                window.fill(wanted)
            elif wanted and self._ends_here():
                self._counts.add(d.TRUNCATED)
                window.advance(len(window.buffer))
            elif not wanted:
                self._skip_damage()

    def _ends_here(self) -> bool:
        """Whether nothing follows that is a packet, so that the last one was cut off."""
        self._lose()
        found = self._next_packet()
        if found < 0:
            return True
        self._window.advance(found)
        return False

    def _whole(self) -> tuple[int, int]:
        """Where the whole packets at the begin of the buffer end; how much the next one needs, 0 if
        damage follows.
        """
        text = self._window.buffer
        _, ends = frames(text, min(len(text), PIECE_BYTES))
        at = ends[-1] if ends else 0
        if at >= min(len(text), PIECE_BYTES):
            return at, 0
        begin, end = frame(text, at)
        if begin < 0:
            return at, 0
        return at, end if begin == 0 else end - at

    def _decoded(self, end: int) -> Iterator[Piece]:
        """The packets of the first ``end`` bytes, which are dropped."""
        window = self._window
        text = window.buffer[:end]
        try:
            yield Piece(Trace.FromString(text).packet, window.offset, end, text)
            window.advance(end)
            return
        except DECODE_ERRORS:
            pass
        packets, at = [], 0
        while at < end:
            begin, behind = frame(text, at)
            try:
                packets.append(TracePacket.FromString(text[begin:behind]))
            except DECODE_ERRORS:
                break
            at = behind
        if packets:
            yield Piece(packets, window.offset, at)
        window.advance(at)
        if at < end:
            self._skip_damage()

    def _lose(self) -> None:
        self.lost += 1
        self._counts.add(d.DAMAGED_PACKET)

    def _skip_damage(self) -> None:
        """Drop a damaged packet at the begin of the buffer, up to the next one."""
        window = self._window
        self._lose()
        window.fill(PIECE_BYTES)
        while True:
            found = self._next_packet()
            if found > 0:
                window.advance(found)
                return
            # What may be the begin of a packet stays.
            kept = 0 if window.ended else min(len(window.buffer) - 1, PIECE_BYTES // 2)
            window.advance(len(window.buffer) - kept)
            if window.ended:
                return
            window.fill(kept + PIECE_BYTES)

    def _next_packet(self) -> int:
        """The first place behind the begin from which several packets follow each other; −1 there is none."""
        text, ended = self._window.buffer, self._window.ended
        at = text.find(b"\n", 1)
        while at >= 0 and self._tried < _TRIED_BYTES:
            if self._row(text, at, ended):
                return at
            at = text.find(b"\n", at + 1)
        return -1

    def _row(self, text: bytes, at: int, ended: bool) -> bool:
        for number in range(_IN_A_ROW):
            if number and at == len(text) and ended:
                return True
            begin, end = frame(text, at)
            if begin <= 0 or end > len(text) or end - begin < 2 or text[begin] < 8:
                return False
            self._tried += end - begin
            try:
                TracePacket.FromString(text[begin:end])
            except DECODE_ERRORS:
                return False
            at = end
        return True


def inflated(packet: Any, kind: str, most: int) -> bytes | None:
    """The packets within a packet, as a ``Trace``; None if they are damaged or longer than ``most``
    bytes.
    """
    data = getattr(packet, kind)
    try:
        if kind == "compressed_packets":
            inflater = zlib.decompressobj()
            text = inflater.decompress(data, most + 1)
        else:
            text = zstandard.ZstdDecompressor().stream_reader(data).read(most + 1)
    except (zlib.error, zstandard.ZstdError):
        return None
    return text if len(text) <= most else None
