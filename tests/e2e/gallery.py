"""Keeps a picture of everything that was looked at, and lays all of them on one sheet for human
eyes. As a program it looks at every section of runs, in both themes and three widths, and prints
what is wrong:

    python -m tests.e2e.gallery LOGDIR OUT [--runs NAME NAME:OTHER] [--views overview kernel]

``NAME:OTHER`` compares the two.
"""

from __future__ import annotations

import argparse
import html
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, sync_playwright

from tests.e2e import browser as chromium
from tests.e2e.pages import VIEWS, Tab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, without_room

WINDOWS = {1440: 900, 1280: 800, 390: 844}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PATIENCE_MS = 600_000
_STYLE = (
    "body{font:13px"
    " sans-serif;display:grid;grid-template-columns:repeat(5,1fr);gap:10px}figure{margin:0}img{width:100%;border:1px"
    " solid #888}"
)


class Gallery:
    """Pictures in a folder that is emptied first."""

    def __init__(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self._folder = folder
        self._pictures: list[tuple[str, str]] = []

    @property
    def count(self) -> int:
        """Pictures taken."""
        return len(self._pictures)

    def add(self, tab: Tab, title: str) -> None:
        """A picture of what the tab shows now."""
        name = re.sub(r"[^\w.-]+", "_", title) + ".jpeg"
        tab.page.screenshot(path=self._folder / name, type="jpeg", quality=70)
        self._pictures.append((title, name))

    def sheet(self, browser: Browser) -> None:
        """``index.html`` with all pictures, and ``sheet.jpeg``, a picture of it."""
        figures = "".join(
            f'<figure><a href="{n}"><img src="{n}"'
            f' alt=""></a><figcaption>{html.escape(t)}</figcaption></figure>'
            for t, n in self._pictures
        )
        index = self._folder / "index.html"
        index.write_text(
            "<!doctype html><meta"
            f" charset=utf-8><title>Views</title><style>{_STYLE}</style>{figures}",
            encoding="utf-8",
        )
        page = browser.new_page(viewport={"width": 2000, "height": 1000})
        page.goto(index.as_uri())
        page.screenshot(path=self._folder / "sheet.jpeg", type="jpeg", quality=60, full_page=True)
        page.close()


def looked_at(tab: Tab, run: str, view: str, gallery: Gallery) -> list[str]:
    """One section in all windows and themes; what is wrong, one line each."""
    name, _, other = run.partition(":")
    tab.page.set_viewport_size({"width": 1440, "height": 900})
    tab.load(view, run=name, run2=other)
    found = set(tab.watch.take())
    for width, height in WINDOWS.items():
        tab.page.set_viewport_size({"width": width, "height": height})
        for theme in THEMES:
            tab.page.emulate_media(color_scheme=theme)
            tab.idle(PATIENCE_MS)
            gallery.add(tab, f"{run} {view} {width} {theme}")
            if width != 1280:
                found |= {
                    f"{width} {theme}: {line}"
                    for line in accessibility(tab.frame, colours_only=theme == "dark")
                }
        found |= {f"{width}: {line}" for line in without_room(tab.frame)}
    return sorted(found | {*tab.watch.take()})


def main() -> int:
    """Look at what the arguments say."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("logdir", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--runs", nargs="+", help="all without this")
    parser.add_argument("--views", nargs="+", default=VIEWS)
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    gallery, wrong = Gallery(options.out), 0
    with (
        tempfile.TemporaryDirectory() as scratch,
        sync_playwright() as playwright,
        Server(options.logdir, options.cache or Path(scratch)) as server,
    ):
        browser = chromium.launch(playwright)
        for run in options.runs or [run["name"] for run in server.settled()]:
            with Tab(browser, server, width=1440) as tab:
                for view in options.views:
                    try:
                        found = looked_at(tab, run, view, gallery)
                    except Exception as error:
                        found = [f"stopped: {str(error).splitlines()[0]}"]
                    wrong += len(found)
                    print(*(f"{run} / {view}: {line}" for line in found), sep="\n", flush=True)
        gallery.sheet(browser)
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
