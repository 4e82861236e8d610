"""A Perfetto trace in a browser: every view, and a kernel followed to its Python line and its arguments."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.builders.perfetto import from_chrome
from tests.e2e import timeline_traces as drawn
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import VIEWS, Tab
from tests.e2e.server import Server
from tests.e2e.timeline_page import TracePage

Start = Callable[..., Server]
FAILED = ("could not be shown", "could not be imported", "There is no trace")


@pytest.fixture
def server(tmp_path: Path, start: Start) -> Server:
    folder = tmp_path / "logs" / "run"
    folder.mkdir(parents=True)
    data = from_chrome(drawn.chain(), lists=True)
    (folder / "rank0.pftrace.gz").write_bytes(gzip.compress(data))
    found = start(tmp_path / "logs")
    found.settled()
    return found


def test_every_view_and_a_kernel(server: Server, open_tab: OpenTab) -> None:
    tab: Tab = open_tab(server).load()
    wrong = []
    for view in VIEWS:
        tab.go(view, run="run")
        wrong += [f"{view}: {line}" for line in tab.watch.take()]
        wrong += [f"{view}: {tab.text()[:300]}" for sign in FAILED if sign in tab.text()]
    assert wrong == []
    page = TracePage.open(tab, "run")
    page.first_hit(drawn.GEMM, drawn.GEMM, "12")
    for kind, name in (("Operator", "aten::mm"), ("Python line", drawn.SEND)):
        assert page.follow(kind) == name
    page.follow("Device")
    page.details.get_by_role("button", name="All arguments").click()
    expect(page.details).to_contain_text("blocks per SM")
