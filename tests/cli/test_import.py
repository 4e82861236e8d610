"""``import``: what is made, found and failed, in one line or in JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.api.traces import write
from torch_tb_profiler.api.frames import RunFrames
from torch_tb_profiler.cli import main

pytestmark = pytest.mark.processes


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    write(tmp_path / "log" / "run", "rank0", "rank1")
    return tmp_path / "log"


def test_everything_is_made_once(
    logdir: Path, cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["import", str(logdir)]) == 0
    first = capfd.readouterr()
    assert first.out.startswith("2 of 2 traces are ready: ")
    assert first.out.endswith(", by this machine\n")
    made = {path.name: path.stat().st_ino for path in cache.iterdir()}
    assert sum(".insight." in name for name in made) == 2
    assert main.main(["import", str(logdir), "--workers", "1"]) == 0
    assert capfd.readouterr().out.startswith("2 of 2 traces are ready, 2 of them were before: ")
    assert {path.name: path.stat().st_ino for path in cache.iterdir()} == made


def test_a_trace_that_fails_is_named_and_counted(
    logdir: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (logdir / "run" / "rank2.pt.trace.json").write_bytes(b"")
    assert main.main(["import", str(logdir), "--json"]) == 1
    said = capfd.readouterr()
    result = json.loads(said.out)
    assert (result["ready"], result["failed"], result["scheduler"]) == (2, 1, None)
    failed = [trace for trace in result["traces"] if trace["state"] == "failed"]
    assert [trace["path"] for trace in failed] == ["run/rank2.pt.trace.json"]
    assert said.err.count("run/rank2.pt.trace.json") == 1


def test_a_scheduler_that_cannot_be_reached_ends_it(
    logdir: Path, cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed")
    assert main.main(["import", str(logdir), "--scheduler", "tcp://127.0.0.1:9"]) == 2
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.startswith(
        "torch-tb-profiler: The Dask scheduler tcp://127.0.0.1:9 cannot be reached ("
    )
    assert not list(cache.glob("*"))


def test_what_does_not_outlast_the_command_is_not_called_ready(
    logdir: Path, cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    cache.write_bytes(b"no folder")
    assert main.main(["import", str(logdir)]) == 1
    said = capfd.readouterr()
    assert said.out.startswith("0 of 2 traces are ready, 2 failed: ")
    assert said.err.count(f"does not outlast this command. The cache folder {cache} ") == 2


@pytest.mark.parametrize("kind", ["missing", "empty", "no cache"])
def test_nothing_to_do_is_refused_in_one_line(
    kind: str, logdir: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "empty":
        for path in (logdir / "run").iterdir():
            path.unlink()
    if kind == "no cache":
        monkeypatch.setenv("TORCH_TB_PROFILER_USE_CACHE", "0")
    assert main.main(["import", str(logdir / "nowhere" if kind == "missing" else logdir)]) == 2
    said = capfd.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)


def test_open_has_a_cluster_make_everything(logdir: Path, cache: Path) -> None:
    pytest.importorskip("distributed")
    import torch_tb_profiler
    from tests.runs.clusters import threads

    with threads() as scheduler:
        run = torch_tb_profiler.open(str(logdir), scheduler=scheduler)
    assert isinstance(run, RunFrames)
    assert sum(".insight." in path.name for path in cache.iterdir()) == 2
