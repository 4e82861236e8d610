"""Files of Nsight Systems and nvprof in a browser: every view, and a few figures of each."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.builders import nsight, nvprof
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import PATIENCE_MS, VIEWS, Tab
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


@pytest.mark.parametrize(
    ("run", "device", "operator", "kernel"),
    [
        ("nsight", "NVIDIA A100-SXM4-40GB", "aten::addmm", "ampere_fp16_s16816gemm_fp16_128x64"),
        ("nvprof", "Tesla V100-SXM2-16GB", "AddmmBackward", "volta_fp16_s884gemm_fp16_64x64"),
    ],
)
def test_figures(
    run: str, device: str, operator: str, kernel: str, server: Server, open_tab: OpenTab
) -> None:
    tab: Tab = open_tab(server).load("overview", run=run)
    main = tab.frame.locator("main")
    # Three steps of 899 µs in all.
    expect(main).to_contain_text("899", timeout=PATIENCE_MS)
    expect(main).to_contain_text(device)
    tab.go("operator", run=run)
    expect(
        tab.frame.get_by_role("row").filter(has_text=re.compile(re.escape(operator))).first
    ).to_contain_text("3", timeout=PATIENCE_MS)
    tab.go("kernel", run=run)
    expect(main).to_contain_text(kernel, timeout=PATIENCE_MS)
    tab.go("trace", run=run)
    expect(tab.frame.get_by_text("GPU 0").first).to_be_visible(timeout=PATIENCE_MS)
