"""Imports that die, hang or raise leave a reason, and everything else untouched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runs.conftest import OBEY, Start, alive, spans, states, until, write
from tests.runs.targets import content
from torch_tb_profiler.errors import ImportFailed
from torch_tb_profiler.runs import catalogue as catalogue_
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.model import State
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")


def failed(catalogue: Catalogue, path: str) -> str:
    until(lambda: states(catalogue).get(path) == "failed", path)
    return spans(catalogue)[path].message


def test_a_killed_worker_leaves_a_reason_and_the_others_untouched(
    logdir: Path, start: Start, settings: Settings
) -> None:
    write(logdir / "run" / "a.json", content(do="hang"))
    write(logdir / "run" / "b.json", content())
    catalogue = start(logdir, Settings(**{**vars(settings), "workers": 1}))
    until(lambda: (s := spans(catalogue).get("run/a.json")) and s.progress == 0.5)
    (pid,) = catalogue.store.queue.worker_pids().values()
    os.kill(pid, signal.SIGKILL)
    message = failed(catalogue, "run/a.json")
    assert "The import process was killed (signal 9), but not because memory ran out" in message
    until(lambda: states(catalogue)["run/b.json"] == "ready")
    with pytest.raises(ImportFailed, match="signal 9"):
        catalogue.open("run", "a", "trace")
    catalogue.open("run", "b", "trace")


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ("die", "killed (signal 9)"),
        ("crash", "crashed (signal 11, SIGSEGV)"),
        ("leave", "ended with exit status 3"),
        ("raise", "The import raised ValueError: boom (targets.py, line "),
        ("swallow", "ran out of memory"),
    ],
)
def test_every_end_has_its_words(do: str, message: str, logdir: Path, start: Start) -> None:
    write(logdir / "run" / "a.json", content(do=do))
    write(logdir / "run" / "b.json", content())
    catalogue = start(logdir)
    assert message in failed(catalogue, "run/a.json")
    until(lambda: states(catalogue)["run/b.json"] == "ready")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts all that is allocated")
def test_an_import_beyond_the_memory_that_a_setting_allows(
    logdir: Path, start: Start, settings: Settings
) -> None:
    """It ends with that, is not tried again, and its process goes on with other files."""
    limit = {"max_import_memory_bytes": 256 << 20, "workers": 1}
    write(logdir / "run" / "a.json", content(do="allocate"))
    write(logdir / "run" / "b.json", content())
    catalogue = start(logdir, Settings(**{**vars(settings), **limit}))
    message = failed(catalogue, "run/a.json")
    assert message.startswith("It needs more than 256 MiB of memory, the limit of an import.")
    assert "TORCH_TB_PROFILER_MAX_IMPORT_MEMORY_BYTES" in message
    assert "tried again" not in message
    until(lambda: states(catalogue)["run/b.json"] == "ready")


def test_an_import_within_the_memory_that_a_setting_allows(
    logdir: Path, start: Start, settings: Settings
) -> None:
    write(logdir / "run" / "a.json", content(do="allocate"))
    limit = {"max_import_memory_bytes": 2 << 30}
    catalogue = start(logdir, Settings(**{**vars(settings), **limit}))
    until(lambda: states(catalogue).get("run/a.json") == "ready")


def test_a_hanging_import_is_stopped_with_its_children(
    logdir: Path, start: Start, settings: Settings, tmp_path: Path
) -> None:
    write(logdir / "run" / "a.json", content(do="hang with a child", note=tmp_path / "pid"))
    catalogue = start(logdir, Settings(**{**vars(settings), "import_timeout_seconds": 5.0}))
    assert "made no progress for 5 s" in failed(catalogue, "run/a.json")
    child = int((tmp_path / "pid").read_text())
    until(lambda: not alive(child))


def test_what_an_import_prints_disturbs_nothing(logdir: Path, start: Start) -> None:
    write(logdir / "run" / "a.json", content(do="print"))
    catalogue = start(logdir)
    until(lambda: states(catalogue).get("run/a.json") == "ready")


def test_a_run_whose_every_file_is_bad_is_listed_with_the_reasons(
    logdir: Path, start: Start
) -> None:
    write(logdir / "run" / "rank0.pt.trace.json", "")
    write(logdir / "run" / "rank1.pt.trace.json", content(do="refuse"))
    write(logdir / "run" / "rank2.pt.trace.json", content(do="raise"))
    catalogue = start(logdir)
    until(lambda: sorted(states(catalogue).values()) == ["failed"] * 3)
    (run,) = catalogue.snapshot().runs
    messages = [w.spans[0].message for w in run.workers]
    assert messages[:2] == ["The file is empty.", "There is nothing in it."]
    assert "boom" in messages[2]
    assert [f.reason for f in catalogue.snapshot().files] == messages


def test_a_foreign_file_that_the_import_refuses_is_rejected(logdir: Path, start: Start) -> None:
    write(logdir / "run" / "a.json", content(do="refuse"))
    catalogue = start(logdir)
    until(lambda: states(catalogue).get("run/a.json") == "rejected")
    assert catalogue.snapshot().runs == ()
    assert catalogue.snapshot().files[0].reason == "There is nothing in it."


def test_a_bad_file_is_tried_again_when_it_changes(logdir: Path, start: Start) -> None:
    path = write(logdir / "run" / "a.json", content(do="raise"))
    catalogue = start(logdir)
    failed(catalogue, "run/a.json")
    path.write_text(content())
    until(lambda: states(catalogue)["run/a.json"] == "ready")


def test_a_place_that_could_not_be_read_is_tried_again(
    logdir: Path, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue_, "RETRY_SECONDS", 0.2)
    write(logdir / "run" / "a.json", content(do="wait for", note=tmp_path / "back"))
    catalogue = start(logdir)
    until(lambda: "failed" in states(catalogue).values())
    (tmp_path / "back").touch()
    until(lambda: states(catalogue)["run/a.json"] == "ready")


def test_a_file_that_nobody_foresaw_does_not_end_the_scanner(
    logdir: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(place: Place) -> str | None:
        return str(1 // 0) if place.name == "a.json" else None

    monkeypatch.setattr("torch_tb_profiler.sources.sniff.rejection", broken)
    write(logdir / "run" / "a.json", content())
    write(logdir / "run" / "b.json", content())
    catalogue = start(logdir)
    until(lambda: states(catalogue) == {"run/a.json": "failed", "run/b.json": "ready"})
    assert "ZeroDivisionError" in catalogue.snapshot().files[0].reason


def test_a_missing_driver_is_in_the_diagnosis(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    catalogue = start("s3://bucket/logs")
    until(lambda: not catalogue.snapshot().scanning)
    (note,) = catalogue.snapshot().notes
    assert "needs the package s3fs" in note
    assert "pip install" in note


def test_a_changed_file_stops_its_import(logdir: Path, start: Start) -> None:
    path = write(logdir / "run" / "a.json", content(do="hang"))
    catalogue = start(logdir)
    until(lambda: catalogue.store.queue.worker_pids())
    (pid,) = catalogue.store.queue.worker_pids().values()
    path.write_text(content())
    until(lambda: states(catalogue)["run/a.json"] == "ready")
    until(lambda: not alive(pid))


def test_closing_ends_the_workers(logdir: Path, start: Start) -> None:
    write(logdir / "run" / "a.json", content(do="hang"))
    catalogue = start(logdir)
    until(lambda: catalogue.store.queue.worker_pids())
    (pid,) = catalogue.store.queue.worker_pids().values()
    catalogue.close()
    assert not alive(pid)
    assert spans(catalogue)["run/a.json"].state is not State.FAILED


SCRIPT = f"""
import sys, time
print("main", flush=True)
from torch_tb_profiler.runs import catalogue as catalogue_
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
catalogue = Catalogue({{"": Place(sys.argv[1])}}, Settings(workers=1, cache_dir=sys.argv[2], scan_seconds=0.1), makers={{"import": {OBEY!r}}})
catalogue.start()
while not catalogue.store.queue.worker_pids() or not all(s.progress for r in catalogue.snapshot().runs for w in r.workers for s in w.spans):
    time.sleep(0.02)
print(*catalogue.store.queue.worker_pids().values(), flush=True)
time.sleep(600)
"""


def test_workers_do_not_run_the_main_script_and_die_with_it(
    logdir: Path, settings: Settings, repository: Path, tmp_path: Path
) -> None:
    write(logdir / "run" / "a.json", content(do="hang"))
    script = write(tmp_path / "script.py", SCRIPT)
    environment = {**os.environ, "PYTHONPATH": str(repository)}
    with subprocess.Popen(
        [sys.executable, str(script), str(logdir), settings.cache_dir],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "main\n"
        pid = int(process.stdout.readline())
        assert alive(pid)
        process.kill()
    until(lambda: not alive(pid))
