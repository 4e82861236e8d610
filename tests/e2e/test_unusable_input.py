"""Never a silent blank: a logdir without runs, files that are no traces, and an import that dies
all say so on the page.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.server import Server, descendants

Start = Callable[..., Server]


def test_an_empty_logdir_leads_to_the_diagnosis(
    tmp_path: Path, start: Start, open_tab: OpenTab
) -> None:
    logdir = tmp_path / "nothing_here"
    logdir.mkdir()
    tab = open_tab(start(logdir), inside=True).load()
    tab.frame.locator("main").get_by_role("link", name="See all files").first.click()
    tab.idle()
    tab.holds(view="diagnosis")
    assert "nothing_here" in tab.text()


def test_a_logdir_that_does_not_exist_yet(tmp_path: Path, start: Start, open_tab: OpenTab) -> None:
    logdir = tmp_path / "later"
    tab = open_tab(start(logdir)).load("diagnosis")
    assert "later" in tab.text()
    traces.write(logdir / "run" / "worker.1.pt.trace.json", traces.trace())
    tab.run("run").wait_for()


def test_a_run_whose_every_file_is_bad_says_why(
    tmp_path: Path, start: Start, open_tab: OpenTab
) -> None:
    traces.write(tmp_path / "bad" / "empty.pt.trace.json", "")
    traces.write(tmp_path / "bad" / "other.pt.trace.json", '{"weights": [1, 2, 3]}')
    traces.write(tmp_path / "bad" / "text.pt.trace.json", "Traceback (most recent call last):")
    server = start(tmp_path)
    server.settled()
    # A page that asks in the middle of an import is told of its failure by an error.
    server.wait(lambda: not ({*states(server)} - {"failed"}), 20, "the end of all imports")
    tab = open_tab(server).load("diagnosis")
    text = tab.text()
    table = server.get("diagnosis")["files"]
    rows = (dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True))
    files = {row["path"]: row for row in rows}
    assert sorted(Path(path).name for path in files) == [
        "empty.pt.trace.json",
        "other.pt.trace.json",
        "text.pt.trace.json",
    ]
    for path, item in files.items():
        assert item["state"] in ("rejected", "failed")
        assert Path(path).name in text
        assert item["reason"]
        tab.becomes(lambda reason=item["reason"]: reason in tab.text(), True)  # type: ignore[misc]


@pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="needs /proc to find the import's process"
)
def test_an_import_that_died_shows_as_failed_and_leaves_the_others_alone(
    tmp_path: Path, start: Start, open_tab: OpenTab
) -> None:
    large = traces.trace()
    large["traceEvents"] = large["traceEvents"] * 20_000
    traces.write(tmp_path / "run" / "large.1.pt.trace.json", large)
    server = start(tmp_path, workers="1", settle_seconds="0")
    kill_imports(server, "large")
    traces.write(tmp_path / "run" / "small.1.pt.trace.json", traces.trace())
    tab = open_tab(server).load("overview", run="run", worker="large", span="1")
    assert "killed" in tab.text()
    tab.go("diagnosis", run="run")
    assert "killed" in tab.text()
    server.wait(lambda: "small" in str(server.runs()), 20, "the other worker")
    tab.go("overview", run="run", worker="small")
    assert "killed" not in tab.text()
    tab.watch.take()


def states(server: Server) -> list[str]:
    """Of all spans."""
    workers = [worker for run in server.runs() for worker in run["workers"]]
    return [span["state"] for worker in workers for span in worker["spans"]]


def kill_imports(server: Server, worker: str) -> None:
    """Kill whatever imports that worker's trace until it has failed."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        server.get("overview", run="run", worker=worker, span="1")
        spans = [
            s
            for r in server.runs()
            for w in r["workers"]
            if w["name"] == worker
            for s in w["spans"]
        ]
        if spans and spans[0]["state"] == "failed":
            return
        if spans and spans[0]["state"] == "importing":
            for pid in descendants(server.process.pid):
                if b"runs.worker" in command(pid):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    raise AssertionError(f"the import of {worker} never failed: {server.runs()}")


def command(pid: int) -> bytes:
    """The command line of a process, empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
