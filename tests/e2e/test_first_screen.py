"""The first screen inside TensorBoard: all of the answer above the fold, kinds of steps first, and keys on every page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.builders.listed import listed
from tests.builders.step_programs import TRAINS, VALIDATES, Step, steps_listed
from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.server import Server

Start = Callable[..., Server]
WIDTH, HEIGHT = 1280, 800


@pytest.mark.parametrize("run", ["synthetic_ddp8", "cnn_workers_0"])
def test_the_facts_end_above_the_fold(open_tab: OpenTab, sample_server: Server, run: str) -> None:
    tab = open_tab(sample_server, width=WIDTH, height=HEIGHT, inside=True)
    tab.load("overview", run=run, of="ranks")
    tab.becomes(lambda: tab.frame.locator(".path-parts").count(), 1)
    box = tab.frame.locator(".foot > summary").bounding_box()
    assert box is not None
    # In the window of TensorBoard, whose own line is above the frame.
    assert box["y"] + box["height"] <= HEIGHT


def test_kinds_are_chosen_above_the_findings_and_have_panels(
    open_tab: OpenTab, start: Start, tmp_path: Path
) -> None:
    train = Step(4100, TRAINS, kernels=("gemm", "relu"), rows=64)
    validate = Step(1500, VALIDATES, kernels=("gemm", "softmax"), rows=64)
    events = listed(steps_listed(([train] * 3 + [validate]) * 3))
    traces.write(
        tmp_path / "run" / "worker.1.pt.trace.json", {**traces.trace(), "traceEvents": events}
    )
    server = start(tmp_path)
    server.settled()
    tab = open_tab(server, width=WIDTH, height=HEIGHT).load("overview", run="run")
    expect(tab.frame.get_by_role("button", name="Training · 9 × 4.10 ms")).to_have_attribute(
        "aria-pressed", "true"
    )
    assert tab.frame.locator(".step-panel").all_inner_texts() == [
        "Training own scale",
        "Validation own scale",
    ]
    tab.frame.get_by_role("button", name="Validation · 3 × 1.50 ms").click()
    expect(tab.frame.locator(".answer-about")).to_contain_text("Validation 8, the median of 3")
    tab.holds(step_kind="validation")


@pytest.mark.parametrize("view", ["overview", "trace", "kernel", "sql"])
def test_a_question_mark_shows_the_keys_of_every_page(
    open_tab: OpenTab, sample_server: Server, view: str
) -> None:
    tab = open_tab(sample_server).load(view, run="cnn_workers_0")
    tab.frame.locator("main").focus()
    tab.page.keyboard.press("?")
    expect(tab.frame.get_by_role("dialog")).to_contain_text("Esc")
