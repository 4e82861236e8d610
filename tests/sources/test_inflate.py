"""Inflating: detected by the first bytes, tolerant of every kind of end."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator

import pytest
import zstandard

from torch_tb_profiler.sources.inflate import PIECE_BYTES, Inflated, compression_of, inflate

CHANCE = random.Random(1)
TEXT = b"".join(b'{"ph": "X", "ts": %d},\n' % CHANCE.randrange(10**15) for _ in range(40_000))
GZIP = gzip.compress(TEXT)
ZSTD = zstandard.compress(TEXT)


def run(data: bytes, piece: int = 1 << 20) -> tuple[bytes, Inflated]:
    def raw() -> Iterator[bytes]:
        for offset in range(0, len(data), piece):
            yield data[offset : offset + piece]

    state = Inflated()
    return b"".join(inflate(raw(), state)), state


@pytest.mark.parametrize(
    "data",
    [GZIP, ZSTD, TEXT, GZIP + GZIP, ZSTD + ZSTD, GZIP + b"\0" * 100],
    ids=["gzip", "zstd", "plain", "two_gzip", "two_zstd", "padded"],
)
@pytest.mark.parametrize("piece", [1 << 20, 1000, 7])
def test_whole(data: bytes, piece: int) -> None:
    text, state = run(data, piece)
    assert text in (TEXT, TEXT + TEXT)
    assert (len(text) > len(TEXT)) == (data in (GZIP + GZIP, ZSTD + ZSTD))
    assert (state.problem, state.consumed) == (None, len(data))


@pytest.mark.parametrize("data", [GZIP, ZSTD], ids=["gzip", "zstd"])
@pytest.mark.parametrize("share", [0.0001, 0.3, 0.5, 0.9, 0.99999])
def test_truncated(data: bytes, share: float) -> None:
    text, state = run(data[: max(5, int(len(data) * share))])
    assert TEXT.startswith(text)
    assert len(text) >= len(TEXT) * (share - 0.4)
    assert state.problem is not None
    assert "ends early" in state.problem


def test_truncated_gzip_gives_all_that_was_compressed() -> None:
    text, _ = run(GZIP[: len(GZIP) // 2])
    assert len(text) > len(TEXT) * 0.48


def test_damaged_in_the_middle_gives_what_comes_before() -> None:
    middle = len(GZIP) // 2
    text, state = run(GZIP[:middle] + bytes(200) + b"\xff" * 200 + GZIP[middle + 400 :])
    assert state.problem is not None
    assert TEXT.startswith(text[: int(len(TEXT) * 0.4)])
    assert len(text) > len(TEXT) * 0.4


@pytest.mark.parametrize(("data", "kind"), [(GZIP, "gzip"), (ZSTD, "zstd")])
def test_what_follows_the_last_member(data: bytes, kind: str) -> None:
    text, state = run(data + b"garbage")
    assert text == TEXT
    assert state.problem is not None
    assert "follow the last" in state.problem


def test_pieces_stay_small() -> None:
    for bomb in (gzip.compress(bytes(50 << 20)), zstandard.compress(bytes(50 << 20))):
        assert max(map(len, inflate(iter([bomb]), Inflated()))) <= PIECE_BYTES


def test_short_heads() -> None:
    assert [compression_of(h) for h in (b"", b"\x1f", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"{")] == [
        "plain",
        "plain",
        "gzip",
        "zstd",
        "plain",
    ]
    for head in (b"", b"{", b"[1]"):
        assert run(head) == (head, Inflated(len(head), None))
