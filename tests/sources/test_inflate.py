"""Inflating: detected by the first bytes, tolerant of every kind of end."""

from __future__ import annotations

import gzip
import random
import struct
import zlib
from collections.abc import Callable, Iterator

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.sources import inflate as module
from torch_tb_profiler.sources.inflate import (
    MOST_LAYERS,
    PIECE_BYTES,
    Inflated,
    compression_of,
    inflate,
)

CHANCE = random.Random(1)
TEXT = b"".join(b'{"ph": "X", "ts": %d},\n' % CHANCE.randrange(10**15) for _ in range(40_000))
GZIP = gzip.compress(TEXT)
ZSTD = zstandard.compress(TEXT)
ZLIB = zlib.compress(TEXT)
SHORT = TEXT[:30_000]


def skippable(number: int, content: bytes) -> bytes:
    """A zstd frame that holds no text, such as the table of a seekable file."""
    return struct.pack("<II", 0x184D2A50 + number, len(content)) + content


def narrow_zlib(text: bytes, bits: int) -> bytes:
    packer = zlib.compressobj(wbits=bits)
    return packer.compress(text) + packer.flush()


PACKERS: list[Callable[[bytes], bytes]] = [
    gzip.compress,
    zstandard.compress,
    zlib.compress,
    lambda text: narrow_zlib(text, 10),
    lambda text: skippable(0, b"head") + zstandard.compress(text),
    lambda text: zstandard.compress(text) + skippable(14, b""),
]


def run(data: bytes, piece: int = 1 << 20) -> tuple[bytes, Inflated]:
    def raw() -> Iterator[bytes]:
        for offset in range(0, len(data), piece):
            yield data[offset : offset + piece]

    state = Inflated()
    return b"".join(inflate(raw(), state)), state


def test_damaged_in_the_middle_gives_what_comes_before() -> None:
    middle = len(GZIP) // 2
    text, state = run(GZIP[:middle] + bytes(200) + b"\xff" * 200 + GZIP[middle + 400 :])
    assert state.problem is not None
    assert TEXT.startswith(text[: int(len(TEXT) * 0.4)])
    assert len(text) > len(TEXT) * 0.4


@pytest.mark.parametrize(("data", "kind"), [(GZIP, "gzip"), (ZSTD, "zstd"), (ZLIB, "zlib")])
def test_what_follows_the_last_member(data: bytes, kind: str) -> None:
    text, state = run(data + b"garbage")
    assert text == TEXT
    assert state.problem is not None
    assert "follow the last" in state.problem


def test_pieces_stay_small() -> None:
    for bomb in (gzip.compress(bytes(50 << 20)), zstandard.compress(bytes(50 << 20))):
        assert max(map(len, inflate(iter([bomb]), Inflated()))) <= PIECE_BYTES


@given(st.lists(st.sampled_from(PACKERS), max_size=MOST_LAYERS), st.integers(1, 5000))
def test_layers_in_any_order(packers: list[Callable[[bytes], bytes]], piece: int) -> None:
    data = SHORT
    for packer in packers:
        data = packer(data)
    assert run(data, piece) == (SHORT, Inflated(len(data), None))


@given(st.lists(st.sampled_from(PACKERS), min_size=1, max_size=MOST_LAYERS), st.floats(0.5, 0.99))
def test_truncated_layers_give_what_comes_before(
    packers: list[Callable[[bytes], bytes]], share: float
) -> None:
    data = SHORT
    for packer in packers:
        data = packer(data)
    text, state = run(data[: int(len(data) * share)])
    assert SHORT.startswith(text)
    assert state.problem is not None


def test_one_layer_too_many_stays_compressed() -> None:
    data = innermost = gzip.compress(SHORT)
    for _ in range(MOST_LAYERS):
        data = gzip.compress(data)
    assert run(data)[0] == innermost


@pytest.mark.parametrize("filling", [b"\0", gzip.compress(b""), skippable(3, bytes(100))])
def test_a_layer_of_nothing_has_an_end(filling: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 2 << 20
    monkeypatch.setattr(module, "MOST_IDLE", most)
    pack = gzip.compress if filling[:1] in b"\0\x1f" else zstandard.compress
    endless = pack(SHORT)
    text, state = run(gzip.compress(endless + filling * (3 * most // len(filling)), 1))
    assert text == SHORT
    assert state.problem is not None
    assert "holds nothing" in state.problem


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=100))
def test_text_with_the_header_of_zlib_stays_text(rest: str) -> None:
    for header in (b"x^", b"hC", b"8O", b"HK", b"(S", b"XG"):
        assert compression_of(header + rest.encode() + b" 17\n") == "plain"


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
