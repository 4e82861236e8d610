"""``torch-tb-profiler report``: what it waits for. ``tests/e2e/test_report.py`` looks at the file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import pytest

from tests.api.traces import write
from torch_tb_profiler.cli import main, report
from torch_tb_profiler.cli.progress import Progress
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.model import SeenFile, Snapshot, State
from torch_tb_profiler.web.report_page import Answers


class Looks:
    """A catalogue of one file, whose state changes from look to look."""

    def __init__(self, *states: State) -> None:
        self.left = list(states)

    def snapshot(self) -> Snapshot:
        # Its name claims nothing: it stands in no run before its content was looked at.
        return Snapshot(
            "", False, (), files=(SeenFile("profile.json", "", "", "", self.left.pop(0), "", 1),)
        )


@pytest.mark.parametrize("last", [State.READY, State.FAILED, State.REJECTED])
def test_a_file_is_waited_for_whatever_it_is_called(
    last: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "PAUSE_SECONDS", 0)
    told: list[tuple[int, Any]] = []
    progress = Progress("reading", "files")
    monkeypatch.setattr(progress, "update", lambda done, total: told.append((done, total)))
    looks = Looks(State.GROWING, State.WAITING, State.IMPORTING, last)
    report._wait(cast(Catalogue, looks), progress)
    assert (looks.left, told) == ([], [(0, 1), (0, 1), (0, 1), (1, 1)])


def test_nothing_says_where_the_traces_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[bytes] = []

    def page(answers: Answers, title: str, about: str) -> str:
        held.extend(bytes(answer) for answer in answers.values())
        return title

    monkeypatch.setattr("torch_tb_profiler.web.report_page.page", page)
    folder = write(tmp_path / "someone's folder" / "run", "rank0")
    for path in folder.iterdir():
        os.utime(path, (1_600_000_000, 1_600_000_000))
    assert (
        main.main(["report", str(folder), "-o", str(tmp_path / "report.html"), "--no-cache"]) == 0
    )
    assert len(held) > 20
    assert any(b'"logdirs":["run"]' in answer for answer in held)
    assert not any(
        tmp_path.name.encode() in answer or b"someone's folder" in answer for answer in held
    )
