"""The one file of ``torch-tb-profiler report``: opened from a disk it shows every view, asks nobody
anything, and says what it does not hold.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.builders.loop import span
from tests.e2e.pages import IDLE, VIEWS
from tests.e2e.watch import Watch, accessibility, need_axe
from torch_tb_profiler.cli import main

PATIENCE_MS = 60_000
SAMPLE = "samples/synthetic_ddp8"
NOT_HELD = ("trace", "diff", "sql")
PARTS_NOT_HELD = ("memory", "distributed")
"""Comparing two instants needs a server, and so does simulating a run without stragglers."""


@pytest.fixture(scope="module")
def report(repository: Path, built_page: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    assert main.main(["report", str(repository / SAMPLE), "--most", "2", "-o", str(file)]) == 0
    return file


@pytest.fixture
def page(browser: Browser, report: Path) -> Iterator[tuple[Page, Watch]]:
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, reduced_motion="reduce", offline=True
    )
    opened = context.new_page()
    yield opened, Watch(opened, report.as_uri())
    context.close()


def show(page: Page, report: Path, view: str, **more: str) -> None:
    page.goto("about:blank")
    page.goto(
        f"{report.as_uri()}#view={view}" + "".join(f"&{key}={value}" for key, value in more.items())
    )
    page.wait_for_function(IDLE, timeout=PATIENCE_MS)


def test_every_view_opens_from_the_file(page: tuple[Page, Watch], report: Path) -> None:
    need_axe()
    tab, watch = page
    for view in VIEWS:
        show(tab, report, view)
        if view in NOT_HELD:
            # Views that come later load after the page.
            expect(tab.get_by_text("Not part of this report").first).to_be_visible(
                timeout=PATIENCE_MS
            )
        if view == "trace":
            expect(tab.get_by_text("torch-tb-profiler serve LOGDIR")).to_be_visible()
        text = tab.locator("main").inner_text()
        if view not in PARTS_NOT_HELD:
            assert ("Not part of this report" in text) == (view in NOT_HELD), view
        assert "could not be shown" not in text
        assert watch.take() == [], view
        # What the page shows of a server, too, is asked for there.
        if view in (*NOT_HELD, *PARTS_NOT_HELD):
            assert accessibility(tab.main_frame) == [], view


def test_the_figures_are_those_of_the_step_and_the_worker(
    page: tuple[Page, Watch], report: Path
) -> None:
    tab, _ = page
    show(tab, report, "kernel")
    expect(tab.locator("main")).to_contain_text(
        "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_TNT", timeout=PATIENCE_MS
    )
    texts = []
    for steps in ("", "3"):
        show(tab, report, "overview", steps=steps)
        texts.append(str(tab.locator("main").text_content()))
    assert texts[0] != texts[1]
    show(tab, report, "overview", worker="rank1")
    expect(tab.get_by_label("Worker", exact=True)).to_have_value("rank1")
    texts.append(tab.locator("main").inner_text())
    assert "Not part" not in "".join(texts)


def test_a_report_names_nothing_as_markup(tmp_path: Path, browser: Browser) -> None:
    trace = tmp_path / "<img src=x onerror=alert(1)>.pt.trace.json"
    event = span("cpu_op", "</script><script>document.title = 1</script>", 1, 1, 1, 5)
    trace.write_text(json.dumps({"traceEvents": [event]}))
    file = tmp_path / "report.html"
    assert main.main(["report", str(trace), "-o", str(file), "--no-cache"]) == 0
    tab = browser.new_page()
    show(tab, file, "operator")
    assert "</script><script>" in tab.locator("main").inner_text()
    assert tab.title() != "1"
    tab.close()


def test_it_is_printed_on_white_with_nothing_to_press(
    page: tuple[Page, Watch], report: Path
) -> None:
    tab, _ = page
    tab.emulate_media(color_scheme="dark")
    show(tab, report, "operator")
    ground = "() => getComputedStyle(document.querySelector('.panel')).backgroundColor"
    assert tab.evaluate(ground) != "rgb(255, 255, 255)"
    places = tab.get_by_role("navigation", name="Places")
    expect(places).to_be_visible()
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate(ground) == "rgb(255, 255, 255)"
    expect(places).to_be_hidden()
    expect(tab.locator("main button:visible").filter(has_text="CSV")).to_have_count(0)
    # The table, and of which trace it is.
    expect(tab.get_by_role("grid").first).to_be_visible()
    expect(tab.get_by_role("button", name="Run: ")).to_be_visible()
