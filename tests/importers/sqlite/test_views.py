"""Every route on files of both profilers, imported by a live catalogue."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from tests.importers.sqlite.asked import TRAININGS, spans
from tests.importers.sqlite.test_recorded import RECORDED, recorded
from tests.loading import load
from tests.web import live
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.streams import TextInMemory

pytestmark = pytest.mark.processes

STEPPED = (
    "/steps",
    "/overview",
    "/operator",
    "/kernel",
    "/trace",
    "/module",
    "/module/flame",
    "/efficiency",
    "/distributed",
    "/findings",
    "/memory",
)
KINDS = {"nsight": "rank0.sqlite", "nvprof": "rank0.nvprof"}


@pytest.fixture(scope="module")
def asked(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Client, dict[str, dict[str, str]], Path]]:
    """A client, the query of each file, and the logdir."""
    logdir = tmp_path_factory.mktemp("logdir")
    for kind, name in KINDS.items():
        (logdir / kind).mkdir()
        TRAININGS[kind](logdir / kind / name)
    for version in RECORDED:
        (logdir / version).mkdir()
        shutil.copy(recorded(version), logdir / version)
    with live.live(logdir, tmp_path_factory.mktemp("cache")) as (catalogue, client):
        yield client, {address["run"]: address for address in live.places(catalogue)}, logdir


Asked = tuple[Client, dict[str, dict[str, str]], Path]


def answer(asked: Asked, kind: str, route: str, **more: str) -> Any:
    client, places, _ = asked
    return live.json_of(live.patiently(client, route, {**places[kind], **more}))


@pytest.mark.parametrize("kind", [*KINDS, *RECORDED])
@pytest.mark.parametrize("route", STEPPED)
def test_every_view_answers(asked: Asked, kind: str, route: str) -> None:
    assert answer(asked, kind, route)


@pytest.mark.parametrize(
    ("kind", "column", "value"), [("nsight", "launchType", "null"), ("nvprof", "completed", "0")]
)
def test_an_event_shows_its_row(asked: Asked, kind: str, column: str, value: str) -> None:
    _, _, logdir = asked
    trace = load(str(logdir / kind / KINDS[kind]), Settings(use_cache=False)).trace
    event = next(
        row for row, (_, category) in enumerate(spans(trace, "category")) if category == "kernel"
    )
    identity = answer(asked, kind, "/trace/timeline")["id"]
    assert (
        answer(asked, kind, "/trace/event", event=str(event), id=identity)["category"] == "kernel"
    )
    payload = answer(asked, kind, "/trace/event/args", event=str(event), id=identity)
    assert {"name": column, "value": value} in payload["arguments"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_window_is_a_chrome_trace_and_the_file_itself_the_database(
    asked: Asked, kind: str
) -> None:
    client, places, logdir = asked
    path = logdir / kind / KINDS[kind]
    whole = client.get("/trace/file", query_string=places[kind])
    assert (whole.data, whole.content_type) == (path.read_bytes(), "application/vnd.sqlite3")
    opened = load(str(path), Settings(use_cache=False)).trace
    cut = client.get("/trace/file", query_string={**places[kind], "t0": "0", "t1": "10000000"})
    text = gzip.decompress(cut.data)
    reread = read_trace(TextInMemory(text), Settings())
    assert json.loads(text)["deviceProperties"] == opened.header["deviceProperties"]
    columns = ("start", "dur", "category", "correlation", "external", "track")
    assert spans(reread, *columns) == spans(opened, *columns)
    for table in ("operator_args", "device_args"):
        assert [
            opened.strings.many(opened[table][c])
            for c in ("dims", "types", "stack")
            if c in opened[table]
        ] == [
            reread.strings.many(reread[table][c])
            for c in ("dims", "types", "stack")
            if c in reread[table]
        ]
    assert reread["device_args"]["bytes"].tolist() == opened["device_args"]["bytes"].tolist()
    small = client.get("/trace/file", query_string={**places[kind], "t0": "0", "t1": "30000"})
    assert (
        0
        < read_trace(TextInMemory(gzip.decompress(small.data)), Settings())["spans"].n
        < opened["spans"].n / 3
    )


def test_what_is_missing_is_said_in_the_other_profilers_words(asked: Asked) -> None:
    (missing,) = answer(asked, "nsight", "/memory")["missing"]
    assert "do not see PyTorch's allocator" in missing["why"]
    found = {item["what"]: item for item in answer(asked, "nvprof", "/findings")["missing"]}
    assert set(found) == {"Memory records"}
    found = {item["what"]: item for item in answer(asked, "nsight", "/findings")["missing"]}
    assert set(found) == {"Call stacks", "Memory records"}
    assert "was off" not in found["Call stacks"]["why"]
