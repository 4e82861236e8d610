"""The page in a notebook: what is asked of it, and what its frame may do. ``tests/e2e/test_notebook.py`` opens it."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

import torch_tb_profiler
from tests.api.traces import write
from torch_tb_profiler.api.frames import RunFrames, TraceFrames
from torch_tb_profiler.api.notebook import EmbeddedPage
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.web.static_files import StaticFiles


@pytest.fixture(autouse=True)
def bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that was not built has no text."""
    monkeypatch.setattr(StaticFiles, "text", lambda self, name: "show('µ')")


@pytest.fixture
def run(tmp_path: Path) -> RunFrames:
    frames = torch_tb_profiler.open(write(tmp_path / "run", "rank0", "rank1"), use_cache=False)
    assert isinstance(frames, RunFrames)
    return frames


def held(page: EmbeddedPage) -> dict[str, Any]:
    """What the page's document holds."""
    packed = re.search(r'id="report">([^<]*)<', page.document)
    assert packed is not None
    loaded: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    return loaded


def routes(page: EmbeddedPage) -> list[list[Any]]:
    return [json.loads(key) for key in held(page)["answers"]]


def test_the_view_and_the_trace_are_selected(one: TraceFrames) -> None:
    page = held(one.show("kernel"))["page"]
    assert page.startswith(f"view=kernel&run={one.run}&worker={one.worker}&span=")


def test_selected_steps_are_selected_and_answered(one: TraceFrames) -> None:
    page = one.in_steps(0, 1).show()
    assert held(page)["page"].endswith("&steps=0-1")
    asked = [dict(map(tuple, query)) for name, *query in routes(page) if name == "overview"]
    assert {"0-1", "0", "1"} <= {query.get("steps") for query in asked}


def test_steps_without_cold_ones_are_selected(one: TraceFrames) -> None:
    assert held(one.in_steps(skip_cold=True).show())["page"].endswith("&skip_cold=1")


def test_of_a_run_the_page_has_the_opened_traces_alone(run: RunFrames) -> None:
    def workers(page: EmbeddedPage) -> list[str]:
        (listed,) = held(page)["answers"]['["runs"]']["runs"]
        return [worker["name"] for worker in listed["workers"]]

    assert workers(run.show("distributed")) == ["rank0", "rank1"]
    assert workers(run["rank1"].show()) == ["rank1"]


def test_its_frame_reaches_nothing(one: TraceFrames) -> None:
    page = one.show(height=444)
    markup = page._repr_html_()
    (sandbox,) = re.findall(r'sandbox="([^"]*)"', markup)
    assert "allow-same-origin" not in sandbox
    assert "default-src 'none'" in page.document
    assert "height: 444px" in markup
    assert markup.isascii()
    (source,) = re.findall(r'srcdoc="([^"]*)"', markup)
    assert html.unescape(source) == page.document


def test_nothing_says_where_the_trace_lies(tmp_path: Path) -> None:
    opened = torch_tb_profiler.open(write(tmp_path / "someone" / "run", "rank0"), use_cache=False)
    assert "someone" not in json.dumps(held(opened.show()))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"view": "trace"}, "needs a server"),
        ({"view": "overviews"}, "is not known.*overview"),
        ({"height": 3}, "200 to 10000"),
        ({"most_bytes": 999}, "more than the 999 B"),
    ],
)
def test_what_cannot_be_shown_says_why(one: TraceFrames, given: dict[str, Any], words: str) -> None:
    with pytest.raises(BadRequest, match=words):
        one.show(**given)


def test_a_height_is_a_number(one: TraceFrames) -> None:
    with pytest.raises(TypeError, match="pixels"):
        one.show(height="tall")  # type: ignore[arg-type]


def test_it_says_what_it_is(one: TraceFrames) -> None:
    assert re.search(r"PyTorch Profiler: run: a page of .* that a notebook shows", repr(one.show()))
