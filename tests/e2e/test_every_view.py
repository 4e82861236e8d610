"""Every view of every run: samples in both themes, each public trace in one. It shows something,
and the browser has nothing to complain about.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.e2e.gallery import Gallery
from tests.e2e.pages import VIEWS, Tab
from tests.e2e.server import Server
from tests.e2e.watch import AXE, accessibility

OUTPUT = Path(__file__).resolve().parents[2] / "test-output"
THEMES = (False, True)


def need_axe() -> None:
    """The rules come with the page's own development packages."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: npm ci --prefix fe")


def look(
    tab: Tab, run: dict[str, Any], gallery: Gallery, asked: Sequence[str] = VIEWS
) -> list[str]:
    """Go through the views of a run's first worker, asking axe of those named; what is wrong, one
    line each.
    """
    wrong = []
    for view in VIEWS:
        where = f"{run['name']} / {view} / {'dark' if tab.dark else 'light'}"
        tab.go(view, run=run["name"])
        wrong += [
            f"{where}: {line}"
            for line in (*tab.watch.take(), *(accessibility(tab.frame) if view in asked else ()))
        ]
        if any(
            sign in tab.text()
            for sign in ("could not be shown", "could not be imported", "There is no trace")
        ):
            wrong.append(f"{where}: {tab.text()[:300]}")
        if tab.frame.evaluate("document.documentElement.dataset.theme") != (
            "dark" if tab.dark else "light"
        ):
            wrong.append(f"{where}: the theme is not TensorBoard's")
        gallery.add(tab, where)
    return wrong


def go_through(
    browser: Browser, server: Server, name: str, *, alternating: bool = False
) -> tuple[int, list[str]]:
    """All runs in both themes, or each in one and with a third of its views before axe; (views
    seen, what is wrong).
    """
    gallery = Gallery(OUTPUT / name)
    wrong: list[str] = []
    for dark in THEMES:
        with Tab(browser, server, dark=dark).load() as tab:
            for number, run in enumerate(server.runs()):
                if not alternating or number % 2 == int(dark):
                    # Axe takes longer than all else. Each view of the samples is asked, and each
                    # view of every third public trace.
                    wrong += look(
                        tab, run, gallery, VIEWS[number % 3 :: 3] if alternating else VIEWS
                    )
    gallery.sheet(browser)
    return gallery.count, wrong


def test_samples(browser: Browser, sample_server: Server) -> None:
    need_axe()
    seen, wrong = go_through(browser, sample_server, "samples")
    assert wrong == []
    assert seen == len(sample_server.runs()) * len(VIEWS) * len(THEMES) > 0


def test_public_traces(browser: Browser, real_server: Server) -> None:
    need_axe()
    seen, wrong = go_through(browser, real_server, "public_traces", alternating=True)
    assert wrong == []
    assert seen == len(real_server.runs()) * len(VIEWS) > 0
