"""Traces that were compressed twice, by zlib, or after a header of zstd's, open as what they hold."""

from __future__ import annotations

import gzip
import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

import torch_tb_profiler
from tests.builders.loop import document, loop

Packer = Callable[[bytes], bytes]


def _seekable(text: bytes) -> bytes:
    """As writers of seekable files do: frames without text before and after."""
    frame = struct.pack("<II", 0x184D2A5E, 4) + b"head"
    return frame + zstandard.compress(text) + frame


@pytest.mark.parametrize(
    "packers",
    [
        (gzip.compress, gzip.compress),
        (zlib.compress,),
        (zlib.compress, gzip.compress),
        (zstandard.compress, gzip.compress),
        (_seekable,),
    ],
    ids=["gzip_in_gzip", "zlib", "zlib_in_gzip", "zstd_in_gzip", "zstd_after_a_skippable_frame"],
)
def test_the_loop_is_read_whatever_it_is_packed_in(
    tmp_path: Path, packers: tuple[Packer, ...]
) -> None:
    data = json.dumps(document(loop())).encode()
    for packer in packers:
        data = packer(data)
    path = tmp_path / "w0.pt.trace.json.gz"
    path.write_bytes(data)
    trace = torch_tb_profiler.open(path)
    assert list(trace.steps["wall_ns"]) == [1_000_000] * 3
    assert trace.kernels().set_index("name")["total_ns"].to_dict() == {
        "gemm_kernel": 1_200_000,
        "relu_kernel": 150_000,
    }
