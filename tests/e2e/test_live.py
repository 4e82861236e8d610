"""A job that listens is shown with the command that records it, and what was recorded appears on the page."""

from __future__ import annotations

import shlex
import subprocess
import sys
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


def test_the_shown_command_records_a_job(
    torch: Any, open_tab: OpenTab, start: Callable[..., Server], tmp_path: Path
) -> None:
    need_axe()
    with listen(directory=tmp_path / "run", scalars=False) as job, stepping(job):
        server = start(tmp_path)
        tab = open_tab(server).load("diagnosis")
        panel = tab.frame.locator(".job")
        expect(panel).to_contain_text("ranks 0")
        assert accessibility(tab.frame) == []
        program, *words = shlex.split(panel.locator("code").inner_text())
        assert program == "torch-tb-profiler"
        subprocess.run([sys.executable, "-m", "torch_tb_profiler", *words], check=True, timeout=120)
        # What was recorded appears in the list of files by itself.
        expect(tab.grid("Files")).to_contain_text("run/worker0", timeout=60_000)
