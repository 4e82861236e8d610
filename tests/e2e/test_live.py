"""A job that listens is recorded from the page, under TensorBoard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.e2e.conftest import OpenTab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe
from tests.live.conftest import torch
from tests.live.test_listen import stepping
from torch_tb_profiler.live.listener import listen

__all__ = ["torch"]


def test_the_button_records_a_job(
    torch: Any, open_tab: OpenTab, start: Callable[..., Server], tmp_path: Path
) -> None:
    need_axe()
    with listen(directory=tmp_path / "run", scalars=False) as job, stepping(job):
        server = start(tmp_path)
        tab = open_tab(server).load("diagnosis")
        panel = tab.frame.locator(".job")
        expect(panel).to_contain_text("ranks 0")
        panel.get_by_label("Token").fill(job.token)
        panel.get_by_role("button", name="Record", exact=True).click()
        expect(panel.get_by_role("status").first).to_contain_text("recorded on 1 of 1 rank")
        assert accessibility(tab.frame) == []
        # What was recorded comes into the list of files by itself.
        expect(tab.grid("Files")).to_contain_text("run/worker0", timeout=60_000)
