"""One browser and one TensorBoard per logdir for all tests of this folder that one process runs;
both end before the next folder's tests begin. What one of the processes imported, all have.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.e2e import browser as chromium
from tests.e2e.pages import PATIENCE_MS, Tab
from tests.e2e.server import Server

OpenTab = Callable[..., Tab]
# Playwright alone waits five seconds, in which a busy machine may not have drawn a page.
expect.set_options(timeout=PATIENCE_MS)
PUBLIC = ("h100_owlv2", "h100_vit", "mi300_resnet_ddp")


@pytest.fixture(scope="package")
def browser(built_page: Path) -> Iterator[Browser]:
    """A headless Chromium, where there is a page to show."""
    with sync_playwright() as playwright:
        launched = chromium.launch(playwright)
        yield launched
        launched.close()


@pytest.fixture(scope="package")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder of these tests' own, the same in all processes of pytest-xdist."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "e2e-cache"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="package")
def sample_server(samples: Path, cache: Path) -> Iterator[Server]:
    """TensorBoard on the project's samples."""
    with Server(samples, cache) as server:
        server.settled()
        yield server


@pytest.fixture(scope="package")
def real_server(
    real_traces: Path, cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """TensorBoard on a few of the public traces."""
    logdir = tmp_path_factory.mktemp("public")
    for run in PUBLIC:
        shutil.copytree(real_traces / run, logdir / run)
    with Server(logdir, cache) as server:
        server.settled()
        yield server


@pytest.fixture
def open_tab(browser: Browser) -> Iterator[OpenTab]:
    """Makes tabs, and closes them at the end of the test; a test that says nothing else ends
    without a complaint of the page.
    """
    tabs: list[Tab] = []

    def make(server: Server, **options: object) -> Tab:
        tabs.append(Tab(browser, server, **options))  # type: ignore[arg-type]
        return tabs[-1]

    yield make
    complaints = [line for tab in tabs for line in tab.watch.take()]
    for tab in tabs:
        tab.context.close()
    assert complaints == []


@pytest.fixture
def start(cache: Path) -> Iterator[Callable[..., Server]]:
    """Starts TensorBoards on folders of a test's own, and ends them."""
    servers: list[Server] = []

    def run(logdir: Path, **settings: str) -> Server:
        servers.append(Server(logdir, cache, **settings).__enter__())
        return servers[-1]

    yield run
    for server in servers:
        server.__exit__()
