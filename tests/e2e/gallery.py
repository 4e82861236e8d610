"""Keeps a picture of everything that was looked at, and lays all of them on one sheet for human
eyes.
"""

from __future__ import annotations

import html
import re
import shutil
from pathlib import Path

from playwright.sync_api import Browser

from tests.e2e.pages import Tab

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
