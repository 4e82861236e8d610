"""All ranks of a run at a glance, and the choice of one of many workers, in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.builders.mesh_run import write_mesh
from tests.e2e.conftest import OpenTab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe


@pytest.fixture(scope="module")
def mesh_server(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Server]:
    """Sixteen ranks on two nodes, of which rank 13 computes 40 % longer."""
    folder = tmp_path_factory.mktemp("mesh")
    write_mesh(folder / "mesh", {"pp": 2, "dp": 2, "tp": 4}, {13: 1.4})
    with Server(folder, cache) as server:
        server.settled()
        yield server


def test_from_all_ranks_to_one(open_tab: OpenTab, mesh_server: Server) -> None:
    need_axe()
    tab = open_tab(mesh_server).load("overview", run="mesh", of="ranks")
    expect(tab.frame.locator("h1, .headline-first").first).to_be_attached()
    tab.idle()
    assert accessibility(tab.frame) == []

    tab.frame.get_by_role("button", name="Worker All 16 ranks").click()
    dialog = tab.frame.get_by_role("dialog", name="Choose a worker")
    search = dialog.get_by_role("combobox", name="Rank, host or name")
    expect(search).to_be_focused()
    search.fill("pp 1 dp 0 tp 2")
    expect(dialog.get_by_role("listbox", name="Workers").get_by_role("option")).to_have_text(
        ["rank 10node1 · PP 1 · DP 0 · TP 2"]
    )
    assert accessibility(tab.frame) == []
    tab.page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    tab.becomes(lambda: tab.state().get("worker", ""), "rank10")
