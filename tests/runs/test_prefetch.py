"""Files that worker processes import while others are looked at."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.runs.conftest import OBEY, alive, until, write
from tests.runs.targets import content, small
from torch_tb_profiler.errors import ImportFailed
from torch_tb_profiler.runs import prefetch
from torch_tb_profiler.runs import sidecar_store as store_
from torch_tb_profiler.runs.import_job import Report
from torch_tb_profiler.runs.loading import Unreadable, load_all
from torch_tb_profiler.runs.prefetch import ImportPrefetcher
from torch_tb_profiler.runs.sidecar_store import SidecarStore
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.listing import ListedFile, list_files
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.summary import Summary

SCRIPT = """
import signal, sys
# Tests that run in the background are deaf to it, and their children too.
signal.signal(signal.SIGINT, signal.default_int_handler)
from contextlib import closing
from torch_tb_profiler.runs import prefetch
from torch_tb_profiler.runs.sidecar_store import SidecarStore
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.listing import list_files
from torch_tb_profiler.sources.places import Place
prefetch.WORTH_BYTES = 0
files = list_files(Place(sys.argv[1])).files
settings = Settings(workers=2, cache_dir=sys.argv[2])
with closing(SidecarStore(settings, {"import": "tests.runs.targets:obey"}, quiet=True)) as store:
    traces = prefetch.ImportPrefetcher(files, store, None)
    for found in files:
        print(traces.take(found)[0].entries, flush=True)
"""


@pytest.fixture(autouse=True)
def _little_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefetch, "WORTH_BYTES", 0)


@contextmanager
def _prefetching(
    files: Sequence[ListedFile], settings: Settings, here: Here, report: Report | None = None
) -> Iterator[ImportPrefetcher]:
    with closing(SidecarStore(settings, {"import": OBEY}, quiet=True)) as store:
        yield ImportPrefetcher(files, store, here, report)


class Here:
    """The import of this process: notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, found: ListedFile, report: Report | None) -> tuple[Trace, Facts]:
        self.asked.append(found.name)
        return small(Summary(), 0)


def test_workers_import_in_order_and_what_is_bad_is_said(settings: Settings, logdir: Path) -> None:
    for number, orders in enumerate([{}, {"do": "refuse"}, {"do": "die"}, {"do": "raise"}, {}]):
        write(logdir / f"{number}.json", content(**orders))
    here, told = Here(), list[tuple[int, int | None, str]]()
    files = list_files(Place(str(logdir))).files

    def report(done: int, total: int | None) -> None:
        told.append((done, total, threading.current_thread().name))

    said = []
    with _prefetching(files, settings, here, report) as traces:
        for found in files:
            try:
                said.append(str(traces.take(found)[0].entries))
            except ImportFailed as error:
                said.append(error.message.partition(",")[0])
    whole = str(len(content()))
    # What no file is to blame for, such as a full disk, is imported here.
    assert said == [
        whole,
        "There is nothing in it.",
        "The import process was killed (signal 9)",
        "0",
        whole,
    ]
    assert here.asked == ["3.json"]
    assert {thread for _, _, thread in told} == {"MainThread"}
    assert {total for _, total, _ in told} == {sum(found.size for found in files)}
    assert all(0 <= done <= (total or 0) for done, total, _ in told)


def test_nothing_of_a_worker_is_left_behind(
    settings: Settings, logdir: Path, tmp_path: Path
) -> None:
    write(logdir / "0.json", content())
    write(logdir / "1.json", content(do="hang with a child", note=tmp_path / "pid"))
    files = list_files(Place(str(logdir))).files
    cache = Path(settings.cache_dir)
    with _prefetching(files, settings, Here()) as traces:
        traces.take(files[0])
        until((tmp_path / "pid").exists)
        until(lambda: (tmp_path / "pid").read_text())
        _, sidecar = traces._apart[files[1].location]
        # As a worker that is just writing has it.
        Path(f"{sidecar}.x1.part").write_text("half")
    until(lambda: not alive(int((tmp_path / "pid").read_text())))
    assert [path.suffix for path in cache.iterdir() if path.name != "begun.log"] == [".safetensors"]


def test_without_a_cache_nothing_is_kept(settings: Settings, logdir: Path) -> None:
    for name in "ab":
        write(logdir / f"{name}.json", content())
    files = list_files(Place(str(logdir))).files
    with _prefetching(files, Settings(**{**vars(settings), "use_cache": False}), Here()) as traces:
        taken = [traces.take(found)[0] for found in files]
        folder = traces._store.folder().path
    assert [trace.entries for trace in taken] == [len(content())] * 2
    assert not folder.exists()
    assert [path.name for path in Path(settings.cache_dir).iterdir()] == ["begun.log"]


def test_few_files_are_begun_ahead(settings: Settings, logdir: Path, tmp_path: Path) -> None:
    for number in range(40):
        write(logdir / f"{number}.json", content())
    files = list_files(Place(str(logdir))).files
    with _prefetching(files, settings, Here()) as traces:
        for found in files[:3]:
            traces.take(found)
        assert traces._begun == 3 + prefetch.AHEAD_PER_WORKER * settings.workers


def test_little_is_imported_here(
    settings: Settings, logdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.json.gz", "b.json"):
        write(logdir / name, content())
    files = list_files(Place(str(logdir))).files
    text = sum(found.size for found in files) + (store_.SHRUNK - 1) * files[0].size
    for worth, apart in ((text, 2), (text + 1, 0)):
        monkeypatch.setattr(prefetch, "WORTH_BYTES", worth)
        with _prefetching(files, settings, Here()) as traces:
            assert len(traces._apart) == apart


def test_a_path_with_a_bad_file_among_others(settings: Settings, logdir: Path) -> None:
    event = '{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":5}'
    for number in range(6):
        write(
            logdir / f"rank{number}.pt.trace.json",
            f'{{"traceEvents":[{event}]}}' if number != 3 else "",
        )
    found = list(load_all(str(logdir), settings))
    assert [
        item.message if isinstance(item, Unreadable) else item.trace["spans"].n for item in found
    ] == [1, 1, 1, "The file is empty.", 1, 1]
    again = list(load_all(str(logdir), settings))
    assert [item.trace.entries for item in again if not isinstance(item, Unreadable)] == [1] * 5


def test_a_script_without_a_guard_and_its_interruption(
    settings: Settings, logdir: Path, tmp_path: Path
) -> None:
    write(logdir / "0.json", content())
    write(logdir / "1.json", content(do="hang with a child", note=tmp_path / "pid"))
    run = partial(
        subprocess.Popen,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with run(
        [sys.executable, "-", str(logdir), settings.cache_dir],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        try:
            assert process.stdin is not None
            process.stdin.write(SCRIPT)
            process.stdin.close()
            until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
            assert process.stdout is not None
            assert process.stdout.readline() == f"{len(content())}\n"
            process.send_signal(signal.SIGINT)
            assert process.wait(60) != 0
            assert process.stderr is not None
            assert process.stderr.read().rstrip().endswith("KeyboardInterrupt")
        finally:
            process.kill()
    until(lambda: not alive(int((tmp_path / "pid").read_text())))
    assert sorted((Path(settings.cache_dir) / "begun.log").read_text().split()) == [
        "0.json",
        "1.json",
    ]
