"""The timeline while tiles are on their way or do not come, on sharp screens, and under fingers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Route, expect

from tests.e2e import timeline_traces as drawn
from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.server import Server
from tests.e2e.timeline_page import TracePage

TILES = "**/trace/tiles?**"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Server]:
    logdir = tmp_path_factory.mktemp("loading")
    traces.write(logdir / "chain" / "worker.1.pt.trace.json", drawn.chain(300))
    with Server(logdir, cache) as started:
        started.settled()
        yield started


def test_it_is_never_blank_while_tiles_are_on_their_way(open_tab: OpenTab, server: Server) -> None:
    page = TracePage.open(open_tab(server), "chain")
    row = next(found for found in page.slices(4) if found["label"] == drawn.GEMM)
    held: list[Route] = []
    page.frame.page.route(TILES, lambda route: held.append(route))
    page.focus()
    for _ in range(12):
        page.tab.page.keyboard.press("w")
        page.tab.page.wait_for_timeout(30)
        stats = page.ask("stats().draw")
        assert stats["missing"] == 0, "a row was left blank"
    assert page.ask("stats().draw.stoodIn") > 0, "coarser tiles stand in"
    assert not page.ask("idle()")
    line = page.pixels(0, row["y"], page.ask("size().width"))
    assert len(set(line)) > 1, "nothing is drawn in the row of the kernels"
    page.frame.page.route(TILES, lambda route: route.continue_())
    for route in held:
        # Those that the page has taken back are over.
        with contextlib.suppress(PlaywrightError):
            route.continue_()
    page.ready()
    assert page.ask("stats().draw.stoodIn") == 0
    assert drawn.GEMM in {found["label"] for found in page.slices(4)}


def test_tiles_that_do_not_come_are_said_and_asked_again(open_tab: OpenTab, server: Server) -> None:
    page = TracePage.open(open_tab(server), "chain")
    page.frame.page.route(
        TILES,
        lambda route: route.fulfill(
            status=500,
            body='{"error":{"code":"internal","message":"No luck.","hint":"","progress":null}}',
        ),
    )
    page.focus()
    for _ in range(12):
        page.tab.page.keyboard.press("w")
        page.tab.page.wait_for_timeout(20)
    alert = page.frame.get_by_role("alert").filter(
        has_text="Part of the timeline could not be loaded"
    )
    expect(alert).to_be_visible()
    expect(alert).to_contain_text("No luck.")
    expect(alert.get_by_role("button", name="Try again")).to_be_visible()
    assert page.ask("stats().draw.missing") == 0, "what was there before stands in"
    page.frame.page.unroute(TILES)
    expect(alert).to_have_count(0)
    page.ready()
    assert page.ask("stats().draw.stoodIn") == 0
    said = page.tab.watch.take()
    assert said
    assert all("500 from" in line for line in said)


def test_a_trace_that_changes_under_an_open_page_is_said(
    tmp_path: Path, start: Callable[..., Server], open_tab: OpenTab
) -> None:
    path = traces.write(tmp_path / "run" / "worker.1.pt.trace.json", drawn.chain(300))
    server = start(tmp_path, settle_seconds="0.2")
    server.settled()
    page = TracePage.open(open_tab(server), "run")
    before = server.get("trace/timeline", run="run", worker="worker", span="1")["id"]
    traces.write(path, drawn.chain(20))
    server.wait(
        lambda: (
            (found := server.get("trace/timeline", run="run", worker="worker", span="1"))
            and found.get("id", before) != before
        ),
        60,
        "the import",
    )
    page.focus()
    for _ in range(12):
        page.tab.page.keyboard.press("w")
        page.tab.page.wait_for_timeout(20)
    # The old content is refused from now on; the page learns of the new one by itself and draws
    # that, within its bounds.
    page.frame.wait_for_function(
        "() => window.__profiler_test && window.__profiler_test.view().t1 < 25e6", timeout=30_000
    )
    page.ready()
    expect(page.frame.get_by_role("alert")).to_have_count(0)
    page.press("0")
    assert len([found for found in page.slices() if found["label"] == drawn.GEMM]) == 20
    assert all("409 from" in line for line in page.tab.watch.take())


def test_a_sharp_screen_gets_a_sharp_picture(open_tab: OpenTab, server: Server) -> None:
    page = TracePage.open(open_tab(server, device_scale_factor=2), "chain")
    sizes = page.frame.get_by_role("application").evaluate(
        "(canvas) => [canvas.width, canvas.clientWidth, canvas.height, canvas.clientHeight]"
    )
    assert sizes[0] == 2 * sizes[1]
    assert sizes[2] == 2 * sizes[3]


def test_two_fingers_zoom_and_one_pans(open_tab: OpenTab, server: Server) -> None:
    page = TracePage.open(open_tab(server, has_touch=True), "chain")
    session = page.tab.context.new_cdp_session(page.tab.page)
    width = page.ask("size().width")

    def touch(kind: str, *xs: float) -> None:
        points = [dict(zip(("x", "y"), page.point(x, 200), strict=True)) for x in xs]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    begin, end = page.view
    touch("touchStart", width / 2 - 50)
    touch("touchStart", width / 2 - 50, width / 2 + 50)
    for apart in range(60, 260, 20):
        touch("touchMove", width / 2 - apart, width / 2 + apart)
    touch("touchEnd")
    page.ready()
    closer = page.view
    assert closer[1] - closer[0] < (end - begin) / 3
    touch("touchStart", 600)
    for x in range(590, 380, -20):
        touch("touchMove", x)
    touch("touchEnd")
    page.ready()
    later = page.view
    assert later[0] > closer[0]
    assert later[1] - later[0] == pytest.approx(closer[1] - closer[0], rel=1e-6)
