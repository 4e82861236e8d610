"""The tour of the samples in a browser: shown at the first start, until it is dismissed."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qsl

from playwright.sync_api import expect

from tests.e2e.conftest import OpenTab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility


def test_from_place_to_place_until_it_is_dismissed(
    open_tab: OpenTab, sample_server: Server, samples: Path
) -> None:
    told = json.loads((samples / "tour.json").read_text("utf-8"))
    tab = open_tab(sample_server, tour=True).load("overview")
    tour = tab.frame.get_by_role("region", name="Tour")
    assert accessibility(tab.frame) == []
    for place in told["places"]:
        tab.load("overview")
        tour.get_by_role("link", name=place["text"]).click()
        tab.idle()
        wanted = dict(parse_qsl(place["link"]))
        state = tab.state()
        assert {key: state[key] for key in wanted} == wanted
    tab.load("overview")
    tour.get_by_role("button", name="Do not show the tour again").click()
    expect(tour).to_have_count(0)
    tab.load("overview")
    expect(tour).to_have_count(0)
