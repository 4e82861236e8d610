"""Drives the Trace view as a person does: keys, the pointer on the canvas, and what can be read
around it.

Slices have no elements. Where one is on the canvas is asked of ``window.__profiler_test``
(fe/src/timeline/use_scene.ts); what is done with it is done with the mouse and the keyboard.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, expect

from tests.e2e.pages import PATIENCE_MS, Tab

Slice = dict[str, Any]

_READY = """
() => {
  const timeline = window.__profiler_test;
  return timeline !== undefined && timeline.size().width > 0 && timeline.rows().length > 0 && timeline.idle();
}
"""
# Every slice of a row that begins at another place, by walking along the row; `step` in px.
_SLICES = """
(step) => {
  const timeline = window.__profiler_test, {width, height} = timeline.size(), found = new Map();
  for (const row of timeline.rows()) {
    const y = row.top + row.height / 2;
    if (row.lane < 0 || y < 0 || y >= height) continue;
    for (let x = 0; x < width; x += step) {
      const slice = timeline.sliceAt(x, y);
      if (!slice) continue;
      const left = timeline.xOf(slice.start), right = timeline.xOf(slice.end);
      if (x + step < left || x - step > right) continue;
      const key = `${row.key} ${slice.event} ${slice.start}`;
      const middle = (Math.max(0, left) + Math.min(width, right)) / 2;
      found.set(key, {...slice, row: row.key, rowKind: row.kind, overlap: row.overlap, left, right, x: middle, y, top: row.top, height: row.height});
    }
  }
  return [...found.values()];
}
"""
# The canvas that is drawn on is the largest one.
_CANVAS = """
() => {
  const all = [...document.querySelectorAll("canvas")].sort((a, b) => b.width * b.height - a.width * a.height);
  const box = all[0].getBoundingClientRect();
  return {left: box.left, top: box.top, width: box.width, height: box.height};
}
"""
_PIXELS = """
([x, y, width]) => {
  const canvas = [...document.querySelectorAll("canvas")].sort((a, b) => b.width * b.height - a.width * a.height)[0];
  const ratio = canvas.width / canvas.getBoundingClientRect().width;
  const copy = document.createElement("canvas");
  copy.width = Math.round(width * ratio);
  copy.height = 1;
  const context = copy.getContext("2d", {willReadFrequently: true});
  context.drawImage(canvas, Math.round(x * ratio), Math.round(y * ratio), copy.width, 1, 0, 0, copy.width, 1);
  const {data} = context.getImageData(0, 0, copy.width, 1), found = [];
  for (let i = 0; i < data.length; i += 4) found.push((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
  return found;
}
"""


class TracePage:
    """The Trace view of a tab."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        self.frame = tab.frame

    @classmethod
    def open(cls, tab: Tab, run: str, **params: str) -> TracePage:
        """Load the view as a pasted link does and wait until all slices in sight are drawn."""
        tab.load("trace", run=run, **params)
        page = cls(tab)
        page.ready()
        return page

    def ready(self) -> None:
        """Nothing moves and nothing is on its way."""
        self.frame = self.tab.frame
        self.frame.wait_for_function(_READY, timeout=PATIENCE_MS)
        # The address follows when the view has rested.
        self.tab.page.wait_for_timeout(400)
        self.frame.wait_for_function(_READY, timeout=PATIENCE_MS)

    def ask(self, what: str) -> Any:
        """A value of the page's hook."""
        return self.frame.evaluate(f"() => window.__profiler_test.{what}")

    @property
    def view(self) -> tuple[float, float]:
        """The stretch in sight, ns."""
        found = self.ask("view()")
        return float(found["t0"]), float(found["t1"])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Rows in sight."""
        return list(self.ask("rows()"))

    def labels(self) -> list[str]:
        """Names of the rows in sight, of those that have one."""
        return [row["label"] for row in self.rows if row["label"]]

    def slices(self, step: float = 1) -> list[Slice]:
        """What is drawn; ``x`` and ``y`` are the middle of its visible part."""
        for _ in range(50):
            found: list[Slice] = self.frame.evaluate(_SLICES, step)
            # Names come after the slices; every event of these traces has one.
            if all(one["label"] for one in found):
                break
            self.tab.page.wait_for_timeout(100)
        return found

    def slice(self, label: str, nth: int = 0) -> Slice:
        """The nth slice of a name in order of time, of those that are one event."""
        found = sorted(
            (s for s in self.slices() if s["label"] == label and s["count"] == 1),
            key=lambda s: float(s["start"]),
        )
        assert len(found) > nth, (
            f"{label!r} is not in sight; there are {sorted({s['label'] for s in self.slices()})}"
        )
        return found[nth]

    def point(self, x: float, y: float) -> tuple[float, float]:
        """A point of the canvas on the page."""
        canvas = self.frame.evaluate(_CANVAS)
        return canvas["left"] + x, canvas["top"] + y

    def click(self, target: Slice) -> None:
        """Click into a slice."""
        self.tab.page.mouse.click(*self.point(target["x"], target["y"]))
        self.ready()

    def drag(
        self, begin: tuple[float, float], end: tuple[float, float], *, shift: bool = False
    ) -> None:
        """Press, move, let go; points of the canvas."""
        mouse, keyboard = self.tab.page.mouse, self.tab.page.keyboard
        if shift:
            keyboard.down("Shift")
        mouse.move(*self.point(*begin))
        mouse.down()
        mouse.move(*self.point((begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2), steps=4)
        mouse.move(*self.point(*end), steps=4)
        mouse.up()
        if shift:
            keyboard.up("Shift")
        self.ready()

    def press(self, key: str) -> None:
        """A key on the canvas."""
        self.tab.page.keyboard.press(key)
        self.ready()

    def focus(self) -> None:
        """Give the canvas the keys, without choosing anything: by the tabulator's way."""
        self.frame.get_by_role("application").first.focus()

    def search(self, text: str, hits: str) -> None:
        """Have Ask mark the events with a text, and wait until the first of so many is chosen."""
        self.tab.page.keyboard.press("Control+k")
        field = self.frame.get_by_role("combobox", name="Ask")
        field.fill(text)
        field.press("Alt+Enter")
        expect(self.hits).to_have_text(re.compile(rf"^(1 of )?{hits}$"))
        self.ready()

    @property
    def hits(self) -> Locator:
        """What is said of the marked events."""
        return self.frame.locator(".found-bar [role=status]")

    def first_hit(self, text: str, name: str, hits: str) -> None:
        """Mark events, which goes to the first of them."""
        self.search(text, hits)
        expect(self.selected_name).to_have_text(name)
        self.ready()

    @property
    def details(self) -> Locator:
        """The panel of the selected event."""
        return self.frame.get_by_role("complementary", name="Selected event")

    @property
    def selected_name(self) -> Locator:
        """The name in that panel."""
        return self.details.locator(".details-name code")

    def links(self) -> dict[str, list[str]]:
        """The chain in the panel: kind → names."""
        found: dict[str, list[str]] = {}
        for line in self.details.locator(".chain li").all():
            kind = (line.locator(".chain-kind").text_content() or "").strip()
            found.setdefault(kind, []).append(
                (line.locator(".ref-name").text_content() or "").strip()
            )
        return found

    def follow(self, kind: str, nth: int = -1) -> str:
        """Click a link of the chain; the name that it said."""
        link = (
            self.details.locator(".chain li", has=self.frame.locator(".chain-kind", has_text=kind))
            .nth(nth)
            .locator("button.ref")
        )
        name = (link.locator(".ref-name").text_content() or "").strip()
        link.click()
        expect(self.selected_name).to_have_text(name)
        self.ready()
        return name

    def selection_on_canvas(self) -> Slice:
        """The slice that lies where the selection is, asked from the canvas and not from the panel."""
        chosen = self.ask("selected()")
        assert chosen is not None
        # What stands in for the tile of its place may still be drawn.
        for _ in range(50):
            for s in self.slices(0.5):
                if s["event"] == chosen["event"] and s["lane"] == chosen["lane"]:
                    return s
            self.tab.page.wait_for_timeout(100)
        raise AssertionError("the selected event is not in sight")

    def table(self, name: str) -> list[dict[str, str]]:
        """The rows of a table below the timeline with exact figures, as its CSV has them."""
        expect(self.frame.get_by_role("grid", name=name)).to_be_visible()
        self.tab.idle()
        with self.tab.page.expect_download() as waiting:
            self.frame.get_by_role("region", name="Tables").get_by_role(
                "button", name="CSV"
            ).click()
        return list(
            csv.DictReader(io.StringIO(Path(waiting.value.path()).read_text(encoding="utf-8-sig")))
        )

    @property
    def kinds(self) -> Locator:
        """The kinds that the table below the timeline is divided by."""
        return (
            self.frame.get_by_role("region", name="Tables")
            .get_by_role("radiogroup", name="Kind of event")
            .get_by_role("radio")
        )

    def tables(self, name: str) -> list[dict[str, str]]:
        """The rows of a table of all kinds of events."""
        expect(self.kinds.first).to_be_visible()
        rows = []
        for kind in self.kinds.all():
            kind.locator("xpath=..").click()
            rows += self.table(name)
        return rows

    def pixels(self, x: float, y: float, width: float) -> list[int]:
        """Colours of a line of the canvas."""
        return list(self.frame.evaluate(_PIXELS, [x, y, width]))
