"""What was kept of a file goes after it, but not while its file system may only be away."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.builders.drawn import events, trace_of
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.runs.import_job import read
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.cache_folder import SUFFIX, CacheFolder
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store import sidecar

DRAWING = "main [a]"
TEXT = '{"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}'


@pytest.fixture
def cache(tmp_path: Path) -> CacheFolder:
    return CacheFolder(Settings(cache_dir=str(tmp_path / "cache")))


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "logs" / "run" / "w\udcff %41.json"
    path.parent.mkdir(parents=True)
    path.write_text(TEXT)
    return path


def _kept(cache: CacheFolder, trace: Path, *, days: float = 2, device: int = 0) -> list[Path]:
    """The sidecars of a trace, last used so many days ago."""
    read_, facts = read(Place(str(trace)), Settings())
    assert read_.source is not None
    source = replace(read_.source, device=read_.source.device + device)
    paths = [cache.path / f"{'0' * 40}{more}{SUFFIX}" for more in ("", "-12345678.timeline")]
    for path in paths:
        sidecar.write(path, replace(read_, source=source), facts)
        os.utime(path, (time.time() - days * 86_400,) * 2)
    return paths


def _removed(trace: Path) -> None:
    trace.unlink()


def _with_its_logdir(trace: Path) -> None:
    shutil.rmtree(trace.parents[1])


def _changed(trace: Path) -> None:
    trace.write_text(TEXT + " ")


@pytest.mark.parametrize("change", [_removed, _with_its_logdir, _changed])
def test_what_was_kept_of_a_file_that_is_gone_goes(
    cache: CacheFolder, trace: Path, change: Callable[[Path], None]
) -> None:
    paths = _kept(cache, trace)
    other = cache.path / ("1" * 40 + SUFFIX)
    made = trace_of(events(DRAWING))
    sidecar.write(other, made, derive(made))
    os.utime(other, (1, 1))
    assert cache.remove_gone() == 0
    assert all(path.exists() for path in paths)
    change(trace)
    assert cache.remove_gone() == 2
    assert list(cache.path.iterdir()) == [other], "of a file elsewhere nothing is known"


def test_what_was_used_today_stays(cache: CacheFolder, trace: Path) -> None:
    """A folder may only be on its way to another place."""
    _kept(cache, trace, days=0.9)
    trace.unlink()
    assert cache.remove_gone() == 0


def test_a_file_system_that_is_away_takes_nothing_with_it(cache: CacheFolder, trace: Path) -> None:
    _kept(cache, trace, device=1)
    shutil.rmtree(trace.parents[1])
    assert cache.remove_gone() == 0


def test_a_folder_that_may_not_be_entered_takes_nothing_with_it(
    cache: CacheFolder, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _kept(cache, trace)
    lstat = os.lstat

    def refused(path: str) -> os.stat_result:
        if str(path).startswith(str(trace.parent)):
            raise PermissionError(path)
        return lstat(path)

    monkeypatch.setattr(os, "lstat", refused)
    assert cache.remove_gone() == 0


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"\x02\0\0\0\0\0\0\0{}", b"\xff" * 100])
def test_damaged_sidecars_are_left_to_others(cache: CacheFolder, content: bytes) -> None:
    path = cache.path / ("0" * 40 + SUFFIX)
    path.write_bytes(content)
    os.utime(path, (1, 1))
    assert cache.remove_gone() == 0
