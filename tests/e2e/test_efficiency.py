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


def headline(tab: Tab) -> Locator:
    return tab.frame.locator(".headline-first")


def drawable(rows: dict[str, list[Any]]) -> list[int]:
    """The rows that have a place below the roofs: on logarithmic axes nothing is at 0."""
    return [
        row
        for row, (x, y) in enumerate(zip(rows["intensity"], rows["flops_rate"], strict=True))
        if x and y
    ]


def test_the_chart_is_worked_by_keyboard_and_is_a_table_too(
    open_tab: OpenTab, real_server: Server
) -> None:
    need_axe()
    tab = open_tab(real_server, dark=True).load("efficiency", run="h100_vit")
    rows = real_server.answer("efficiency", "h100_vit")["rows"]
    order = sorted(
        drawable(rows), key=lambda row: (rows["intensity"][row], rows["flops_rate"][row])
    )
    tab.frame.locator(".roof-point[tabindex='0']").focus()
    tab.page.keyboard.press("End")
    focused = tab.frame.locator(".roof-point:focus")
    expect(focused).to_have_attribute(
        "aria-label",
        re.compile(rf"^{rows['name'][order[-1]]}: .*{re.escape(rows['parameters'][order[-1]])}"),
    )
    expect(tab.frame.locator(".chart-tip")).to_contain_text(rows["parameters"][order[-1]])
    tab.page.keyboard.press("Enter")
    assert "search" in tab.settled_state()
    tab.page.keyboard.press("Enter")
    assert "search" not in tab.settled_state()
    points(tab).first.click()
    grid(tab).locator(".body-row .toggle").first.click()
    tab.idle()
    assert accessibility(tab.frame) == []
    tab.frame.get_by_role("button", name="Show Roofline as a data table").click()
    expect(
        tab.frame.get_by_role("region", name="Roofline, data table").locator("tbody tr")
    ).to_have_count(len(order))
