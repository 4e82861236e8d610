"""The Distributed page in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import Tab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe


def late_steps(server: Server, run: str) -> dict[str, object]:
    """The route's answer when all workers are in."""
    worker = next(found for found in server.runs() if found["name"] == run)["workers"][0]
    query = {"run": run, "worker": worker["name"], "span": worker["spans"][0]["name"]}
    answer = server.wait(
        lambda: (
            (found := server.get("distributed", **query)) and found.get("progress") == 1.0 and found
        ),
        60,
        "all workers",
    )
    return dict(answer)


def rows(tab: Tab, name: str) -> Locator:
    return tab.frame.get_by_role("grid", name=name, exact=True).locator(".body-row")


def test_the_straggler_is_named_with_what_it_did(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("distributed", run="synthetic_ddp8")
    payload = late_steps(sample_server, "synthetic_ddp8")
    first = str(tab.frame.locator(".headline-first").text_content())
    assert first.startswith("Rank 5 holds all others back: ")
    expect(rows(tab, "Who holds the others back")).to_have_count(len(payload["blame"]))  # type: ignore[arg-type]
    expect(rows(tab, "Who holds the others back").first).to_contain_text("rank 5")
    expect(rows(tab, "Workers")).to_have_count(8)


def test_what_takes_longer_is_one_press_away(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("distributed", run="synthetic_ddp8")
    rows(tab, "Who holds the others back").first.get_by_role(
        "link", name="aten::mm", include_hidden=True
    ).click()
    expect(tab.tab("trace")).to_have_attribute("aria-current", "page")
    expect(tab.select("Worker")).to_have_value("rank5")
    expect(tab.frame.locator("main")).to_contain_text("aten::mm")
    assert tab.state()["sel"].isdigit()


def test_a_step_and_a_worker_are_chosen_and_kept(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("distributed", run="synthetic_ddp8")
    main = tab.frame.locator("main")
    tab.frame.get_by_role("radio", name="One").check(force=True)
    tab.select("Step").select_option(index=1)
    expect(main.get_by_role("heading", name="Per worker, step 4")).to_be_visible()
    main.get_by_label("Worker", exact=True).select_option("rank5")
    state = tab.settled_state()
    assert (state["steps"], state["worker_of"]) == ("1", "rank5")
    tab.page.reload()
    tab.idle()
    main = tab.frame.locator("main")
    expect(main.get_by_role("heading", name="Per worker, step 4")).to_be_visible()
    expect(main.get_by_label("Worker", exact=True)).to_have_value("rank5")


def test_the_map_tells_its_cells_by_keyboard_and_by_pointer(
    open_tab: OpenTab, sample_server: Server
) -> None:
    tab = open_tab(sample_server).load("distributed", run="synthetic_ddp8")
    heat = tab.frame.get_by_role("group", name="Lateness by worker and step")
    heat.focus()
    for key in ("ArrowRight", "ArrowDown", "End"):
        tab.page.keyboard.press(key)
    expect(tab.frame.locator(".heat [role=status]").first).to_contain_text("rank 1, step 9:")
    cells = heat.locator(".heat-cells svg")
    box = cells.bounding_box()
    assert box is not None
    tab.page.mouse.move(box["x"] + 5, box["y"] + box["height"] - 5)
    expect(tab.frame.locator(".tooltip")).to_contain_text("rank 7, step 3:")
    tab.frame.get_by_label("latest first").check(force=True)
    expect(heat.locator(".heat-rows text").first).to_have_text("rank 5")


def test_a_cell_leads_to_its_worker_and_step_and_to_timelines_of_chosen_ranks(
    open_tab: OpenTab, sample_server: Server
) -> None:
    tab = open_tab(sample_server).load("distributed", run="synthetic_ddp8")
    heat = tab.frame.get_by_role("group", name="Lateness by worker and step")
    heat.focus()
    for key in ("ArrowRight", "End", "ArrowDown", "ArrowDown", "Enter"):
        tab.page.keyboard.press(key)
    expect(tab.frame.locator(".heat-chosen")).to_contain_text("rank 2, step 9: lateness")
    state = tab.settled_state()
    assert (state["at"], state["step"]) == ("rank2", "ProfilerStep#9")
    tab.frame.get_by_role("link", name="Show them on the timeline").click()
    expect(tab.tab("trace")).to_have_attribute("aria-current", "page")
    tab.idle()
    assert tab.state()["workers"] == "2,5"
    tab.frame.get_by_role("button", name="Workers: 2 chosen").click()
    tab.frame.get_by_label("Ranks", exact=True).fill("0-2, 7")
    tab.page.keyboard.press("Enter")
    tab.idle()
    expect(tab.frame.get_by_role("button", name="Workers: 5 chosen")).to_be_visible()
    assert tab.state()["workers"] == "0-2,7"


def test_the_groups_and_who_sends_to_whom(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("distributed", run="ddp_gloo")
    expect(rows(tab, "Process groups")).to_have_count(1)
    expect(rows(tab, "Process groups").first).to_contain_text("default_pg")
    matrix = tab.frame.get_by_role("group", name="Bytes from each to each: 4 rows, 4 columns")
    matrix.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        tab.page.keyboard.press(key)
    expect(tab.frame.locator(".tooltip")).to_contain_text("rank 1, to 1: –")


def test_the_data_behind_the_charts(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("distributed", run="ddp_gloo")
    tab.frame.get_by_role(
        "button", name="Show Computation and communication as a data table"
    ).click()
    table = tab.frame.get_by_role("region", name="Computation and communication, data table")
    expect(table.locator("tbody tr")).to_have_count(4)
    expect(table.locator("thead")).to_contain_text("Overlapping, share")
    expect(rows(tab, "Communication operations").first).to_contain_text("gloo")


def test_one_worker_shows_what_it_can(open_tab: OpenTab, real_server: Server) -> None:
    tab = open_tab(real_server).load("distributed", run="a100_nccl")
    assert "recording of one worker" in tab.text()
    assert rows(tab, "Communication operations").count() > 0
    expect(tab.frame.get_by_role("group", name="Lateness by worker and step")).to_have_count(0)


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("silent")
    for rank in range(2):
        traces.write(folder / "run" / f"rank{rank}.1.pt.trace.json", traces.trace())
    with Server(folder, cache) as server:
        server.settled()
        yield server


def test_workers_without_communication(open_tab: OpenTab, silent: Server) -> None:
    tab = open_tab(silent).load("distributed", run="run")
    expect(tab.frame.locator(".headline-first")).to_have_text("No communication was recorded.")
    expect(rows(tab, "Workers")).to_have_count(2)


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_is_inaccessible(open_tab: OpenTab, sample_server: Server, dark: bool) -> None:
    need_axe()
    tab = open_tab(sample_server, dark=dark, width=1280, height=800).load(
        "distributed", run="synthetic_ddp8"
    )
    assert accessibility(tab.frame) == []
    assert tab.frame.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
