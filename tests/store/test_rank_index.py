"""Rank indexes: a round trip without a map, and the index of a run put together in any grouping."""

from __future__ import annotations

import mmap
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from torch_tb_profiler.errors import SidecarError
from torch_tb_profiler.store import sidecar
from torch_tb_profiler.store.rank_index import RankIndex, joined, separated
from torch_tb_profiler.store.rank_schema import RANK_TABLES
from torch_tb_profiler.store.strings import StringTable


def index_of(seed: int) -> RankIndex:
    """An index of one rank with arbitrary rows and texts."""
    chance = random.Random(seed)
    texts = [f"text {n} of {seed % 3}" for n in chance.sample(range(9), chance.randrange(5))]
    tables, counts = {}, {}
    for spec in RANK_TABLES[1:]:
        counts[spec.name] = n = chance.randrange(4)
        tables[spec.name] = spec.build(
            **{
                column.name: [
                    chance.randrange(-1, len(texts))
                    if column.unit == "number of a string"
                    else chance.randrange(100)
                    for _ in range(n)
                ]
                for column in spec.columns
            }
        )
    ranks = {
        column.name: [counts.get(column.name, 0 if texts else -(column.dtype != "u1"))]
        for column in RANK_TABLES[0].columns
    }
    return RankIndex(
        StringTable.of(texts),
        {"ranks": RANK_TABLES[0].build(**ranks), **tables},
    )


def told(index: RankIndex) -> dict[str, list[Any]]:
    """Everything in it, texts instead of their numbers."""
    return {
        f"{spec.name}.{column.name}": (
            index.strings.many(index[spec.name][column.name])
            if column.unit == "number of a string"
            else index[spec.name][column.name].tolist()
        )
        for spec in RANK_TABLES
        for column in spec.columns
    }


def raw(index: RankIndex) -> list[object]:
    return [index.strings.all()] + [
        index[spec.name][column.name].tolist() for spec in RANK_TABLES for column in spec.columns
    ]


def test_a_round_trip_leaves_nothing_mapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.safetensors"
    made = joined([index_of(seed) for seed in range(5)])
    sidecar.write_ranks(path, made)
    monkeypatch.setattr(mmap, "mmap", lambda *_, **__: pytest.fail("mapped"))
    assert raw(sidecar.read_ranks(path)) == raw(made)


def test_a_damaged_index_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.safetensors"
    sidecar.write_ranks(path, joined([index_of(seed) for seed in range(9)]))
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(SidecarError):
        sidecar.read_ranks(path)
    path.write_bytes(b"")
    with pytest.raises(SidecarError):
        sidecar.read_ranks(path)


@examples(60)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=6), st.data())
def test_any_grouping_gives_the_same(seeds: list[int], data: st.DataObject) -> None:
    parts = [index_of(seed) for seed in seeds]
    whole = joined(parts)
    grouped = list(parts)
    while len(grouped) > 1:
        place = data.draw(st.integers(0, len(grouped) - 2))
        grouped[place : place + 2] = [joined(grouped[place : place + 2])]
    assert raw(joined(grouped)) == raw(whole)
    assert raw(joined([joined([]), whole, joined([])])) == raw(whole)
    assert len(whole) == len(seeds)
    assert [told(one) for one in separated(whole)] == [told(part) for part in parts]
