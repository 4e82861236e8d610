"""A file that is written to while it is mapped, after it was verified, yields neither figures nor errors of its own."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.tampering import EVERY, IN_PLACE, Damage
from tests.views import hand_made
from torch_tb_profiler.errors import NotFound, SidecarError
from torch_tb_profiler.runs.memo import Memo
from torch_tb_profiler.sources.cache_folder import CacheFolder
from torch_tb_profiler.store import mapped_files, sidecar
from torch_tb_profiler.store.mapped_files import expect_readable

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="where files are mapped"
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Two sidecars of different traces."""
    trace, facts = hand_made.trace(), hand_made.facts()
    paths = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    for path in paths:
        sidecar.write(path, trace, facts)
    return paths


def _used(meanwhile: Callable[[], object], failure: Exception | None) -> None:
    with expect_readable():
        meanwhile()
        if failure is not None:
            raise failure


@pytest.mark.parametrize("damage", IN_PLACE)
@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_made_of_it_or_raised_is_not_told(
    damage: Damage, seed: int, files: tuple[Path, Path]
) -> None:
    for failure in (None, IndexError("7"), ValueError("x"), NotFound("There is none.")):
        for path in files:
            sidecar.write(path, hand_made.trace(), hand_made.facts())
        kept = sidecar.read(files[0])
        with pytest.raises(SidecarError, match=r"a\.safetensors"):
            _used(lambda: damage(random.Random(seed), *files), failure)
        assert not files[0].exists()
        assert mapped_files.take(str(files[0]))
        del kept


@pytest.mark.parametrize("failure", [IndexError("7"), NotFound("There is none.")])
def test_an_error_of_ours_stays_where_nothing_changed(
    failure: Exception, files: tuple[Path, Path]
) -> None:
    kept = sidecar.read(files[0])
    with pytest.raises(type(failure)):
        _used(lambda: CacheFolder.touch(files[0]), failure)
    assert kept


@pytest.mark.parametrize("damage", EVERY)
@pytest.mark.parametrize("seed", range(4))
def test_it_is_not_read_again(damage: Damage, seed: int, files: tuple[Path, Path]) -> None:
    before = files[0].read_bytes()
    damage(random.Random(seed), *files)
    if files[0].read_bytes() == before:
        return  # Zeros stood there already.
    for read in (sidecar.read, sidecar.read_head):
        # The head says nothing of the columns: what is wrong there is found when they are read.
        if read is sidecar.read or damage.__name__ in ("grown", "cut", "swapped"):
            with pytest.raises(SidecarError):
                read(files[0])


def test_what_was_kept_before_damage_was_found_is_made_again() -> None:
    memo, made = Memo(), list[int]()

    def make() -> int:
        made.append(1)
        return len(made)

    assert (memo.get("k", make), memo.get("k", make)) == (1, 1)
    mapped_files.report("/nowhere/x", "is damaged", remove=False)
    mapped_files.take("/nowhere/x")
    assert memo.results() == []
    assert memo.get("k", make) == 2


def test_what_is_made_while_damage_is_found_is_not_kept() -> None:
    memo = Memo()

    def make() -> int:
        mapped_files.report("/nowhere/x", "is damaged", remove=False)
        return 1

    with pytest.raises(SidecarError, match="x is damaged"):
        memo.get("k", make)
    mapped_files.take("/nowhere/x")
    assert memo.kept("k") is None
