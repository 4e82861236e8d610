"""Folders as frameworks write them, and archives of them, in a browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.server import Server

Start = Callable[..., Server]


def write_torchtitan(folder: Path) -> None:
    """Two ranks, each recorded at two iterations."""
    for number in (20, 100):
        for rank in (0, 1):
            content = traces.trace(number)
            content["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 2}
            traces.write(
                folder / "profiling" / "traces" / f"iteration_{number}" / f"rank{rank}_trace.json",
                content,
            )


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_iterations_of_two_ranks_are_spans_of_two_workers(
    form: str, tmp_path: Path, start: Start, open_tab: OpenTab
) -> None:
    job, logs = tmp_path / "job", tmp_path / "logs"
    logs.mkdir()
    write_torchtitan(job)
    name = {"folder": "job", "zip": "job.zip"}[form]
    if form == "folder":
        job.rename(logs / "job")
    else:
        shutil.make_archive(str(logs / "job"), form, job)
    server = start(logs)
    server.settled()

    tab = open_tab(server).load("overview")
    tab.becomes(
        lambda: tab.state().get("run", f"{name}/profiling/traces"), f"{name}/profiling/traces"
    )
    spans = tab.select("Span")
    expect(spans.locator("option")).to_have_text(["1 · iteration_20", "2 · iteration_100"])
    spans.select_option(label="2 · iteration_100")
    tab.idle()
    assert tab.state()["span"] == "iteration_100"
    expect(tab.select("Worker").locator("option")).to_have_count(2)
    steps = tab.frame.locator("main")
    expect(steps).to_contain_text("step 102, the median")
