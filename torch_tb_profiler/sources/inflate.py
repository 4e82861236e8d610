"""Decompress a byte stream; the compression is detected from its first bytes, never its name.

::

    gzip ─▶ gzip ─▶ text          a browser or a copy compressed once more what was compressed
    zstd, zlib ─▶ text            one after the other in any order, at most ``MOST_LAYERS``

Concatenated members (``cat a.gz b.gz``) are one text. A truncated or damaged stream yields all that
could be decompressed and a description of the problem.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import cast

import msgspec
from isal import isal_zlib

from torch_tb_profiler.patterns import regex

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"
"""Follows a byte from 0x50 to 0x5f at the begin of a zstd frame that holds no text."""
HEAD_BYTES = 4 << 10
"""What ``compression_of`` is given at most."""
MOST_LAYERS = 4
"""Text is inflated so often; one that inflates to itself would have no end."""
MOST_IDLE = 16 << 20
"""What a layer within another may read without giving any text: a file of a few MB holds gigabytes of nothing."""
PIECE_BYTES = 4 << 20
SLICE_BYTES = 8 << 10
"""Compressed bytes inflated at once, at first: a damaged slice is lost whole, and zstd may expand one
without limit.
"""
LARGEST_SLICE_BYTES = 64 << 10
"""After each slice other threads may take their turn, which costs more than to inflate a small one."""
SLICES_BEFORE = 16
"""What came before a slice of gzip is at least as large as so many, so that little is lost with one."""
_CONTROL = regex(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_WINDOWS = {"gzip": 31, "zlib": 15}
# isal's stub calls the class an instance.
_DAMAGED = cast("type[Exception]", isal_zlib.error)


class Unreadable(Exception):
    """The rest of a source cannot be read; what came before is used."""


class Inflated(msgspec.Struct):
    """Progress of a decompression: raw bytes consumed, and the problem it ended with."""

    consumed: int = 0
    problem: str | None = None

    def stop(self, problem: str) -> None:
        """Note a problem; the first one is that of the outermost layer, which others follow from."""
        self.problem = self.problem or problem


def compression_of(head: bytes) -> str:
    """``gzip``, ``zstd``, ``zlib`` or ``plain``, from the first ``HEAD_BYTES`` bytes, or all there are."""
    if head[:2] == GZIP:
        return "gzip"
    if len(head) >= 4 and _is_frame(head):
        return "zstd"
    return "zlib" if _is_zlib(head) else "plain"


def _is_frame(head: bytes) -> bool:
    """Whether a zstd frame begins, or may begin where only its first bytes are there."""
    return ZSTD.startswith(head[:4]) or (
        head[0] & 0xF0 == 0x50 and _SKIPPABLE.startswith(head[1:4])
    )


def _has_zlib_header(head: bytes) -> bool:
    """Whether the method is deflate, no dictionary is asked for, and the check of both bytes is right."""
    return (
        len(head) > 1
        and head[0] & 0x8F == 8
        and not head[1] & 0x20
        and not int.from_bytes(head[:2], "big") % 31
    )


def _is_text(head: bytes) -> bool:
    """Whether bytes are UTF-8 without control characters, but for a last character that is cut off."""
    text = head.decode("utf-8", "replace")
    return "\ufffd" not in text[:-3] and not _CONTROL.search(text)


def _is_zlib(head: bytes) -> bool:
    """A header of two bytes may be that of a text (``x^2;y 17``), a few bytes of which inflate, too."""
    if not _has_zlib_header(head) or _is_text(head):
        return False
    inflater = isal_zlib.decompressobj(_WINDOWS["zlib"])
    try:
        return bool(inflater.decompress(head, PIECE_BYTES)) or inflater.eof
    except _DAMAGED:
        return False


def inflate(raw: Iterator[bytes], state: Inflated) -> Iterator[bytes]:
    """Pieces of inflated text (at most ``PIECE_BYTES`` each); updates ``state`` as it goes."""
    kind, raw = _peeked(_undamaged(raw, state))
    pieces = _layer(kind, _count(_sliced(kind, raw), state), state)
    for _ in range(1, MOST_LAYERS):
        if kind == "plain":
            break
        kind, pieces = _peeked(pieces)
        if kind != "plain":
            pieces = _inner(kind, pieces, state)
    yield from pieces


def _peeked(raw: Iterator[bytes]) -> tuple[str, Iterator[bytes]]:
    """The compression, and the same bytes from the first one on."""
    head = b""
    for data in raw:
        head += data
        if len(head) >= HEAD_BYTES or (len(head) >= 4 and not _has_zlib_header(head)):
            break
    return compression_of(head), itertools.chain([head] if head else [], raw)


def _undamaged(raw: Iterator[bytes], state: Inflated) -> Iterator[bytes]:
    try:
        yield from raw
    except Unreadable as error:
        state.stop(str(error))


def _sliced(kind: str, raw: Iterator[bytes]) -> Iterator[bytes]:
    if kind == "plain":
        return raw
    return _slices(raw, SLICE_BYTES if kind == "zstd" else LARGEST_SLICE_BYTES)


def _layer(kind: str, slices: Iterator[bytes], state: Inflated) -> Iterator[bytes]:
    if kind == "plain":
        return slices
    return _unzstd(slices, state) if kind == "zstd" else _undeflate(kind, slices, state)


def _inner(kind: str, pieces: Iterator[bytes], state: Inflated) -> Iterator[bytes]:
    """Inflate what was inflated, as long as it gives any text."""
    idle = 0

    def watched() -> Iterator[bytes]:
        nonlocal idle
        for data in pieces:
            idle += len(data)
            if idle > MOST_IDLE:
                state.stop(f"the {kind} stream within holds nothing for {MOST_IDLE >> 20} MiB")
                return
            yield data

    for piece in _layer(kind, _sliced(kind, watched()), state):
        idle = 0
        yield piece


def _count(raw: Iterator[bytes], state: Inflated) -> Iterator[bytes]:
    for data in raw:
        state.consumed += len(data)
        yield data


def _slices(raw: Iterator[bytes], most: int) -> Iterator[bytes]:
    before = 0
    for data in raw:
        start = 0
        while start < len(data):
            size = min(max(SLICE_BYTES, before // SLICES_BEFORE), most)
            yield data[start : start + size]
            start += size
            before += size


def _undeflate(kind: str, raw: Iterator[bytes], state: Inflated) -> Iterator[bytes]:
    """The text of gzip's members or of zlib's streams, one after the other."""
    inflater = isal_zlib.decompressobj(_WINDOWS[kind])
    begun = inflated = False
    for data in raw:
        rest = data.lstrip(b"\0") if inflated and not begun else data
        while rest:
            if not begun and not _is_member(kind, rest):
                state.stop(
                    f"{len(rest)} or more bytes that are not {kind} follow the last {kind} member"
                )
                return
            begun = inflated = True
            try:
                piece = inflater.decompress(rest, PIECE_BYTES)
            except _DAMAGED as error:
                state.stop(f"the {kind} stream is damaged near byte {state.consumed}: {error}")
                return
            if piece:
                yield piece
            rest = inflater.unconsumed_tail
            if inflater.eof:
                rest = inflater.unused_data
                inflater, begun = isal_zlib.decompressobj(_WINDOWS[kind]), False
                rest = rest.lstrip(b"\0")
    tail = inflater.flush() if begun else b""
    if tail:
        yield tail
    if begun and not inflater.eof:
        state.stop(f"the {kind} stream ends early, at byte {state.consumed}")


def _is_member(kind: str, rest: bytes) -> bool:
    """Whether another member begins; a lone first byte at the end of a read counts as one."""
    if kind == "gzip":
        return rest[:2] == GZIP or (len(rest) == 1 and rest == GZIP[:1])
    return _has_zlib_header(rest) or (len(rest) == 1 and rest[0] & 0x8F == 8)


def _unzstd(raw: Iterator[bytes], state: Inflated) -> Iterator[bytes]:
    import zstandard

    inflater = zstandard.ZstdDecompressor().decompressobj()
    begun = inflated = False
    for data in raw:
        rest = data
        while rest:
            if not begun and inflated and not _is_frame(rest):
                state.stop("bytes that are not zstd follow the last zstd frame")
                return
            begun = inflated = True
            try:
                piece = inflater.decompress(rest)
            except zstandard.ZstdError as error:
                state.stop(f"the zstd stream is damaged near byte {state.consumed}: {error}")
                return
            for start in range(0, len(piece), PIECE_BYTES):
                yield piece[start : start + PIECE_BYTES]
            rest = b""
            if inflater.eof:
                rest = inflater.unused_data
                inflater, begun = zstandard.ZstdDecompressor().decompressobj(), False
    if begun:
        state.stop(f"the zstd stream ends early, at byte {state.consumed}")
