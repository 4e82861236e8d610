"""Every view of samples in both themes, each of two samples, and of databases of other tools in one; every night all views
of all samples, and half of the views of each public trace. They show something, and the browser has nothing to complain about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.builders import nsight, nvprof
from tests.e2e.gallery import Gallery
from tests.e2e.pages import VIEWS, Tab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe, without_room

OUTPUT = Path(__file__).resolve().parents[2] / "test-output"
BLANK = ("could not be shown", "could not be imported", "There is no trace")


def look(
    tab: Tab,
    run: str,
    gallery: Gallery,
    asked: Sequence[str],
    *,
    views: Sequence[str] = VIEWS,
    everything: bool = True,
) -> list[str]:
    """Go through views of a run's first worker, asking axe of those named and keeping a picture
    of them; what is wrong, one line each.
    """
    theme = "dark" if tab.dark else "light"
    wrong = []
    for view in views:
        where = f"{run} / {view} / {theme}"
        tab.go(view, run=run)
        lines = tab.watch.take() + without_room(tab.frame)
        if view in asked:
            lines += accessibility(tab.frame, colours_only=not everything)
            gallery.add(tab, where)
        if any(sign in tab.text() for sign in BLANK):
            lines.append(tab.text()[:300])
        if tab.frame.evaluate("document.documentElement.dataset.theme") != theme:
            lines.append("the theme is not TensorBoard's")
        wrong += [f"{where}: {line}" for line in lines]
    return wrong


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("share", [3, pytest.param(1, marks=pytest.mark.nightly)])
def test_samples(browser: Browser, sample_server: Server, dark: bool, share: int) -> None:
    need_axe()
    runs = [run["name"] for run in sample_server.runs()]
    gallery, wrong = Gallery(OUTPUT / f"samples_{'dark' if dark else 'light'}"), []
    with Tab(browser, sample_server, dark=dark, inside=True).load() as tab:
        for number, run in enumerate(runs):
            # Each theme has axe and pictures, which take longest, of half of the views of a run. What the theme cannot
            # change is asked of the light one, which shows the other half too.
            mine = VIEWS[number % share :: share]
            asked = mine[(number // share + dark) % 2 :: 2]
            views = asked if dark else mine
            wrong += look(tab, run, gallery, asked, views=views, everything=not dark)
    gallery.sheet(browser)
    assert wrong == []
    assert gallery.count >= len(runs) * (len(VIEWS) // share // 2) > 0


def test_databases_of_other_tools(
    browser: Browser, start: Callable[..., Server], tmp_path: Path
) -> None:
    for name, write in (
        ("rank0.sqlite", nsight.write_training),
        ("rank0.nvprof", nvprof.write_training),
    ):
        (tmp_path / "logs" / name).mkdir(parents=True)
        write(tmp_path / "logs" / name / name)
    server = start(tmp_path / "logs")
    server.settled()
    gallery, wrong = Gallery(tmp_path / "pictures"), []
    with Tab(browser, server).load() as tab:
        for number, run in enumerate(("rank0.sqlite", "rank0.nvprof")):
            wrong += look(tab, run, gallery, (), views=VIEWS[number::2])
    assert wrong == []


@pytest.mark.nightly
@pytest.mark.parametrize("dark", [False, True])
def test_public_traces(
    browser: Browser, start: Callable[..., Server], real_traces: Path, dark: bool
) -> None:
    need_axe()
    server = start(real_traces)
    runs = [run["name"] for run in server.settled()]
    gallery, wrong = Gallery(OUTPUT / f"public_traces_{'dark' if dark else 'light'}"), []
    with Tab(browser, server, dark=dark, inside=True).load() as tab:
        for number, run in enumerate(runs):
            # Each run in one theme: half of its views, with axe and pictures of a third of them. `tests/web` asks for the
            # data of all views of all traces.
            if number % 2 == int(dark):
                views = VIEWS[number // 2 % 2 :: 2]
                wrong += look(tab, run, gallery, views[number % 3 :: 3], views=views)
    gallery.sheet(browser)
    assert wrong == []
    assert gallery.count >= len(runs[int(dark) :: 2]) * (len(VIEWS) // 6) > 0
