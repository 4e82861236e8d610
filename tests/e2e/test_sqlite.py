"""Files of Nsight Systems and nvprof in a browser: every view, and a few figures of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import nsight, nvprof
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import VIEWS, Tab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe

Start = Callable[..., Server]
FAILED = ("could not be shown", "could not be imported", "There is no trace")


@pytest.fixture
def server(tmp_path: Path, start: Start) -> Server:
    for run, name, write in (
        ("nsight", "rank0.sqlite", nsight.write_training),
        ("nvprof", "rank0.nvprof", nvprof.write_training),
    ):
        (tmp_path / "logs" / run).mkdir(parents=True)
        write(tmp_path / "logs" / run / name)
    found = start(tmp_path / "logs")
    found.settled()
    return found


def test_every_view_shows_something(server: Server, open_tab: OpenTab) -> None:
    need_axe()
    tab: Tab = open_tab(server).load()
    wrong = []
    for run in ("nsight", "nvprof"):
        for view in VIEWS:
            tab.go(view, run=run)
            where = f"{run} / {view}"
            wrong += [f"{where}: {line}" for line in (*tab.watch.take(), *accessibility(tab.frame))]
            wrong += [f"{where}: {tab.text()[:300]}" for sign in FAILED if sign in tab.text()]
    assert wrong == []
