"""What is served is what was imported: a name that leads to another file by then yields nothing of it."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from tests.builders import nvprof
from tests.builders.drawn import text_of
from tests.web.live import json_of, live, logdir_of, patiently, places, until
from tests.web.served import body
from tests.web.timeline_asked import listed
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.import_job import read
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import streams
from torch_tb_profiler.sources.places import Place

pytestmark = pytest.mark.processes
SECRET = b"root:secret-of-the-server:0:0"
Swap = Callable[[Path, Path], None]


def _link(trace: Path, secret: Path) -> None:
    trace.unlink()
    trace.symlink_to(secret)


def _hard_link(trace: Path, secret: Path) -> None:
    trace.unlink()
    os.link(secret, trace)


def _folder_link(trace: Path, secret: Path) -> None:
    elsewhere = secret.with_name("elsewhere")
    elsewhere.mkdir()
    os.link(secret, elsewhere / trace.name)
    trace.parent.rename(trace.parent.with_name(".away"))
    trace.parent.symlink_to(elsewhere)


def _secret_like(trace: Path) -> Path:
    """A file outside the logdir that looks like the trace as far as ``stat`` says."""
    status, path = trace.stat(), trace.parents[2] / "secret"
    path.write_bytes((SECRET * (status.st_size // len(SECRET) + 1))[: status.st_size])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    return path


def _asked(client: Client, where: dict[str, str]) -> list[tuple[int, bytes]]:
    """What every route that reads the file again answers."""
    window = {"t0": "0", "t1": "1000000000"}
    queries: list[tuple[str, dict[str, Any]]] = [
        ("/trace/file", {}),
        ("/trace/file", window),
        ("/trace/event/args", {"event": "0"}),
        ("/trace/event/args", {"event": "1"}),
    ]
    answers = [client.get(route, query_string={**where, **more}) for route, more in queries]
    return [(answer.status_code, answer.get_data()) for answer in answers]


def _quiet(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scanner looks no more."""
    asked: list[str] = []

    def nothing_new(name: str, watch: object) -> bool:
        asked.append(name)
        return False

    monkeypatch.setattr(catalogue, "_scan", nothing_new)
    catalogue.rescan()
    until(lambda: asked)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("swap", [_link, _hard_link, _folder_link])
def test_a_trace_that_became_another_file_is_not_served(
    tmp_path: Path, packed: bool, swap: Swap, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "w0.pt.trace.json" + (".gz" if packed else "")
    source, text = tmp_path / "source" / name, text_of(listed()).encode()
    source.parent.mkdir()
    source.write_bytes(gzip.compress(text, mtime=0) if packed else text)
    logdir = logdir_of(tmp_path / "logs", source)
    trace = logdir / "0" / name
    with live(logdir, tmp_path / "cache") as (catalogue, client):
        (where,) = places(catalogue)
        where["id"] = json_of(patiently(client, "/trace/timeline", where))["id"]
        assert client.get("/trace/file", query_string=where).status_code == 200
        _quiet(catalogue, monkeypatch)
        swap(trace, _secret_like(trace))
        for status, content in _asked(client, where):
            assert (status, SECRET in content) == (409, False)
    # Another server, which finds what was kept of a file of this name, size and time.
    with live(logdir, tmp_path / "cache") as (catalogue, client):
        for status, content in _asked(client, where):
            assert status != 200
            assert SECRET not in content


def test_a_pipe_in_the_place_of_a_trace_holds_no_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source" / "w0.pt.trace.json"
    source.parent.mkdir()
    source.write_text(text_of(listed()))
    logdir = logdir_of(tmp_path / "logs", source)
    with live(logdir, tmp_path / "cache") as (catalogue, client):
        (where,) = places(catalogue)
        where["id"] = json_of(patiently(client, "/trace/timeline", where))["id"]
        _quiet(catalogue, monkeypatch)
        (logdir / "0" / source.name).unlink()
        os.mkfifo(logdir / "0" / source.name)
        assert [status for status, _ in _asked(client, where)] == [502] * 4


@pytest.mark.parametrize("name", ["w0.pt.trace.json", "notes.json"])
def test_diagnosis_shows_nothing_of_a_file_that_is_no_trace(tmp_path: Path, name: str) -> None:
    contents = (SECRET, b'{"secret-of-the-server": 1}', b'["secret-of-the-server"]')
    for number, content in enumerate(contents):
        (tmp_path / f"secret{number}").write_bytes(content)
        folder = tmp_path / "logs" / str(number)
        folder.mkdir(parents=True)
        (folder / name).symlink_to(tmp_path / f"secret{number}")
    settings = Settings(cache_dir=str(tmp_path / "cache"), settle_seconds=0.0)
    catalogue = Catalogue({"": Place(str(tmp_path / "logs"))}, settings)
    catalogue.start()
    try:
        until(
            lambda: (
                len(files := catalogue.snapshot().files) == 3
                and all(f.state.value in ("failed", "rejected") for f in files)
            )
        )
        shown = repr(catalogue.snapshot())
    finally:
        catalogue.close()
    assert "secret-of-the-server" not in shown
    assert "root:" not in shown


def test_a_link_to_a_trace_elsewhere_is_followed(tmp_path: Path) -> None:
    """Large recordings are linked into log directories."""
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text(text_of(listed()))
    (tmp_path / "logs" / "run").mkdir(parents=True)
    (tmp_path / "logs" / "run" / "w0.pt.trace.json").symlink_to(elsewhere)
    with live(tmp_path / "logs", tmp_path / "cache") as (catalogue, client):
        (where,) = places(catalogue)
        assert client.get("/trace/file", query_string=where).get_data() == elsewhere.read_bytes()


def test_a_file_that_changes_while_it_is_read_is_no_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w0.json"
    path.write_text(text_of(listed()))
    opened = streams.text_of

    def then_changed(*arguments: Any) -> streams.TextStream:
        stream = opened(*arguments)
        os.utime(path, ns=(1, 1))
        return stream

    monkeypatch.setattr(streams, "text_of", then_changed)
    with pytest.raises(Exception, match="changed while it was read"):
        read(Place(str(path)), Settings())


def test_a_database_that_was_replaced_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source" / "w0.sqlite"
    source.parent.mkdir()
    nvprof.write_training(source)
    logdir = logdir_of(tmp_path / "logs", source)
    trace = logdir / "0" / source.name
    with live(logdir, tmp_path / "cache") as (catalogue, client):
        (where,) = places(catalogue)
        where["id"] = json_of(patiently(client, "/trace/timeline", where))["id"]
        query = {**where, "event": "0"}
        assert client.get("/trace/event/args", query_string=query).status_code == 200
        _quiet(catalogue, monkeypatch)
        status = trace.stat()
        other = trace.with_name("other")
        other.write_bytes(trace.read_bytes()[:-1] + b"x")
        os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
        other.replace(trace)
        response = client.get("/trace/event/args", query_string=query)
        assert response.status_code == 409, body(response)[:200]
