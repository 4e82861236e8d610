"""A notebook run by Jupyter's own client: its outputs, opened without a network, show the page and the tables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest
from playwright.sync_api import Browser, Frame, Page, expect

from tests.e2e.pages import IDLE, VIEWS
from torch_tb_profiler.api.notebook import VIEWS as EMBEDDED

PATIENCE_MS = 60_000
HOST = "http://notebook.test/lab"
CELLS = (
    "import torch_tb_profiler\n"
    "trace = torch_tb_profiler.open('transformer')\n"
    "run = torch_tb_profiler.open('synthetic_ddp8')",
    "trace",
    "trace.in_steps(1, 2).show(view='operator', height=500)",
    "run[:2].show('distributed')",
    "trace.show('trace')",
)


@pytest.fixture(scope="module")
def outputs(repository: Path, cache: Path) -> list[Any]:
    """The output of each cell that has one, by its number."""
    notebook = nbformat.v4.new_notebook(  # type: ignore[no-untyped-call]
        cells=[nbformat.v4.new_code_cell(source) for source in CELLS]  # type: ignore[no-untyped-call]
    )
    client = nbclient.NotebookClient(
        notebook,
        timeout=120,
        allow_errors=True,
        resources={"metadata": {"path": str(repository / "samples")}},
    )
    client.execute(
        env={
            **os.environ,
            "PYTHONPATH": str(repository),
            "TORCH_TB_PROFILER_CACHE_DIR": str(cache),
            "IPYTHONDIR": str(cache / "ipython"),
        }
    )
    return [cell.outputs for cell in notebook.cells]


def markup(outputs: list[Any], cell: int) -> str:
    (output,) = outputs[cell]
    assert output.output_type == "execute_result", output
    return str(output.data["text/html"])


@pytest.fixture
def asked(browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    """A tab without a network, and what it asked for."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True)
    page, found = context.new_page(), []
    page.on("request", lambda request: found.append(request.url))
    page.on("console", lambda message: found.append(message.text))
    page.on("pageerror", lambda error: found.append(str(error)))
    yield page, found
    context.close()


def opened(page: Page, body: str) -> Frame:
    """The page's frame in a document of another, which has an address and storage of its own."""
    document = f'<!DOCTYPE html><title>Lab</title><link rel="icon" href="data:,"><body>{body}'
    page.route(HOST, lambda route: route.fulfill(body=document, content_type="text/html"))
    page.goto(f"{HOST}#cell=3")
    frame = page.frames[1]
    frame.wait_for_function(IDLE, timeout=PATIENCE_MS)
    return frame


def test_the_page_of_a_cell_shows_its_view_and_steps(
    outputs: list[Any], asked: tuple[Page, list[str]]
) -> None:
    page, found = asked
    frame = opened(page, markup(outputs, 2))
    expect(frame.locator("main")).to_contain_text("aten::addmm", timeout=PATIENCE_MS)
    assert "Not part of this report" not in frame.locator("main").inner_text()
    expect(frame.get_by_role("link", name="Operator", exact=True)).to_have_attribute(
        "aria-current", "page"
    )
    size = page.locator("iframe").bounding_box()
    assert size is not None
    assert 500 <= size["height"] <= 502
    assert found == [HOST]


def test_the_page_leaves_the_notebook_alone(
    outputs: list[Any], asked: tuple[Page, list[str]]
) -> None:
    page, found = asked
    frame = opened(page, markup(outputs, 3))
    expect(frame.locator("main")).to_contain_text("Process groups", timeout=PATIENCE_MS)
    frame.get_by_role("link", name="Kernels").click()
    frame.get_by_role("link", name="Kernel", exact=True).click()
    frame.get_by_label("Worker", exact=True).select_option("rank1")
    expect(frame.locator("main")).to_contain_text("nvjet", timeout=PATIENCE_MS)
    assert page.url == f"{HOST}#cell=3"
    assert page.evaluate("localStorage.length") == 0
    assert page.title() == "Lab"
    assert found == [HOST]


def test_it_opens_from_a_file_too(outputs: list[Any], asked: tuple[Page, list[str]]) -> None:
    page, found = asked
    page.set_content(markup(outputs, 2))
    frame = page.frames[1]
    expect(frame.locator("main")).to_contain_text("aten::addmm", timeout=PATIENCE_MS)
    assert found == []


def test_a_trace_describes_itself(outputs: list[Any]) -> None:
    assert "<th" in markup(outputs, 1)
    assert "transformer · worker0" in markup(outputs, 1)


def test_a_view_that_needs_a_server_says_so(outputs: list[Any]) -> None:
    (output,) = outputs[4]
    assert output.output_type == "error"
    assert output.ename == "BadRequest"
    assert "needs a server" in output.evalue


def test_every_view_of_the_page_is_embedded_or_needs_a_server() -> None:
    assert {*EMBEDDED, "trace", "diff", "sql"} == {*VIEWS}
