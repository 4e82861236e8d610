"""The roofline of the Efficiency page in a browser."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Locator, expect

from tests.e2e.conftest import OpenTab
from tests.e2e.pages import Tab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe


def grid(tab: Tab, of: str = "operators") -> Locator:
    return tab.frame.get_by_role("grid", name=f"Efficiency of {of}", exact=True)


def points(tab: Tab) -> Locator:
    return tab.frame.locator(".roof-point")


def drawn(rows: dict[str, list[Any]]) -> list[int]:
    """The rows with a mark: those that have both FLOPs and bytes, the longest until they hold 99.5 % of the time of all of
    these."""
    places = [
        row
        for row, (x, y) in enumerate(zip(rows["intensity"], rows["flops_rate"], strict=True))
        if x and y
    ]
    places.sort(key=lambda row: -rows["time_ns"][row])
    whole = sum(rows["time_ns"][row] for row in places)
    time, kept = 0, []
    for row in places:
        if time <= 0.995 * whole:
            kept.append(row)
        time += rows["time_ns"][row]
    return kept


def test_the_chart_is_worked_by_keyboard(open_tab: OpenTab, real_server: Server) -> None:
    need_axe()
    tab = open_tab(real_server, dark=True).load("efficiency", run="h100_vit")
    rows = real_server.answer("efficiency", "h100_vit")["rows"]
    order = sorted(drawn(rows), key=lambda row: (rows["intensity"][row], rows["flops_rate"][row]))
    tab.frame.locator(".roof-point[tabindex='0']").focus()
    tab.page.keyboard.press("End")
    focused = tab.frame.locator(".roof-point:focus")
    expect(focused).to_have_attribute(
        "aria-label",
        re.compile(rf"^{rows['name'][order[-1]]}: .*{re.escape(rows['parameters'][order[-1]])}"),
    )
    expect(tab.frame.locator(".chart-tip")).to_contain_text(rows["parameters"][order[-1]])
    tab.page.keyboard.press("Enter")
    chosen = grid(tab).locator("[aria-selected='true']")
    expect(chosen).to_contain_text(rows["parameters"][order[-1]])
    grid(tab).focus()
    tab.page.keyboard.press("Control+Home")
    expect(tab.frame.locator(".roof-point[aria-pressed='true']")).to_have_attribute(
        "aria-label", re.compile(re.escape(rows["parameters"][0]))
    )
    points(tab).first.click()
    grid(tab).locator(".body-row .toggle").first.click()
    tab.idle()
    assert accessibility(tab.frame) == []


def test_the_share_of_the_roof_has_room_at_every_width(
    open_tab: OpenTab, real_server: Server
) -> None:
    tab = open_tab(real_server, width=1280, height=800).load("efficiency", run="h100_vit")
    heads = grid(tab).get_by_role("columnheader")
    for width in (1280, 390):
        tab.page.set_viewport_size({"width": width, "height": 800})
        tab.idle()
        expect(heads).to_have_text(["Operator", "Time", "Of its roof", "Over it"])
        assert tab.frame.evaluate("document.documentElement.scrollWidth") <= width
        assert grid(tab).evaluate("grid => grid.scrollWidth - grid.clientWidth") <= 0
