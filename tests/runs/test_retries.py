"""What failed for a cause that passes is made again, and only that; what it is called is known."""

from __future__ import annotations

import errno
import os
import signal
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runs.conftest import OBEY, Start, spans, states, until, write
from tests.runs.targets import content, obey
from torch_tb_profiler.runs import catalogue as catalogue_
from torch_tb_profiler.runs import executor, prefetch, whole_logdir
from torch_tb_profiler.runs import sidecar_store as store_
from torch_tb_profiler.runs.import_job import Report
from torch_tb_profiler.runs.products import TIMELINE, make_timeline
from torch_tb_profiler.runs.sidecar_store import SidecarStore
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import cache_folder
from torch_tb_profiler.sources.cache_folder import CacheFolder
from torch_tb_profiler.sources.listing import ListedFile, list_files
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store.model import Facts, Trace

Maker = dict[str, Any]


def killed_once(location: str, sidecar_path: str, settings: Settings, report: Report) -> Maker:
    """Is killed the first time."""
    if _first_time(location):
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)
    return obey(location, sidecar_path, settings, report)


def short_of_memory_once(
    location: str, sidecar_path: str, settings: Settings, report: Report
) -> Maker:
    """Finds no memory the first time."""
    if _first_time(location):
        raise MemoryError
    return obey(location, sidecar_path, settings, report)


def full(location: str, sidecar_path: str, settings: Settings, report: Report) -> Maker:
    """Finds the disk full wherever it is to write."""
    with open(Path(settings.cache_dir) / "begun.log", "a") as log:
        log.write(f"{sidecar_path}\n")
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), sidecar_path)


def full_at_first(location: str, sidecar_path: str, settings: Settings, report: Report) -> Maker:
    """Finds only the disk of the cache folder full."""
    _expect_room(sidecar_path, settings)
    return obey(location, sidecar_path, settings, report)


def timeline_full_at_first(
    location: str, sidecar_path: str, settings: Settings, report: Report
) -> Maker:
    """Makes a timeline, for which the disk has no room at first."""
    _expect_room(sidecar_path, settings)
    return make_timeline(location, sidecar_path, settings, report)


def _first_time(location: str) -> bool:
    mark = Path(location + ".tried")
    if mark.exists():
        return False
    mark.touch()
    return True


def _expect_room(sidecar_path: str, settings: Settings) -> None:
    if Path(sidecar_path).parent == Path(settings.cache_dir):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), sidecar_path)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue_, "RETRY_SECONDS", 0.4)


@pytest.mark.parametrize(
    ("maker", "words"),
    [("killed_once", "killed (signal 9)"), ("short_of_memory_once", "ran out of memory")],
)
def test_it_is_tried_again_without_a_change_of_the_file(
    maker: str, words: str, logdir: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue_, "RETRY_SECONDS", 8.0)
    write(logdir / "run" / "a.pt.trace.json", content())
    catalogue = start(logdir, maker=f"tests.runs.test_retries:{maker}")
    until(lambda: states(catalogue).get("run/a.pt.trace.json") == "failed")
    message = spans(catalogue)["run/a.pt.trace.json"].message
    assert words in message
    assert message.endswith("It is tried again.")
    until(lambda: states(catalogue)["run/a.pt.trace.json"] == "ready")
    assert catalogue.open("run", "a", "trace").span.message == ""


def test_it_is_not_tried_for_ever(
    logdir: Path, start: Start, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue_, "RETRY_SECONDS", 0.01)
    write(logdir / "run" / "a.json", content(do="die"))
    catalogue = start(logdir)

    def given_up() -> bool:
        span = spans(catalogue).get("run/a.json")
        return (
            span is not None and span.state.value == "failed" and "tried again" not in span.message
        )

    until(given_up)
    assert _begun(settings) == ["a.json"] * catalogue_.MOST_TRIES
    assert "killed (signal 9)" in spans(catalogue)["run/a.json"].message


@pytest.mark.parametrize("do", ["refuse", "raise", "crash"])
def test_what_the_file_is_to_blame_for_waits_for_its_change(
    do: str, logdir: Path, start: Start, settings: Settings
) -> None:
    path = write(logdir / "run" / "a.pt.trace.json", content(do=do))
    catalogue = start(logdir)
    until(lambda: "failed" in states(catalogue).values())
    assert "tried again" not in spans(catalogue)["run/a.pt.trace.json"].message
    path.write_text(content())
    until(lambda: states(catalogue)["run/a.pt.trace.json"] == "ready")
    assert _begun(settings) == ["a.pt.trace.json"] * 2


def test_a_full_cache_disk_falls_back_to_another_folder(
    logdir: Path, start: Start, settings: Settings
) -> None:
    for name in "ab":
        write(logdir / "run" / f"{name}.json", content())
    catalogue = start(logdir, maker="tests.runs.test_retries:full_at_first")
    until(lambda: list(states(catalogue).values()) == ["ready", "ready"])
    spare = catalogue.store.folder().spare
    assert spare is not None
    assert catalogue.snapshot().notes == (
        f"The cache folder {settings.cache_dir} is full: what is new is kept in {spare} until the"
        " end of this process.",
    )
    assert catalogue.open("run", "a", "trace").trace.entries == len(content())
    assert len(list(spare.iterdir())) == 2
    assert os.listdir(settings.cache_dir) == ["begun.log"]
    catalogue.close()
    assert not spare.exists()


def test_what_is_derived_falls_back_too(
    settings: Settings, trace_sidecar: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_, "FIRST_WAIT_SECONDS", 60.0)
    maker = "tests.runs.test_retries:timeline_full_at_first"
    with closing(SidecarStore(settings, {"timeline": maker})) as store:
        assert store.get(TIMELINE, trace_sidecar)["slices"].n == 3
        assert store.made(TIMELINE, trace_sidecar) is not None
        assert store.queue.started == {maker: 2}


def test_no_room_anywhere_is_a_reason_and_tried_again(
    logdir: Path, start: Start, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue_, "RETRY_SECONDS", 600.0)
    write(logdir / "run" / "a.json", content())
    catalogue = start(logdir, maker="tests.runs.test_retries:full")
    until(lambda: "failed" in states(catalogue).values())
    message = spans(catalogue)["run/a.json"].message
    assert "No space left on device" in message
    assert message.endswith("It is tried again.")
    here, there = _begun(settings)
    assert Path(here).name == Path(there).name
    assert Path(here).parent == Path(settings.cache_dir) != Path(there).parent


def test_a_disk_with_too_little_room_is_left_before_an_import_begins(
    logdir: Path, start: Start, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(logdir / "run" / "a.json", content())
    kept = store_.KEPT_SHARE * path.stat().st_size

    def free(folder: str | Path) -> float:
        return kept - 1 if str(folder) == settings.cache_dir else kept + 1

    monkeypatch.setattr(cache_folder, "_free", free)
    catalogue = start(logdir)
    until(lambda: list(states(catalogue).values()) == ["ready"])
    spare = catalogue.store.folder().spare
    assert spare is not None
    assert [path.name for path in spare.iterdir()] == [
        Path(catalogue.open("run", "a", "trace").sidecar).name
    ]
    assert not list(Path(settings.cache_dir).glob("*.safetensors"))


def test_where_no_disk_has_room_nothing_begins_and_it_is_said(
    logdir: Path, start: Start, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue_, "RETRY_SECONDS", 600.0)
    monkeypatch.setattr(cache_folder, "_free", lambda folder: 1.0)
    write(logdir / "run" / "a.json", content())
    catalogue = start(logdir)
    until(lambda: "failed" in states(catalogue).values())
    message = spans(catalogue)["run/a.json"].message
    assert "the disk of the cache folder has 1 B free" in message
    assert message.endswith("It is tried again.")
    assert catalogue.store.folder().spare is None
    assert not (Path(settings.cache_dir) / "begun.log").exists()


def test_what_a_logdir_takes_of_the_disk_is_said_where_it_is_much(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_folder, "_free", lambda folder: 10e9)
    files = [
        ListedFile(Place(f"/{n}.json.gz"), "", f"{n}.json.gz", 10**9, 0, "0") for n in range(4)
    ]
    limited = replace(settings, cache_limit_bytes=22 << 30)
    with closing(SidecarStore(limited)) as store:
        store.folder()
        assert store.disk_note(files, files[:0]) == ""
        assert store.disk_note(files, files[:1]).startswith(
            "The imports to come take about 4.97 GiB"
        )
        # 5 × 16 GB of text, a third of them kept
        note = store.disk_note([*files, files[0]], ())
        assert note.startswith(
            "All imports take about 24.8 GiB, and the cache folder keeps 22.0 GiB"
        )


def test_the_command_import_says_it_before_it_begins(
    logdir: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(logdir / "run" / "a.json", '{"traceEvents": []}')
    monkeypatch.setattr(cache_folder, "_free", lambda folder: path.stat().st_size / 2)
    told: list[whole_logdir.Progress] = []
    whole_logdir.make_all(str(logdir), replace(settings, workers=1), told.append)
    assert told[0].note.startswith("The imports to come take about")


def test_the_least_recently_used_goes_first_in_both_folders(tmp_path: Path) -> None:
    cache = CacheFolder(Settings(cache_dir=str(tmp_path), cache_limit_bytes=250))
    assert cache.fall_back()
    assert cache.spare is not None
    paths = [tmp_path / "0.safetensors"]
    paths[0].write_bytes(bytes(100))
    paths += [cache.located(tmp_path / f"{number}.safetensors") for number in (1, 2)]
    for number, path in enumerate(paths):
        path.write_bytes(bytes(100))
        os.utime(path, (number, number))
    assert cache.trim() == 1
    assert [path.exists() for path in paths] == [False, True, True]
    assert cache.located(tmp_path / "1.safetensors").parent == cache.spare
    cache.close()


@pytest.mark.parametrize(
    ("before", "after", "code", "words"),
    [
        (3, 3, "killed", "but not because memory ran out"),
        (3, 4, "memory", "most likely because memory ran out: the file of 1.91 MiB may need more"),
        (None, None, "memory", "by a person, by a program, or because memory ran out"),
    ],
)
def test_a_kill_is_called_what_is_known_of_it(
    before: int | None, after: int | None, code: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = iter((before, after))
    monkeypatch.setattr(executor, "_memory_kills", lambda: next(told))
    worker = executor.LocalProcesses(quiet=True).start()
    try:
        for _ in worker.run({"maker": OBEY}):
            worker.kill()
        death = worker.death(2_000_000)
    finally:
        worker.close()
    assert death.code == code
    assert words in death.message


OWN_GROUP = {"/proc/self/cgroup": "0::/a.slice/b\n"}
EVENTS = "low 0\nhigh 0\nmax 7\noom 2\noom_kill 2\n"


@pytest.mark.parametrize(
    ("files", "kills"),
    [
        ({**OWN_GROUP, "/sys/fs/cgroup/a.slice/b/memory.events": EVENTS}, 2),
        ({"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup//memory.events": EVENTS}, 2),
        ({**OWN_GROUP, "/sys/fs/cgroup//memory.events": EVENTS}, 2),
        ({**OWN_GROUP, "/proc/vmstat": "pgfree 3\noom_kill 5\n"}, 5),
        ({"/proc/self/cgroup": "4:memory:/a\n", "/proc/vmstat": "oom_kill 5\n"}, 5),
        ({"/proc/vmstat": "pgfree 3\n"}, None),
        ({}, None),
    ],
)
def test_kills_are_counted_in_the_own_group_where_they_are(
    files: dict[str, str], kills: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another container of the machine may run out of memory at any time."""

    def text(path: str) -> str:
        if path not in files:
            raise FileNotFoundError(path)
        return files[path]

    monkeypatch.setattr(executor, "system_text", text)
    assert executor._memory_kills() == kills


@pytest.mark.skipif(executor._memory_kills() is None, reason="the system counts no such kills")
def test_a_kill_by_hand_is_not_called_lack_of_memory(logdir: Path, start: Start) -> None:
    write(logdir / "run" / "a.pt.trace.json", content(do="hang"))
    catalogue = start(logdir)
    until(lambda: catalogue.store.queue.worker_pids())
    until(lambda: states(catalogue).get("run/a.pt.trace.json") == "importing")
    (pid,) = catalogue.store.queue.worker_pids().values()
    os.kill(pid, signal.SIGKILL)
    until(lambda: states(catalogue)["run/a.pt.trace.json"] == "failed")
    message = spans(catalogue)["run/a.pt.trace.json"].message
    assert "not because memory ran out" in message
    assert "A person or another program did it" in message


def _begun(settings: Settings) -> list[str]:
    return (Path(settings.cache_dir) / "begun.log").read_text().split()


@pytest.mark.parametrize("maker", ["killed_once", "short_of_memory_once"])
def test_a_command_imports_once_more_what_the_file_is_not_to_blame_for(
    settings: Settings, logdir: Path, monkeypatch: pytest.MonkeyPatch, maker: str
) -> None:
    monkeypatch.setattr(prefetch, "WORTH_BYTES", 0)
    for name in ("a.json", "b.json"):
        write(logdir / name, content())
    files = list_files(Place(str(logdir))).files
    makers = {"import": f"tests.runs.test_retries:{maker}"}

    def here(file: ListedFile, report: Report | None) -> tuple[Trace, Facts]:
        raise AssertionError(f"{file.name} is imported in this process")

    with closing(SidecarStore(replace(settings, workers=2), makers, quiet=True)) as store:
        traces = prefetch.ImportPrefetcher(files, store, here)
        assert [traces.take(file)[0].entries for file in files] == [len(content())] * 2
        assert store.queue.started.total() == 4
