"""The findings in a browser: the list on Overview, the line on other pages, and where they lead."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.conftest import OpenTab
from tests.e2e.pages import Tab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe


def items(tab: Tab) -> Locator:
    return tab.frame.locator(".findings > .finding")


@pytest.mark.parametrize(
    "run", ["transformer", "cnn_workers_0", "cnn_workers_2", "ddp_gloo", "inference"]
)
def test_overview_says_first_what_to_change(
    open_tab: OpenTab, sample_server: Server, run: str
) -> None:
    tab = open_tab(sample_server).load("overview", run=run)
    payload = sample_server.answer("findings", run)
    expect(tab.frame.locator(".headline-first")).to_contain_text(payload["headline"])
    expect(items(tab)).to_have_count(len(payload["findings"]))
    costly = [
        found
        for found in payload["findings"]
        if found["recoverable_ns"] is not None and not found["artefact"]
    ]
    assert [found["recoverable_ns"] for found in costly] == sorted(
        (found["recoverable_ns"] for found in costly), reverse=True
    )
    # What only theory promises is folded beneath the others.
    costly.sort(key=lambda found: found["certainty"] == "theoretical")
    for summary in tab.frame.locator(".findings-rest > summary").all():
        summary.click()
    shown = [str(text) for text in items(tab).locator("h3").all_text_contents()]
    assert [text.strip() for text in shown[: len(costly)]] == [
        f"{found['title']} {found['certainty']}" for found in costly
    ]
    for found, item in zip(costly, items(tab).all(), strict=False):
        expect(item).to_contain_text(found["sentence"])
        expect(item).to_contain_text("of a step")
    assert payload["healthy"] == ("No finding costs 2 %" in tab.text())


def test_evidence_is_one_press_from_the_timeline(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("overview", run="cnn_workers_0")
    evidence = next(
        found
        for found in sample_server.answer("findings", "cnn_workers_0")["findings"]
        if found["evidence"]
    )["evidence"][0]
    items(tab).first.get_by_role("link", name="timeline").click()
    expect(tab.tab("trace")).to_have_attribute("aria-current", "page")
    expect(tab.frame.locator("main")).to_contain_text(evidence["label"])
    assert (tab.state()["sel"], tab.state()["worker"], tab.state()["span"]) == (
        str(evidence["event"]),
        evidence["worker"],
        evidence["span"],
    )


@pytest.mark.parametrize(
    ("view", "run"),
    [
        ("operator", "h100_owlv2"),
        ("kernel", "h100_owlv2"),
        ("memory", "v100_memory_nccl"),
        ("module", "mi300_resnet_ddp"),
        ("distributed", "mi300_resnet_ddp"),
    ],
)
def test_a_view_shows_what_concerns_it(
    open_tab: OpenTab, real_server: Server, view: str, run: str
) -> None:
    tab = open_tab(real_server).load(view, run=run)
    found = [
        item for item in real_server.answer("findings", run)["findings"] if view in item["views"]
    ]
    strip = tab.frame.locator(".findings-strip")
    if not found:
        expect(strip).to_have_text("No findings for this view.")
        return
    expect(strip.locator("strong").first).to_have_text(
        f"{len(found)} finding{'s' if len(found) > 1 else ''}"
    )
    expect(items(tab).first).to_be_hidden()
    strip.locator("summary").first.click()
    expect(items(tab)).to_have_count(len(found))
    expect(items(tab).first).to_be_visible()


def test_the_line_does_not_move_what_is_below_it(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("operator", run="transformer")
    before = tab.frame.locator(".findings-strip").bounding_box()
    assert before is not None
    assert before["height"] < 42
    assert before["height"] == tab.frame.locator(".findings-strip").evaluate(
        "e => { const p = document.createElement('p'); p.className = 'findings-strip';"
        " p.textContent = 'Looking'; e.before(p); const h = p.getBoundingClientRect().height;"
        " p.remove(); return h; }"
    )


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_bars_anybody(open_tab: OpenTab, real_server: Server, dark: bool) -> None:
    need_axe()
    tab = open_tab(real_server, dark=dark).load("overview", run="h100_owlv2")
    for more in items(tab).get_by_role("button", name="what to try").all():
        more.click()
    assert accessibility(tab.frame) == []
    tab.go("operator", run="h100_owlv2")
    tab.frame.locator(".findings-strip summary").first.click()
    assert accessibility(tab.frame) == []
