"""Where sidecars are stored and which ones are evicted."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import cache_folder
from torch_tb_profiler.sources.cache_folder import SUFFIX, CacheFolder
from torch_tb_profiler.sources.listing import ListedFile
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store import sidecar as store
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.store.timeline_schema import TIMELINE_TABLES

FOUND = ListedFile(Place("/logdir/a.json"), "", "a.json", 5, 7, "7")


def folder(path: Path, limit: int = 1 << 30) -> CacheFolder:
    return CacheFolder(Settings(cache_dir=str(path), cache_limit_bytes=limit))


def test_a_sidecar_is_found_again_after_a_restart(tmp_path: Path) -> None:
    first, second = (folder(tmp_path / "cache").sidecar(FOUND, "v1") for _ in range(2))
    assert first == second
    assert first.parent == tmp_path / "cache"
    assert first.parent.is_dir()


def test_what_is_written_beside_a_full_folder_does_not_outlast_the_process(tmp_path: Path) -> None:
    cache = folder(tmp_path / "cache")
    before = cache.sidecar(FOUND, "v1")
    before.touch()
    assert cache.fall_back()
    assert cache.outlasts(before)
    assert not cache.outlasts(cache.sidecar(FOUND, "v2"))
    (tmp_path / "file").touch()
    without = folder(tmp_path / "file")
    assert not without.outlasts(without.sidecar(FOUND, "v1"))
    for each in (cache, without):
        each.close()


def test_every_part_of_the_key_matters(tmp_path: Path) -> None:
    cache = folder(tmp_path)
    others = [
        cache.sidecar(ListedFile(Place("/logdir/b.json"), "", "b.json", 5, 7, "7"), "v1"),
        cache.sidecar(ListedFile(Place("/logdir/a.json"), "", "a.json", 6, 7, "7"), "v1"),
        cache.sidecar(ListedFile(Place("/logdir/a.json"), "", "a.json", 5, 7, "8"), "v1"),
        cache.sidecar(FOUND, "v2"),
    ]
    assert len({cache.sidecar(FOUND, "v1"), *others}) == 5


def test_what_cannot_be_told_apart_is_not_reused_by_another_process(tmp_path: Path) -> None:
    unknown = ListedFile(Place("http://h/a.json"), "", "a.json", -1, None, "")
    first, second = folder(tmp_path), folder(tmp_path)
    assert (
        first.sidecar(unknown, "v1")
        == first.sidecar(unknown, "v1")
        != second.sidecar(unknown, "v1")
    )


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    cache = folder(tmp_path, limit=250)
    now = time.time()
    for i, name in enumerate("abcd"):
        path = tmp_path / (name + SUFFIX)
        path.write_bytes(b"x" * 100)
        os.utime(path, (now - 100 + i, now - 100 + i))
    cache.touch(tmp_path / ("a" + SUFFIX))
    assert cache.trim() == 2
    assert sorted(p.name[0] for p in tmp_path.iterdir()) == ["a", "d"]


def test_the_newest_stays_whatever_the_limit(tmp_path: Path) -> None:
    (tmp_path / ("a" + SUFFIX)).write_bytes(b"x" * 100)
    assert folder(tmp_path, limit=1).trim() == 0


def test_what_broken_imports_left_goes_after_a_day(tmp_path: Path) -> None:
    old, fresh, foreign = (
        tmp_path / n for n in ("a" + SUFFIX + ".tmp1", "b" + SUFFIX + ".tmp2", "notes.txt")
    )
    for path in (old, fresh, foreign):
        path.write_bytes(b"x")
    for path in (old, foreign):
        os.utime(path, (1, 1))
    folder(tmp_path).trim()
    assert not old.exists()
    assert fresh.exists()
    assert foreign.exists()


def test_a_folder_that_cannot_be_made_gives_way_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    cache = folder(tmp_path / "file" / "cache")
    assert str(tmp_path / "file") in cache.note
    assert cache.path.is_dir()
    cache.close()
    assert not cache.path.exists()


def test_a_folder_of_this_process_goes_with_it(tmp_path: Path) -> None:
    script = (
        "from torch_tb_profiler.settings import Settings\n"
        + "from torch_tb_profiler.sources.cache_folder import CacheFolder\nfolder ="
        " CacheFolder(Settings(use_cache=False))\nprint(folder.path)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert Path(done.stdout.strip()).parent == tmp_path
    assert list(tmp_path.iterdir()) == []


def test_without_a_cache_nothing_stays(tmp_path: Path) -> None:
    cache = CacheFolder(Settings(cache_dir=str(tmp_path / "cache"), use_cache=False))
    assert cache.path.is_dir()
    assert not (tmp_path / "cache").exists()
    cache.close()
    assert not cache.path.exists()


posix = pytest.mark.skipif(os.name != "posix", reason="Windows keeps folders apart itself")


@posix
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775, 0o2770, 0o707])
def test_a_folder_that_others_may_write_to_is_not_trusted(tmp_path: Path, mode: int) -> None:
    """A sidecar that somebody planted would be shown as the figures of a trace."""
    shared = tmp_path / "cache"
    shared.mkdir()
    shared.chmod(mode)
    cache = folder(shared)
    assert cache.path != shared
    assert not cache.lasting
    assert f"{shared} may be written to by others, its mode is {mode:04o}" in cache.note
    assert stat.S_IMODE(cache.path.stat().st_mode) == 0o700
    assert stat.S_IMODE(shared.stat().st_mode) == mode, "it is the user's own affair"
    cache.close()


@posix
def test_a_folder_of_another_user_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    (tmp_path / "cache").mkdir(mode=0o700)
    cache = folder(tmp_path / "cache")
    assert f"belongs to another user, {tmp_path.stat().st_uid}" in cache.note
    assert cache.path != tmp_path / "cache"
    cache.close()


@posix
def test_folders_and_files_are_made_for_this_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        cache = folder(tmp_path / "a" / "cache")
        sidecar = cache.sidecar(FOUND, "v1")
        store.write_derived(sidecar, Timeline({s.name: s.empty() for s in TIMELINE_TABLES}, {}))
    finally:
        os.umask(before)
    assert stat.S_IMODE(cache.path.stat().st_mode) == 0o700
    assert stat.S_IMODE(sidecar.stat().st_mode) == 0o600


@posix
def test_the_usual_folder_is_closed_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Earlier versions made it by the umask, which many systems leave open to the user's group."""
    monkeypatch.setattr(cache_folder, "_configured", lambda settings: tmp_path / "cache")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o775)
    (tmp_path / "cache" / ("a" + SUFFIX)).write_bytes(b"x")
    cache = CacheFolder(Settings())
    assert cache.lasting
    assert not cache.note
    assert stat.S_IMODE(cache.path.stat().st_mode) == 0o700
    assert [path.name for path in cache.path.iterdir()] == ["a" + SUFFIX]


def test_a_damaged_copy_is_not_fetched_before_it_was_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_folder, "_configured", lambda settings: tmp_path / "copies")
    cache = CacheFolder(Settings(cache_dir="memory://a-damaged-copy"))
    sidecar = cache.sidecar(FOUND, "v1")
    sidecar.write_bytes(b"x")
    cache.publish(sidecar)
    sidecar.unlink()
    assert cache.copied(sidecar).exists()
    sidecar.unlink()
    cache.condemn(sidecar)
    assert not cache.copied(sidecar).exists()
    assert not cache.has(sidecar)
    sidecar.write_bytes(b"y")
    cache.publish(sidecar)
    sidecar.unlink()
    assert cache.copied(sidecar).read_bytes() == b"y"
