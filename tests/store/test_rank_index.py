"""Rank indexes: a round trip without a map, and damage."""

from __future__ import annotations

import mmap
import random
from pathlib import Path

import pytest

from torch_tb_profiler.errors import SidecarError
from torch_tb_profiler.store import sidecar
from torch_tb_profiler.store.model import RankIndex
from torch_tb_profiler.store.rank_schema import RANK_TABLES
from torch_tb_profiler.store.strings import StringTable


def index_of(seed: int) -> RankIndex:
    """An index of one rank with arbitrary rows and texts."""
    chance = random.Random(seed)
    texts = [f"text {n} of {seed % 3}" for n in chance.sample(range(9), chance.randrange(5))]
    tables = {}
    for spec in RANK_TABLES:
        rows = 1 if spec.name == "ranks" else chance.randrange(4)
        tables[spec.name] = spec.build(
            **{
                column.name: [
                    chance.randrange(-1, len(texts))
                    if column.unit == "number of a string"
                    else chance.randrange(100)
                    for _ in range(rows)
                ]
                for column in spec.columns
            }
        )
    return RankIndex(StringTable.of(texts), tables)


def raw(index: RankIndex) -> list[object]:
    return [index.strings.all()] + [
        index[spec.name][column.name].tolist() for spec in RANK_TABLES for column in spec.columns
    ]


def test_a_round_trip_leaves_nothing_mapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.safetensors"
    made = index_of(5)
    sidecar.write_derived(path, made)
    monkeypatch.setattr(mmap, "mmap", lambda *_, **__: pytest.fail("mapped"))
    assert raw(sidecar.read_derived(path, RankIndex)) == raw(made)


def test_a_damaged_index_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.safetensors"
    sidecar.write_derived(path, index_of(9))
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(SidecarError):
        sidecar.read_derived(path, RankIndex)
    path.write_bytes(b"")
    with pytest.raises(SidecarError):
        sidecar.read_derived(path, RankIndex)
