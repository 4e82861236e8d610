"""Decompress a byte stream; the compression is detected from its first bytes, never its name.

Concatenated members (``cat a.gz b.gz``) are one text. A truncated or damaged stream yields all that
could be decompressed and a description of the problem.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from isal import isal_zlib

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
PIECE_BYTES = 4 << 20
SLICE_BYTES = 8 << 10
"""Compressed bytes inflated at once, at first: a damaged slice is lost whole, and zstd may expand one
without limit.
"""
LARGEST_SLICE_BYTES = 64 << 10
"""After each slice other threads may take their turn, which costs more than to inflate a small one."""
SLICES_BEFORE = 16
"""What came before a slice of gzip is at least as large as so many, so that little is lost with one."""
_GZIP_WINDOW = 31
# isal's stub calls the class an instance.
_DAMAGED = cast("type[Exception]", isal_zlib.error)


@dataclass
class Inflated:
    """Progress of a decompression: raw bytes consumed, and the problem it ended with."""

    consumed: int = 0
    problem: str | None = None


def compression_of(head: bytes) -> str:
    """``gzip``, ``zstd`` or ``plain``, from the first four bytes."""
    if head[:2] == GZIP:
        return "gzip"
    return "zstd" if head[:4] == ZSTD else "plain"


def inflate(raw: Iterator[bytes], state: Inflated) -> Iterator[bytes]:
    """Pieces of inflated text (at most ``PIECE_BYTES`` each); updates ``state`` as it goes."""
    head = b""
    for data in raw:
        head += data
        if len(head) >= 4:
            break
    raw = itertools.chain([head] if head else [], raw)
    kind = compression_of(head)
    if kind == "gzip":
        yield from _gunzip(_count(_slices(raw, LARGEST_SLICE_BYTES), state), state)
    elif kind == "zstd":
        yield from _unzstd(_count(_slices(raw, SLICE_BYTES), state), state)
    else:
        yield from _count(raw, state)


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


def _gunzip(raw: Iterator[bytes], state: Inflated) -> Iterator[bytes]:
    inflater = isal_zlib.decompressobj(_GZIP_WINDOW)
    begun = inflated = False
    for data in raw:
        rest = data.lstrip(b"\0") if inflated and not begun else data
        while rest:
            if not begun and not _is_member(rest, state):
                return
            begun = inflated = True
            try:
                piece = inflater.decompress(rest, PIECE_BYTES)
            except _DAMAGED as error:
                state.problem = f"the gzip stream is damaged near byte {state.consumed}: {error}"
                return
            if piece:
                yield piece
            rest = inflater.unconsumed_tail
            if inflater.eof:
                rest = inflater.unused_data
                inflater, begun = isal_zlib.decompressobj(_GZIP_WINDOW), False
                rest = rest.lstrip(b"\0")
    tail = inflater.flush() if begun else b""
    if tail:
        yield tail
    if begun and not inflater.eof:
        state.problem = f"the gzip stream ends early, at byte {state.consumed}"


def _is_member(rest: bytes, state: Inflated) -> bool:
    """Whether another gzip member begins; a lone first byte at the end of a read counts as one."""
    if rest[:2] == GZIP or (len(rest) == 1 and rest == GZIP[:1]):
        return True
    state.problem = f"{len(rest)} or more bytes that are not gzip follow the last gzip member"
    return False


def _unzstd(raw: Iterator[bytes], state: Inflated) -> Iterator[bytes]:
    import zstandard

    inflater = zstandard.ZstdDecompressor().decompressobj()
    begun = inflated = False
    for data in raw:
        rest = data
        while rest:
            if not begun and inflated and not ZSTD.startswith(rest[:4]):
                state.problem = "bytes that are not zstd follow the last zstd frame"
                return
            begun = inflated = True
            try:
                piece = inflater.decompress(rest)
            except zstandard.ZstdError as error:
                state.problem = f"the zstd stream is damaged near byte {state.consumed}: {error}"
                return
            for start in range(0, len(piece), PIECE_BYTES):
                yield piece[start : start + PIECE_BYTES]
            rest = b""
            if inflater.eof:
                rest = inflater.unused_data
                inflater, begun = zstandard.ZstdDecompressor().decompressobj(), False
    if begun:
        state.problem = f"the zstd stream ends early, at byte {state.consumed}"
