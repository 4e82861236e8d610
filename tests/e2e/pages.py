"""Drives the plugin's page: opens addresses, alone or in TensorBoard, and waits until nothing is on
its way any more.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode

from playwright.sync_api import Browser, Frame, Locator, Page, expect

from tests.e2e.server import PLUGIN, Server
from tests.e2e.watch import Watch
from torch_tb_profiler.views.ask.names import SECTIONS

T = TypeVar("T")
VIEWS = tuple(SECTIONS)
PLACES = {
    "Overview": ("overview", "diff"),
    "Trace": ("trace", "critical_path"),
    "Steps": ("steps", "distributed", "iterations"),
    "Operators": ("operator", "module", "lines", "api_calls"),
    "Kernels": ("efficiency", "kernel", "counters"),
    "Memory": ("memory",),
    "More": ("sql", "diagnosis"),
}
"""The places of the line, by what they are called in a run of one rank, and their sections."""
PREFIX = f"p.{PLUGIN}."
PATIENCE_MS = 60_000

TOUR_DONE = "try { localStorage.setItem('pytorch_profiler.tour', 'done'); } catch { }"
STILL_MS = 150
POLL_MS = 30
"""Polling at each frame, the default, has the browser draw frames all the time."""
IDLE = f"""
() => {{
  const waiting = document.querySelector('[role="progressbar"], .skeleton, [aria-busy="true"]');
  const main = document.querySelector("main");
  // A view's place is there for a moment before what it waits for is asked for.
  if (waiting !== null || main === null || main.textContent.trim().length === 0) delete window.__idle_since;
  else window.__idle_since ??= performance.now();
  return performance.now() - window.__idle_since > {STILL_MS};
}}
"""
"""The page has shown something and waited for nothing for a while."""


class Tab:
    """A browser page that shows the plugin as TensorBoard serves it: alone, which is there in a
    fraction of the time, or ``inside`` TensorBoard's own page.
    """

    def __init__(
        self,
        browser: Browser,
        server: Server,
        dark: bool = False,
        width: int = 1400,
        height: int = 900,
        inside: bool = False,
        tour: bool = False,
        **options: Any,
    ) -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            reduced_motion="reduce",
            color_scheme="dark" if dark and not inside else "light",
            **options,
        )
        if not tour:
            self.context.add_init_script(TOUR_DONE)
        self.page: Page = self.context.new_page()
        self.server = server
        self.dark = dark
        self.inside = inside
        self.watch = Watch(self.page, server.url)

    def __enter__(self) -> Tab:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def load(self, view: str = "", **selection: str) -> Tab:
        """Load an address, as a pasted link does."""
        self.page.goto("about:blank")
        theme = f"?darkMode={str(self.dark).lower()}"
        path = theme if self.inside else f"data/plugin_entry.html?name={PLUGIN}"
        self.page.goto(f"{self.server.url}/{path}#{self.address(view, selection)}")
        self.idle()
        return self

    def go(self, view: str, **selection: str) -> Tab:
        """Go to an address without loading the page again."""
        hash = self.address(view, selection)
        self.page.evaluate("(hash) => { location.hash = hash; }", hash)
        expect(self.tab(view)).to_have_attribute("aria-current", "page", timeout=PATIENCE_MS)
        self.idle()
        return self

    @property
    def frame(self) -> Frame:
        """The plugin's frame, which is the page itself where it is alone."""
        if not self.inside:
            return self.page.main_frame
        self.page.wait_for_selector("iframe", timeout=PATIENCE_MS)
        found = next(
            (f for f in self.page.frames if "plugin_entry.html" in f.url and PLUGIN in f.url), None
        )
        if found is None:
            self.page.wait_for_timeout(200)
            return self.frame
        return found

    def idle(self, patience_ms: int = PATIENCE_MS) -> None:
        """Wait until the page shows something and waits for nothing; an endless spinner ends here."""
        self.frame.wait_for_selector("main", timeout=patience_ms)
        self.frame.evaluate("delete window.__idle_since")
        self.frame.wait_for_function(IDLE, timeout=patience_ms, polling=POLL_MS)

    def becomes(self, ask: Callable[[], T | None], wanted: T) -> None:
        """Wait until a question about the page has the answer that is wanted; fail with the last
        answer.
        """
        end = time.monotonic() + PATIENCE_MS / 1000
        while (found := ask()) != wanted and time.monotonic() < end:
            self.page.wait_for_timeout(20)
        assert found == wanted

    def holds(self, **wanted: str | None) -> None:
        """Wait until the address has these keys, and has not those that are None: it is written a
        moment after what it says is drawn.
        """
        self.becomes(lambda: {key: self.state().get(key) for key in wanted}, wanted)

    def key(self, name: str) -> str:
        """A key of the address, waited for."""
        self.becomes(lambda: name in self.state(), True)
        return self.state()[name]

    def settled_state(self) -> dict[str, str]:
        """The address once small changes are written into it."""
        self.page.wait_for_timeout(400)
        self.idle()
        return self.state()

    def grid(self, name: str) -> Locator:
        """A table by its label."""
        return self.frame.get_by_role("grid", name=name, exact=True)

    def place(self, name: str) -> Locator:
        """The link to a place in the line, or the button of the sections that are not in it."""
        if name == "More":
            return self.frame.get_by_role("button", name="More")
        number = list(PLACES).index(name)
        return self.frame.get_by_role("navigation", name="Places").get_by_role("link").nth(number)

    def place_of(self, view: str) -> Locator:
        """The link to the place of a section."""
        return self.place(next(name for name, sections in PLACES.items() if view in sections))

    def tab(self, view: str) -> Locator:
        """The link to a section, which is shown in its place only; of a place with one section the
        link to the place.
        """
        place = next(name for name, sections in PLACES.items() if view in sections)
        # Comparing is a mode of all places: Overview has no line of sections without it.
        if len(PLACES[place]) == 1 or view == "overview":
            return self.place(place)
        label = SECTIONS[view]
        return self.frame.get_by_role("navigation", name=re.compile("^Sections of")).get_by_role(
            "link", name=re.compile(rf"^{label}( \(not recorded\))?$", re.I)
        )

    def open(self, view: str) -> Tab:
        """Go to a section by its place, as a person does; to Diff, which no place leads to until something is compared, by its address."""
        if view == "diff":
            return self.load(view, **{k: v for k, v in self.state().items() if k != "view"})
        self.place_of(view).click()
        place = next(name for name, sections in PLACES.items() if view in sections)
        if place == "More":
            self.frame.get_by_role("group", name="More").get_by_role(
                "link", name=SECTIONS[view]
            ).click()
        elif len(PLACES[place]) > 1:
            self.tab(view).click()
        self.idle()
        return self

    def select(self, label: str) -> Locator:
        """A labelled list of the header: Worker, Span."""
        return self.frame.get_by_label(label, exact=True)

    def run(self, name: str, label: str = "Run") -> Locator:
        """The button that opens the list of runs, while it shows this one."""
        return self.frame.get_by_role("button", name=f"{label}: {name}", exact=True)

    def choose_run(self, name: str, label: str = "Run") -> None:
        """Open the list of runs and press one."""
        self.frame.get_by_role("button", name=f"{label}: ").click()
        self.frame.locator(".menu-box .menu-item", has_text=name).first.click()

    def state(self) -> dict[str, str]:
        """The plugin's keys of TensorBoard's address, without their prefix."""
        return state(self.page.url)

    def address(self, view: str, selection: dict[str, str]) -> str:
        """The part of the address behind ``#``."""
        prefix = PREFIX if self.inside else ""
        keys = {"view": view, **selection}
        query = urlencode({prefix + key: value for key, value in keys.items() if value})
        return "&".join(part for part in (PLUGIN if self.inside else "", query) if part)

    def text(self) -> str:
        """What a person can read of the view."""
        return str(self.frame.locator("main").text_content())


def state(url: str) -> dict[str, str]:
    """The inverse of ``Tab.address``."""
    behind = url.partition("#")[2]
    prefix = PREFIX if behind.startswith(PLUGIN) else ""
    return {
        key.removeprefix(prefix): value
        for key, value in parse_qsl(behind)
        if key.startswith(prefix)
    }


def choose_step(tab: Tab, index: int) -> None:
    """Choose a step alone by its bar in the line, or in the sheet of a narrow page that is open."""
    tab.frame.get_by_role("button", name=re.compile("^Steps: ")).first.click()
    tab.frame.get_by_role("listbox", name="Steps").get_by_role("option").nth(index).click()
    tab.idle()
