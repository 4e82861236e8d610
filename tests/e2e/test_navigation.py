"""Links, the back button, the keyboard, and an open page that learns of new files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import PLACES, VIEWS, choose_step
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe, without_room


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("navigation")
    traces.write(folder / "alpha" / "worker.1.pt.trace.json", traces.trace())
    traces.write(folder / "beta" / "rank0.1.pt.trace.json", traces.trace())
    traces.write(folder / "beta" / "rank1.1.pt.trace.json", traces.trace(5))
    return folder


@pytest.fixture(scope="module")
def server(logdir: Path, cache: Path) -> Iterator[Server]:
    with Server(logdir, cache) as started:
        started.settled()
        yield started


def test_a_link_opens_what_it_names(open_tab: OpenTab, server: Server) -> None:
    tab = open_tab(server, inside=True).load(
        "kernel", run="beta", worker="rank1", group="properties"
    )
    expect(tab.run("beta")).to_be_visible()
    expect(tab.select("Worker")).to_have_value("rank1")
    expect(tab.tab("kernel")).to_have_attribute("aria-current", "page")
    expect(
        tab.frame.get_by_role("radio", checked=True).and_(tab.frame.locator('[value="properties"]'))
    ).to_have_count(1)


def test_a_choice_survives_a_reload(open_tab: OpenTab, server: Server) -> None:
    tab = open_tab(server, inside=True).load()
    tab.choose_run("beta")
    tab.select("Worker").select_option("rank1")
    tab.open("operator")
    tab.page.reload()
    tab.idle()
    expect(tab.run("beta")).to_be_visible()
    expect(tab.select("Worker")).to_have_value("rank1")
    expect(tab.tab("operator")).to_have_attribute("aria-current", "page")


def test_the_back_button_goes_back(open_tab: OpenTab, server: Server) -> None:
    tab = open_tab(server, inside=True).load("overview", run="beta", worker="rank0")
    tab.select("Worker").select_option("All 2 ranks")
    tab.open("kernel")
    tab.select("Worker").select_option("rank1")
    choose_step(tab, 1)
    tab.choose_run("alpha")
    tab.idle()
    for key, value in (
        ("run", "beta"),
        ("steps", None),
        ("worker", "rank0"),
        ("view", "efficiency"),
        ("view", "overview"),
        ("all", None),
    ):
        tab.page.go_back()
        tab.becomes(lambda key=key: tab.state().get(key), value)  # type: ignore[misc]
    expect(tab.tab("overview")).to_have_attribute("aria-current", "page")
    tab.page.go_forward()
    tab.page.go_forward()
    tab.page.go_forward()
    expect(tab.tab("kernel")).to_have_attribute("aria-current", "page")


def test_an_operator_leads_to_its_kernels_and_to_its_calls(
    open_tab: OpenTab, sample_server: Server
) -> None:
    tab = open_tab(sample_server).load("operator", run="synthetic_ddp8", worker="rank0")
    row = tab.grid("Operators").locator(".body-row").filter(has_text="aten::mm").first
    row.get_by_role("link", name="kernels").click()
    expect(tab.tab("kernel")).to_have_attribute("aria-current", "page")
    kernels = tab.grid("Kernels").locator(".body-row")
    expect(kernels.first).to_contain_text("aten::mm")
    expect(kernels.filter(has_not_text="aten::mm")).to_have_count(0)
    tab.page.go_back()
    row.get_by_role("link", name="calls").click()
    expect(tab.tab("trace")).to_have_attribute("aria-current", "page")
    calls = sample_server.answer("operator", "synthetic_ddp8", worker="rank0")["rows"]
    count = calls["calls"][calls["name"].index("aten::mm")]
    expect(tab.frame.get_by_role("search")).to_contain_text(f"of {count}")


def test_everything_is_reached_by_the_keyboard(open_tab: OpenTab, server: Server) -> None:
    tab = open_tab(server, inside=True).load("operator", run="beta", worker="rank0")
    tab.frame.locator("body").evaluate("(body) => { body.tabIndex = -1; body.focus(); }")
    reached = set()
    for _ in range(80):
        tab.page.keyboard.press("Tab")
        reached.add(
            tab.frame.evaluate("""() => {
              const e = document.activeElement;
              const inside = e.closest('[role=grid]') ? 'grid' : '';
              return inside || e.getAttribute('aria-label') || (e.labels && e.labels[0] && e.labels[0].textContent) || e.textContent;
            }""")
            .strip()
            .lower()
        )
    wanted = {
        "run",
        "worker",
        "steps",
        "comparison",
        "more",
        "grid",
        "module",
        *map(str.lower, PLACES),
    }
    assert {w for w in wanted if not any(r.startswith(w) for r in reached)} == set()
    tab.tab("module").focus()
    tab.page.keyboard.press("Enter")
    expect(tab.tab("module")).to_have_attribute("aria-current", "page")


def test_a_new_span_appears_and_the_choice_stays(
    tmp_path: Path, start: Callable[..., Server], open_tab: OpenTab
) -> None:
    traces.write(tmp_path / "run" / "worker.1.pt.trace.json", traces.trace())
    server = start(tmp_path, settle_seconds="0.2")
    server.settled()
    tab = open_tab(server, inside=True).load("operator", run="run", search="relu")
    before = tab.state()
    traces.write(tmp_path / "run" / "worker.2.pt.trace.json", traces.trace(9))
    expect(tab.select("Span").locator("option")).to_have_count(2)
    assert {k: v for k, v in tab.state().items() if k in before} == before
    expect(tab.frame.get_by_role("search").get_by_role("textbox")).to_have_value("relu")


LONG = "a_run_whose_name_says_the_model_the_optimiser_and_the_day_of_the_week"
CUT = """
() => {
  const boxes = [...document.querySelectorAll(".place, .scope, .top-line > .menu")]
    .map((e) => e.getBoundingClientRect())
    .sort((a, b) => a.top - b.top || a.left - b.left);
  const upon = boxes.filter((box, i) => i && box.top < boxes[i - 1].bottom - 2 && box.left < boxes[i - 1].right);
  // What is cut has its whole text as tooltip.
  const cut = [...document.querySelectorAll(".segment, .scope select, .button-text")]
    .filter((e) => e.scrollWidth > e.clientWidth + 1 && !e.closest("[title]"));
  return [...upon, ...cut.map((e) => e.textContent)];
}
"""


@pytest.fixture(scope="module")
def long_names(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("long")
    for rank in range(2):
        traces.write(folder / LONG / f"rank{rank}.1.pt.trace.json", traces.trace())
    traces.write(folder / "short" / "rank0.1.pt.trace.json", traces.trace())
    unbroken = traces.trace()
    for event in unbroken["traceEvents"]:
        if event.get("cat") in ("kernel", "cpu_op"):
            event["name"] += "_of_a_long_name" * 6
    traces.write(folder / "unbroken" / "rank0.1.pt.trace.json", unbroken)
    with Server(folder, cache) as started:
        started.settled()
        yield started


def test_the_line_stays_one_and_nothing_is_cut(open_tab: OpenTab, long_names: Server) -> None:
    tab = open_tab(long_names, width=1440)
    tab.load("diff", run=LONG, worker="rank1", run2="short", worker2="rank0")
    header = tab.frame.locator("header.top")
    for width in (1440, 1280, 1024, 760, 390):
        tab.page.set_viewport_size({"width": width, "height": 900})
        tab.idle()
        box = header.bounding_box()
        assert box is not None
        assert box["height"] <= (96 if width == 390 else 49), width
        assert header.evaluate("(e) => e.scrollWidth") <= width
        assert tab.frame.evaluate(CUT) == [], width
        for name in PLACES:
            expect(tab.place(name)).to_be_in_viewport(ratio=1)


def test_on_a_phone_all_choices_are_behind_one_button(
    open_tab: OpenTab, sample_server: Server
) -> None:
    need_axe()
    tab = open_tab(sample_server, width=390).load("kernel", run="synthetic_ddp8", worker="rank1")
    tab.frame.get_by_role("button", name="Chosen: synthetic_ddp8 · rank 1 · All 7 steps").click()
    assert accessibility(tab.frame) == []
    tab.select("Worker").select_option("rank2")
    tab.becomes(lambda: tab.state()["worker"], "rank2")
    choose_step(tab, 3)
    tab.becomes(lambda: tab.state().get("steps"), "3")


def test_the_menus_are_clean(open_tab: OpenTab, sample_server: Server) -> None:
    need_axe()
    tab = open_tab(sample_server, dark=True).load("overview", run="synthetic_ddp8", worker="rank1")
    for name in ("Run: ", "Steps: ", "Comparison: ", "More"):
        tab.frame.get_by_role("button", name=re.compile(f"^{name}")).click()
        tab.idle()
        assert accessibility(tab.frame) == []
        tab.page.keyboard.press("Escape")
    tab.frame.get_by_role("button", name="Comparison: ").click()
    tab.frame.get_by_label("Another rank").select_option("rank5")
    expect(tab.frame.get_by_role("button", name="Comparison: with rank 5")).to_be_visible()
    assert tab.state() | {"view": "diff", "worker": "rank1", "worker2": "rank5"} == tab.state()
    # It stays from place to place, until it is ended; and Back undoes that.
    tab.open("kernel")
    expect(tab.frame.get_by_role("grid", name="Changes of kernels")).to_be_visible()
    tab.frame.get_by_role("link", name="End the comparison").click()
    tab.becomes(lambda: tab.state().get("run2"), None)
    tab.holds(view="kernel")
    tab.page.go_back()
    tab.becomes(lambda: tab.state().get("worker2"), "rank5")


def test_every_section_has_room_in_every_window(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load()
    wrong = []
    for view in VIEWS:
        tab.go(view)
        # Whatever is looked at elsewhere is 1400 wide.
        for width in (2560, 1280, 1024, 640, 390):
            tab.page.set_viewport_size({"width": width, "height": 900})
            tab.frame.evaluate("() => new Promise(requestAnimationFrame)")
            wrong += [f"{view} {width}: {line}" for line in without_room(tab.frame)]
        answer = tab.frame.locator("main :is(.headline-first, .headline)").first
        if answer.count() and answer.evaluate("(e) => e.getBoundingClientRect().bottom") > 400:
            wrong.append(f"{view} 390: the answer is below 400 px")
    assert wrong == []


def test_a_name_of_any_length_breaks_on_a_phone(open_tab: OpenTab, long_names: Server) -> None:
    tab = open_tab(long_names, width=390).load(run="unbroken")
    wrong = {}
    # What the name of a run is part of is the same in many views.
    for run, views in (("unbroken", VIEWS), (LONG, VIEWS[::4])):
        for view in views:
            tab.go(view, run=run, worker="rank0")
            wrong[run, view] = without_room(tab.frame)
    assert not any(wrong.values()), wrong
